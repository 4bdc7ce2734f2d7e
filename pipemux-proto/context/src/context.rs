//! The budgets and the mode of one rendering.

use std::collections::BTreeMap;

use pipemux_proto::projection::Lod;

use crate::limits::{NOTE, NOTES_PART, STEP, TOTAL};
use crate::size::Size;
use crate::source::SourceLimits;

/// What a rendering is made for. `V` is the current view and its state, `S` what producers need: stores, paths. The
/// merge looks at neither.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RenderContext<V = (), S = ()> {
    /// The current view and its state.
    pub view: V,
    /// What producers need.
    pub services: S,
    /// What the document may take.
    pub budgets: Budgets,
    /// Whether diagnostics are added.
    pub mode: Mode,
    /// The level of detail of sources that have none of their own.
    pub lod: Lod,
}

impl<V> RenderContext<V> {
    /// Makes the context of a usual rendering.
    pub fn new(view: V, budgets: Budgets) -> Self {
        Self { view, services: (), budgets, mode: Mode::Normal, lod: Lod::default() }
    }
}

/// Whether a document explains itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// It doesn't.
    #[default]
    Normal,
    /// A line for each source follows: its time, its share, what was cut and why.
    Debug,
}

/// Who writes headings, marks and the lines at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Frame {
    /// The merge. They count in the budget.
    #[default]
    Merge,
    /// Whoever calls it. Nothing is reserved for them.
    Caller,
}

/// What a document may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budgets {
    /// All of it.
    pub total: Size,
    /// What single sources may take at the most, by their ids, besides their own limits.
    pub per_source: BTreeMap<String, SourceLimits>,
    /// True when a source's reservation may exceed its part of the total.
    pub soft: bool,
    /// Who writes headings, marks and the lines at the end.
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

    /// Lets what a source leaves of its share flow to the others: it gets no more than it needs, in steps.
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
