//! The document of a window: views, environment and tree, each a source of its own, merged within the budget.

use docui::{Embed, Fault, Lod, View, ViewRequest};
use pipemux_context::limits::{STEP, TOTAL};
use pipemux_context::merge::{Outcome, Produced};
use pipemux_context::slots::{self, SlotLine, pieces};
use pipemux_context::{
    Budgets, Line, Mode, RenderContext, RenderSection, RenderSource, Share, Size, SourceLimits,
    merge, shares,
};
use pipemux_memotree_store::StoreError;
use pipemux_memotree_store::config::{SOURCES_MAX, SourceConfig};
use pipemux_memotree_store::render::OTHER_VIEWS;
use pipemux_memotree_store::store::minute;

use pipemux_proto::projection::{EmbedSlot, Piece};

use crate::faults::fault;
use crate::model::MemoTree;
use crate::settings::{DEBUG, TIME};
use crate::update::index_fault;
use crate::words;
use crate::{codebase, project};

/// What the panel of views takes at the most: only very long names take as much.
const VIEWS_MAX: Size = Size { tokens: 1_200, chars: u64::MAX, bytes: 4_096, lines: 16 };

/// What the environment takes at the most.
const ENVIRONMENT_MAX: Size = Size { tokens: 400, chars: u64::MAX, bytes: 2_048, lines: 16 };

/// Broken files that the environment names, unless all is asked for.
const PROBLEMS_MAX: usize = 5;

/// Broken files that it names when all is asked for.
const FULL_PROBLEMS: usize = 1_000;

/// Bytes that a quota reserves for each token.
const TOKEN_BYTES: u64 = 4;

/// What the symbols of the project take at the most, unless all is asked for.
const CODEBASE_MAX: Size = Size { tokens: 300, chars: u64::MAX, bytes: u64::MAX, lines: 24 };

/// What the window of another session takes at the most.
const SESSION_MAX: Size = Size { tokens: 600, chars: u64::MAX, bytes: u64::MAX, lines: u64::MAX };

/// Tokens of the heading that the daemon writes above another session's window.
const SESSION_HEADING: u64 = 24;

/// Tokens of the document that a woken session compares with the files.
const WOKEN_TOKENS: u64 = 4_000;

/// About how many tokens a line that was cut would have taken.
const LINE_TOKENS: u64 = 16;

/// Lines of a document that was asked for in full.
const FULL_LINES: u64 = 5_000;

/// Bytes of a document that was asked for in full, so that it fits into a frame.
const FULL_BYTES: u64 = 600 * 1024;

/// What produces a part of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Views,
    Environment,
    Tree,
    Codebase,
    /// The window of another session, which the daemon fills.
    Session(SourceConfig),
}

impl MemoTree {
    /// Takes in what the files of the nodes say that the view shows now.
    ///
    /// # Errors
    /// The folder isn't readable.
    pub(crate) fn show_again(&self) -> Result<(), Fault> {
        let (parts, sources) = self.sources(Lod::Summary);
        let budgets = budgets(WOKEN_TOKENS, Lod::Summary);
        let shares = shares(&sources, &budgets);
        let tree = parts.iter().position(|part| *part == Part::Tree);
        let share = tree.and_then(|at| shares.get(at)).copied().unwrap_or_default();
        self.tree_section(&share).map(drop).map_err(fault)
    }

    /// Returns the sources of a document, and their descriptions in the same order.
    fn sources(&self, lod: Lod) -> (Vec<Part>, Vec<RenderSource>) {
        let limited = |size| SourceLimits { size, ..SourceLimits::default() };
        let session = self.address();
        // What a budget or a quota of the tree leaves out, only another level shows.
        let is_bound = self.config.budget.is_some() || !self.config.quotas.is_empty();
        let level = if is_bound { " --lod full" } else { "" };
        let all_of_it = format!("pipemux view {session}{level} --budget 12000");
        let views = RenderSource::new("views", "Views")
            .required()
            .ranked(2, 1)
            .limited(limited(VIEWS_MAX))
            .call(format!("pipemux ask '{}'", self.call("list()")));
        let environment = RenderSource::new("environment", "Environment")
            .required()
            .ranked(1, 1)
            .limited(limited(ENVIRONMENT_MAX))
            .call(&*all_of_it);
        let levels = if lod == Lod::Gist { 1 } else { u32::MAX };
        let tree = RenderSource::new("tree", "Workspace tree")
            .ranked(0, 6)
            .limited(SourceLimits { levels, ..SourceLimits::default() })
            .call(&*all_of_it);
        let mut all =
            vec![(Part::Views, views), (Part::Environment, environment), (Part::Tree, tree)];
        let has_code = !self.codebase.found.files.is_empty();
        if self.config.codebase.unwrap_or(true) && has_code {
            let limits = match lod {
                Lod::Full => SourceLimits::default(),
                Lod::Gist | Lod::Summary => limited(CODEBASE_MAX),
            };
            let codebase = RenderSource::new("codebase", "Codebase")
                .ranked(0, 2)
                .lod(Lod::Gist)
                .limited(limits)
                .call("pipemux ask 'editor.outline(\"**\")'".to_owned());
            all.push((Part::Codebase, codebase));
        }
        for config in self.config.sources.iter().take(SOURCES_MAX) {
            let source = RenderSource::new(&*config.id, "")
                // A weight of 1 is that of the codebase; the tree has three times as much.
                .ranked(config.priority, config.weight.saturating_mul(2))
                .lod(config.lod)
                .limited(limited(SESSION_MAX))
                .call(format!("pipemux view {}", config.id));
            all.push((Part::Session(config.clone()), source));
        }
        // The gist is the tree's first level.
        let is_shown = |(part, _): &(Part, RenderSource)| lod != Lod::Gist || *part == Part::Tree;
        all.retain(is_shown);
        if lod != Lod::Full {
            for (_, source) in &mut all {
                let Some(tokens) = self.config.quotas.get(&source.id).copied() else { continue };
                source.limits.size = Size::tokens(tokens);
                source.reserved =
                    Size { tokens, bytes: tokens.saturating_mul(TOKEN_BYTES), ..Size::ZERO };
            }
        }
        all.into_iter().unzip()
    }

    fn produce(
        &self,
        part: &Part,
        share: &Share,
        lod: Lod,
    ) -> Result<RenderSection<SlotLine>, StoreError> {
        match part {
            Part::Views => {
                let command = |call: &str| docui::command::run(&self.call(call));
                self.store().render_views(&self.view, OTHER_VIEWS, command)
            }
            Part::Environment => {
                let project = project::name(self.root());
                let linked = if self.is_linked() { " (linked)" } else { "" };
                let time = self.shown_time();
                let store = self.store();
                let project = format!("{project}{linked}");
                let version = env!("CARGO_PKG_VERSION");
                let problems = if lod == Lod::Full { FULL_PROBLEMS } else { PROBLEMS_MAX };
                store.render_environment(&project, &self.view, version, time.as_deref(), problems)
            }
            Part::Tree => self.tree_section(share),
            Part::Codebase => Ok(codebase::section(&self.codebase.found, share)),
            Part::Session(config) => Ok(session_section(config, share)),
        }
    }

    /// Returns the time that the environment tells: that of the last change, so that nothing changes as long as nothing does;
    /// or that of the view, to the minute, where the session is set so.
    fn shown_time(&self) -> Option<String> {
        let minute = self.is_on(TIME).then(minute);
        (*self.shown_minute.borrow_mut()).clone_from(&minute);
        match minute {
            Some(minute) => Some(minute),
            None => self.store().changed_day().map(|day| format!("changed {day}")),
        }
    }

    fn tree_section(&self, share: &Share) -> Result<RenderSection<SlotLine>, StoreError> {
        let rendered = self.store().render_tree(&self.view, share, self.config.tokens)?;
        let shown = rendered.shown.iter().map(|row| row.id.to_string()).collect();
        self.note_shown(shown);
        Ok(rendered.section)
    }
}

/// Returns the place of another session's window. What it shows, or why it shows nothing, is the daemon's matter: a session
/// that fails or hangs changes nothing else here.
fn session_section(config: &SourceConfig, share: &Share) -> RenderSection<SlotLine> {
    let budget = share.size.tokens.saturating_sub(SESSION_HEADING);
    let budget = u32::try_from(budget).unwrap_or(u32::MAX);
    let lines = match share.admitted && budget > 0 {
        false => Vec::new(),
        true => {
            let slot = EmbedSlot { session: config.id.clone(), lod: config.lod, budget };
            let pieces = vec![Piece::Embed(slot)];
            let size = slots::size(&pieces);
            vec![Line::new(SlotLine::Pieces(pieces), size)]
        }
    };
    RenderSection::new(&*config.id, "", lines)
}

/// Returns the section of a source that produced one.
fn section_of(produced: &Produced<SlotLine>) -> Option<&RenderSection<SlotLine>> {
    match &produced.outcome {
        Outcome::Ready(sections) => sections.first(),
        Outcome::Failed { .. } | Outcome::Late { .. } => None,
    }
}

/// Returns what a document may take: what the reader asked for, within what harnesses show.
fn budgets(tokens: u64, lod: Lod) -> Budgets {
    let total = match lod {
        Lod::Full => Size { tokens, chars: u64::MAX, bytes: FULL_BYTES, lines: FULL_LINES },
        Lod::Summary | Lod::Gist => Size { tokens, ..TOTAL },
    };
    Budgets::new(total)
}

/// Renders the window.
pub fn view(tree: &MemoTree, request: &ViewRequest) -> View {
    document(tree, request).unwrap_or_else(View::unreadable)
}

fn document(tree: &MemoTree, request: &ViewRequest) -> Result<View, Fault> {
    let own = tree.config.budget.filter(|_| request.lod != Lod::Full);
    let tokens = own.unwrap_or(u64::MAX).min(request.budget);
    let mut budgets = budgets(tokens, request.lod);
    let (parts, mut sources) = tree.sources(request.lod);
    let is_debug = tree.is_on(DEBUG);
    let produce = |part: &Part, id: &str, share: &Share| {
        // One source that fails leaves the others as they are.
        let produce = || match tree.produce(part, share, request.lod) {
            Ok(section) => Outcome::Ready(vec![section]),
            Err(error) => Outcome::Failed { reason: error.to_string(), last: None },
        };
        match is_debug {
            true => tree.timing.borrow_mut().measure((id, request.lod, tokens), produce),
            false => Produced::from(produce()),
        }
    };
    let mut produced: Vec<Option<Produced<SlotLine>>> = Vec::new();
    for (part, source) in parts.iter().zip(&mut sources) {
        // What comes before all others asks for what it has to show, whatever share there is.
        let core = source.required.then(|| produce(part, &source.id, &Share::default()));
        if let Some(section) = core.as_ref().and_then(section_of) {
            source.reserved = section.size().in_steps_of(STEP).min(source.limits.size);
            source.limits.size = source.reserved;
        }
        produced.push(core);
    }
    let first = shares(&sources, &budgets);
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
    for (at, share) in shares(&sources, &budgets).iter().enumerate() {
        let id = &sources[at].id;
        let is_whole = sources[at].required || budgets.per_source.contains_key(id);
        if !is_whole && share.size != first[at].size {
            produced[at] = Some(produce(&parts[at], id, share));
        }
    }
    let produced = produced.into_iter().flatten().collect();
    let mut context = RenderContext::new((), budgets);
    if is_debug {
        context.mode = Mode::Debug;
    }
    let document = merge(&context, &sources, produced);
    let hidden: u64 = document.entries.iter().map(|entry| entry.hidden).sum();
    let mut title = project::name(tree.root());
    if request.lod == Lod::Gist {
        // Else the environment says it, so that the heading stays the same.
        let total = tree.store().index().total().map_err(index_fault)?;
        title += &format!(" · {}", words::count(total, "node"));
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
