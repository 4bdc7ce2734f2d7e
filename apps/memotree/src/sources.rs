//! The sources of a window's document: which there are, and what each of them shows.

use docui::{Fault, Lod};
use pipemux_context::limits::TOTAL;
use pipemux_context::slots::{self, SlotLine};
use pipemux_context::{
    Budgets, Line, RenderSection, RenderSource, Share, Size, SourceLimits, shares,
};
use pipemux_memotree_store::StoreError;
use pipemux_memotree_store::config::{SOURCES_MAX, SourceConfig};
use pipemux_memotree_store::render;
use pipemux_memotree_store::render::OTHER_VIEWS;
use pipemux_memotree_store::store::minute;
use pipemux_proto::projection::{EmbedSlot, Piece};

use crate::faults::fault;
use crate::model::{MemoTree, TIME};
use crate::{codebase, project};

/// Maximum size of the panel of views; only very long names reach it.
const VIEWS_MAX: Size = Size { tokens: 1_200, chars: u64::MAX, bytes: 4_096, lines: 16 };

/// Maximum size of the environment panel.
const ENVIRONMENT_MAX: Size = Size { tokens: 400, chars: u64::MAX, bytes: 2_048, lines: 16 };

/// Broken files that the environment names, unless all is asked for.
const PROBLEMS_MAX: usize = 5;

/// Broken files that it names when all is asked for.
const FULL_PROBLEMS: usize = 1_000;

/// Bytes that a quota reserves for each token.
const TOKEN_BYTES: u64 = 4;

/// Maximum size of the codebase panel, unless all of it is requested.
const CODEBASE_MAX: Size = Size { tokens: 300, chars: u64::MAX, bytes: u64::MAX, lines: 24 };

/// Maximum size of the window of another session.
const SESSION_MAX: Size = Size { tokens: 600, chars: u64::MAX, bytes: u64::MAX, lines: u64::MAX };

/// Tokens of the heading that the daemon writes above another session's window.
const SESSION_HEADING: u64 = 24;

/// Tokens of the document that a woken session compares with the files.
const WOKEN_TOKENS: u64 = 4_000;

/// Lines of a document that was asked for in full.
const FULL_LINES: u64 = 5_000;

/// Bytes of a document that was asked for in full, so that it fits into a frame.
const FULL_BYTES: u64 = 600 * 1024;

/// The producer of a part of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Views,
    Environment,
    Tree,
    Codebase,
    /// The window of another session, which the daemon fills.
    Session(SourceConfig),
}

/// Takes in what the files of the nodes say that the view shows now.
///
/// # Errors
/// The folder isn't readable.
pub fn look_again(tree: &MemoTree) -> Result<(), Fault> {
    let (parts, sources) = sources(tree, Lod::Summary);
    let budgets = budgets(WOKEN_TOKENS, Lod::Summary);
    let shares = shares(&sources, &budgets);
    let at = parts.iter().position(|part| *part == Part::Tree);
    let share = at.and_then(|at| shares.get(at)).copied().unwrap_or_default();
    tree_section(tree, &share).map(drop).map_err(fault)
}

/// Returns the sources of a document, and their descriptions in the same order.
pub fn sources(tree: &MemoTree, lod: Lod) -> (Vec<Part>, Vec<RenderSource>) {
    let limited = |size| SourceLimits { size, ..SourceLimits::default() };
    let session = tree.address();
    // What a budget or a quota of the tree leaves out, only another level shows.
    let is_bound = tree.config.budget.is_some() || !tree.config.quotas.is_empty();
    let level = if is_bound { " --lod full" } else { "" };
    let all_of_it = format!("pipemux view {session}{level} --budget 12000");
    let views = RenderSource::new("views", "Views")
        .required()
        .ranked(2, 1)
        .limited(limited(VIEWS_MAX))
        .call(format!("pipemux ask '{}'", tree.call("list()")));
    let environment = RenderSource::new("environment", "Environment")
        .required()
        .ranked(1, 1)
        .limited(limited(ENVIRONMENT_MAX))
        .call(&*all_of_it);
    let levels = if lod == Lod::Gist { 1 } else { u32::MAX };
    let nodes = RenderSource::new("tree", "Workspace tree")
        .ranked(0, 6)
        .limited(SourceLimits { levels, ..SourceLimits::default() })
        .call(&*all_of_it);
    let mut all = vec![(Part::Views, views), (Part::Environment, environment), (Part::Tree, nodes)];
    let has_code = !tree.codebase.found.files.is_empty();
    if tree.config.codebase.unwrap_or(true) && has_code {
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
    for config in tree.config.sources.iter().take(SOURCES_MAX) {
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
            let Some(tokens) = tree.config.quotas.get(&source.id).copied() else { continue };
            source.limits.size = Size::tokens(tokens);
            source.reserved =
                Size { tokens, bytes: tokens.saturating_mul(TOKEN_BYTES), ..Size::ZERO };
        }
    }
    all.into_iter().unzip()
}

/// Asks a source for what it has to show.
///
/// # Errors
/// The folder, the index or the state can't be read.
pub fn produce(
    tree: &MemoTree,
    part: &Part,
    share: &Share,
    lod: Lod,
) -> Result<RenderSection<SlotLine>, StoreError> {
    match part {
        Part::Views => {
            let command = |call: &str| docui::command::run(&tree.call(call));
            render::views(&tree.store(), &tree.view, OTHER_VIEWS, command)
        }
        Part::Environment => {
            let project = project::name(tree.root());
            let linked = if tree.is_linked() { " (linked)" } else { "" };
            let time = shown_time(tree);
            let store = tree.store();
            let project = format!("{project}{linked}");
            let version = env!("CARGO_PKG_VERSION");
            let problems = if lod == Lod::Full { FULL_PROBLEMS } else { PROBLEMS_MAX };
            render::environment(&store, &project, &tree.view, version, time.as_deref(), problems)
        }
        Part::Tree => tree_section(tree, share),
        Part::Codebase => Ok(codebase::section(&tree.codebase.found, share)),
        Part::Session(config) => Ok(session_section(config, share)),
    }
}

/// Returns the time that the environment tells: that of the last change, so that nothing changes as
/// long as nothing does; or that of the view, to the minute, where the session is set so.
fn shown_time(tree: &MemoTree) -> Option<String> {
    let minute = tree.is_on(TIME).then(minute);
    (*tree.shown_minute.borrow_mut()).clone_from(&minute);
    match minute {
        Some(minute) => Some(minute),
        None => tree.store().changed_day().map(|day| format!("changed {day}")),
    }
}

fn tree_section(tree: &MemoTree, share: &Share) -> Result<RenderSection<SlotLine>, StoreError> {
    let rendered = render::tree(&mut tree.store(), &tree.view, share, tree.config.tokens)?;
    let shown = rendered.shown.iter().map(|row| row.id.to_string()).collect();
    tree.note_shown(shown);
    Ok(rendered.section)
}
/// Returns the place of another session's window. What it shows, or why it shows nothing, is the
/// daemon's matter: a session that fails or hangs changes nothing else here.
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

/// Returns what a document may take: what the reader asked for, within what harnesses show.
pub fn budgets(tokens: u64, lod: Lod) -> Budgets {
    let total = match lod {
        Lod::Full => Size { tokens, chars: u64::MAX, bytes: FULL_BYTES, lines: FULL_LINES },
        Lod::Summary | Lod::Gist => Size { tokens, ..TOTAL },
    };
    Budgets::new(total)
}
