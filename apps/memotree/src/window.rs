//! The document of a window: views, environment and tree, each a source of its own, merged within the budget.

use docui::{Fault, Lod, View, ViewRequest};
use pipemux_context::limits::TOTAL;
use pipemux_context::merge::{Outcome, Produced};
use pipemux_context::slots::{SlotLine, pieces};
use pipemux_context::{
    Budgets, RenderContext, RenderSection, RenderSource, Share, Size, SourceLimits, merge, shares,
};
use pipemux_memotree_store::StoreError;
use pipemux_memotree_store::render::OTHER_VIEWS;

use crate::faults::fault;
use crate::model::MemoTree;
use crate::project;
use crate::update::index_fault;
use crate::words;

/// What the panel of views takes at the most.
const VIEWS_MAX: Size = Size { tokens: 300, chars: u64::MAX, bytes: u64::MAX, lines: 12 };

/// What the environment takes at the most.
const ENVIRONMENT_MAX: Size = Size { tokens: 160, chars: u64::MAX, bytes: u64::MAX, lines: 10 };

/// Tokens of the document that a woken session compares with the files.
const WOKEN_TOKENS: u64 = 4_000;

/// About how many tokens a line that was cut would have taken.
const LINE_TOKENS: u64 = 16;

/// Lines of a document that was asked for in full.
const FULL_LINES: u64 = 5_000;

/// Bytes of a document that was asked for in full, so that it fits into a frame.
const FULL_BYTES: u64 = 600 * 1024;

/// What produces a part of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Views,
    Environment,
    Tree,
}

impl MemoTree {
    /// Takes in what the files of the nodes say that the view shows now.
    ///
    /// # Errors
    /// The folder isn't readable.
    pub(crate) fn show_again(&self) -> Result<(), Fault> {
        let (_, sources) = self.sources(Lod::Summary);
        let budgets = budgets(WOKEN_TOKENS, Lod::Summary);
        let shares = shares(&sources, &budgets);
        let share = shares.last().copied().unwrap_or_default();
        self.tree_section(&share).map(drop).map_err(fault)
    }

    /// Returns the sources of a document, and their descriptions in the same order.
    fn sources(&self, lod: Lod) -> (Vec<Part>, Vec<RenderSource>) {
        let limited = |size| SourceLimits { size, ..SourceLimits::default() };
        let session = self.address();
        let views = RenderSource::new("views", "Views")
            .required()
            .ranked(2, 1)
            .limited(limited(VIEWS_MAX))
            .call(format!("pipemux ask '{}'", self.call("list()")));
        let environment = RenderSource::new("environment", "Environment")
            .required()
            .ranked(1, 1)
            .limited(limited(ENVIRONMENT_MAX));
        let levels = if lod == Lod::Gist { 1 } else { u32::MAX };
        let tree = RenderSource::new("tree", "Workspace tree")
            .ranked(0, 4)
            .limited(SourceLimits { levels, ..SourceLimits::default() })
            .call(format!("pipemux view {session} --budget 12000"));
        let all = [(Part::Views, views), (Part::Environment, environment), (Part::Tree, tree)];
        // The gist is the tree's first level.
        let is_shown = |(part, _): &(Part, RenderSource)| lod != Lod::Gist || *part == Part::Tree;
        all.into_iter().filter(is_shown).unzip()
    }

    fn produce(&self, part: Part, share: &Share) -> Result<RenderSection<SlotLine>, StoreError> {
        match part {
            Part::Views => self.store().render_views(&self.view, OTHER_VIEWS),
            Part::Environment => {
                let project = project::name(self.root());
                let linked = if self.is_linked() { " (linked)" } else { "" };
                let store = self.store();
                store.render_environment(&format!("{project}{linked}"), &self.view, None)
            }
            Part::Tree => self.tree_section(share),
        }
    }

    fn tree_section(&self, share: &Share) -> Result<RenderSection<SlotLine>, StoreError> {
        let rendered = self.store().render_tree(&self.view, share, self.config.tokens)?;
        let shown = rendered.shown.iter().map(|row| row.id.to_string()).collect();
        self.note_shown(shown);
        Ok(rendered.section)
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
    let tokens = tree.config.budget.unwrap_or(u64::MAX).min(request.budget);
    let budgets = budgets(tokens, request.lod);
    let (parts, sources) = tree.sources(request.lod);
    let shares = shares(&sources, &budgets);
    let mut produced: Vec<Produced<SlotLine>> = Vec::new();
    for (part, share) in parts.iter().zip(&shares) {
        // One source that fails leaves the others as they are.
        let outcome = match tree.produce(*part, share) {
            Ok(section) => Outcome::Ready(vec![section]),
            Err(error) => Outcome::Failed { reason: error.to_string(), last: None },
        };
        produced.push(outcome.into());
    }
    let context = RenderContext::new((), budgets);
    let document = merge(&context, &sources, produced);
    let hidden: u64 = document.entries.iter().map(|entry| entry.hidden).sum();
    let total = tree.store().index().total().map_err(index_fault)?;
    let title = format!("{} · {}", project::name(tree.root()), words::count(total, "node"));
    let mut view = View::new(title);
    view.document(&tree.view).custom("view", tree.view.as_str());
    view.hidden(hidden.saturating_mul(LINE_TOKENS));
    if let Some(problem) = &tree.config_problem {
        view.text(format!("{problem}\n"));
    }
    for piece in pieces(document) {
        if let pipemux_proto::projection::Piece::Text(text) = piece {
            view.text(text);
        }
    }
    Ok(view)
}
