//! The document of a window: its sources, merged within the budget.

use docui::{Embed, Fault, Lod, View, ViewRequest};
use pipemux_context::limits::STEP;
use pipemux_context::merge::{Outcome, Produced};
use pipemux_context::slots::{SlotLine, pieces};
use pipemux_context::{
    Budgets, Mode, RenderContext, RenderSection, RenderSource, Share, merge, shares,
};
use pipemux_notes::text::count;
use pipemux_proto::projection::Piece;

use crate::faults::fault;
use crate::model::{DEBUG, MemoTree};
use crate::project;
use crate::sources::{self, Part, budgets};

/// About how many tokens a line that was cut would have taken.
const LINE_TOKENS: u64 = 16;

/// Returns the section of a source that produced one.
fn section_of(produced: &Produced<SlotLine>) -> Option<&RenderSection<SlotLine>> {
    match &produced.outcome {
        Outcome::Ready(sections) => sections.first(),
        Outcome::Failed { .. } | Outcome::Late { .. } => None,
    }
}

/// Renders the window.
pub fn view(tree: &MemoTree, request: &ViewRequest) -> View {
    document(tree, request).unwrap_or_else(View::unreadable)
}

fn document(tree: &MemoTree, request: &ViewRequest) -> Result<View, Fault> {
    let own = tree.config.budget.filter(|_| request.lod != Lod::Full);
    let tokens = own.unwrap_or(u64::MAX).min(request.budget);
    let mut budgets = budgets(tokens, request.lod);
    let (parts, mut sources) = sources::sources(tree, request.lod);
    let is_debug = tree.is_on(DEBUG);
    let produce = |part: &Part, id: &str, share: &Share| {
        // One source that fails leaves the others as they are.
        let produce = || match sources::produce(tree, part, share, request.lod) {
            Ok(section) => Outcome::Ready(vec![section]),
            Err(error) => Outcome::Failed { reason: error.to_string(), last: None },
        };
        match is_debug {
            true => tree.timing.borrow_mut().measure((id, request.lod, tokens), produce),
            false => Produced::from(produce()),
        }
    };
    let produced = produce_all(&parts, &mut sources, &mut budgets, produce);
    let mut context = RenderContext::new((), budgets);
    if is_debug {
        context.mode = Mode::Debug;
    }
    let document = merge(&context, &sources, produced);
    let hidden: u64 = document.entries.iter().map(|entry| entry.hidden).sum();
    let mut title = project::name(tree.root());
    if request.lod == Lod::Gist {
        // Else the environment says it, so that the heading stays the same.
        let total = tree.store().index().total().map_err(fault)?;
        title += &format!(" · {}", count(total, "node"));
    }
    let mut view = View::new(title);
    view.document(&tree.view).custom("view", tree.view.as_str());
    view.hidden(hidden.saturating_mul(LINE_TOKENS));
    if let Some(problem) = &tree.config_problem {
        view.text(format!("{problem}\n"));
    }
    for piece in pieces(document) {
        match piece {
            Piece::Text(text) => {
                view.text(text);
            }
            Piece::Embed(slot) => {
                view.embed(Embed::new(slot.session).lod(slot.lod).budget(slot.budget));
            }
            // The sources have nothing else.
            Piece::Object(_) | Piece::Link(_) | Piece::Code(_) => {}
        }
    }
    Ok(view)
}

/// Asks each source for what it shows within its share: first those that are required, then the
/// others, and those that were cut once more for what the others leave of their shares.
fn produce_all(
    parts: &[Part],
    sources: &mut [RenderSource],
    budgets: &mut Budgets,
    produce: impl Fn(&Part, &str, &Share) -> Produced<SlotLine>,
) -> Vec<Produced<SlotLine>> {
    let mut produced: Vec<Option<Produced<SlotLine>>> = Vec::new();
    for (part, source) in parts.iter().zip(sources.iter_mut()) {
        // What comes before all others asks for what it has to show, whatever share there is.
        let core = source.required.then(|| produce(part, &source.id, &Share::default()));
        if let Some(section) = core.as_ref().and_then(section_of) {
            source.reserved = section.size().in_steps_of(STEP).min(source.limits.size);
            source.limits.size = source.reserved;
        }
        produced.push(core);
    }
    let first = shares(sources, budgets);
    for (at, part) in parts.iter().enumerate() {
        if produced[at].is_some() {
            continue;
        }
        let one = produce(part, &sources[at].id, &first[at]);
        // What the daemon fills of another session isn't known here.
        let section = section_of(&one).filter(|_| !matches!(part, Part::Session(_)));
        let is_whole = |section: &&RenderSection<_>| {
            section.hidden == 0 && section.size().fits_in(first[at].size)
        };
        if let Some(section) = section.filter(is_whole) {
            budgets.needs(&sources[at].id, section.size());
        }
        produced[at] = Some(one);
    }
    // What these leave of their shares flows on to those that were cut.
    for (at, share) in shares(sources, budgets).iter().enumerate() {
        let id = &sources[at].id;
        let is_whole = sources[at].required || budgets.per_source.contains_key(id);
        if !is_whole && share.size != first[at].size {
            produced[at] = Some(produce(&parts[at], id, share));
        }
    }
    produced.into_iter().flatten().collect()
}
