//! The budgets and the mode of one rendering.

use std::collections::BTreeMap;

use pipemux_proto::projection::Lod;

use crate::limits::{NOTE, NOTES_PART, STEP, TOTAL};
use crate::size::Size;
use crate::source::SourceLimits;

/// What a rendering is made for. `V` is the current view and its state, `S` what producers need:
/// stores, paths. The merge looks at neither.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RenderContext<V = (), S = ()> {
    /// The current view and its state.
    pub view: V,
    /// The services that producers need, such as stores and paths.
    pub services: S,
    /// The budgets of the document.
    pub budgets: Budgets,
    pub mode: Mode,
    /// The level of detail of sources without one of their own.
    pub lod: Lod,
}

impl<V> RenderContext<V> {
    /// Makes the context of a usual rendering.
    pub fn new(view: V, budgets: Budgets) -> Self {
        Self { view, services: (), budgets, mode: Mode::Normal, lod: Lod::default() }
    }
}

/// The amount of diagnostics in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// The document has no diagnostics.
    #[default]
    Normal,
    /// The document ends with a line per source: its time, its share, its cuts with reasons.
    Debug,
}

/// The writer of headings, marks and the lines at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Frame {
    /// The merge writes them, and they count in the budget.
    #[default]
    Merge,
    /// Whoever calls it. Nothing is reserved for them.
    Caller,
}

/// The budgets of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budgets {
    /// The budget of the whole document.
    pub total: Size,
    /// The limits of single sources by id, in addition to the sources' own.
    pub per_source: BTreeMap<String, SourceLimits>,
    /// True when a source's reservation may exceed its part of the total.
    pub soft: bool,
    /// The writer of headings, marks and the lines at the end.
    pub frame: Frame,
}

impl Default for Budgets {
    fn default() -> Self {
        Self::new(TOTAL)
    }
}

impl Budgets {
    /// Makes budgets of a total.
    pub fn new(total: Size) -> Self {
        Self { total, per_source: BTreeMap::new(), soft: false, frame: Frame::Merge }
    }

    /// Lets what a source leaves of its share flow to the others: it gets no more than it needs, in
    /// steps.
    pub fn needs(&mut self, source: &str, size: Size) {
        let limits = self.per_source.entry(source.to_owned()).or_default();
        limits.size = limits.size.min(size.in_steps_of(STEP));
    }

    /// Sets who writes headings, marks and the lines at the end.
    #[must_use]
    pub fn framed_by(self, frame: Frame) -> Self {
        Self { frame, ..self }
    }

    /// Returns what is kept for the lines at the end of a document of so many sources.
    pub fn notes(&self, sources: usize) -> Size {
        match self.frame {
            Frame::Caller => Size::ZERO,
            Frame::Merge => self.total.zip(NOTE, |total, note| {
                (total / NOTES_PART).min(note.saturating_mul(sources as u64))
            }),
        }
    }
}
