//! The output of a source.

use crate::context::Frame;
use crate::limits::MORE;
use crate::size::Size;

/// A section of a source's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderSection<T> {
    /// The section's name within its source.
    pub key: String,
    /// The section's heading; empty if there is none.
    pub title: String,
    /// The section's lines in the order in which they are shown.
    pub content: Vec<Line<T>>,
    /// Heavier sections of a source are filled first.
    pub weight: u32,
    /// True when it is filled before the sections of its source that aren't.
    pub required: bool,
    /// Lines that the source itself left out.
    pub hidden: u64,
}

/// A line, or a few lines that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<T> {
    pub content: T,
    /// The size of the content.
    pub size: Size,
    /// The depth in a tree, or the degree of detail; that of an overview is 0.
    pub depth: u32,
    /// The weight; among lines of one depth, heavier ones are cut later.
    pub weight: u32,
    /// True for what only encloses lines, such as a fence: it isn't counted among those that were
    /// cut.
    pub structural: bool,
}

impl<T> RenderSection<T> {
    /// Makes a section of usual weight.
    pub fn new(key: impl Into<String>, title: impl Into<String>, content: Vec<Line<T>>) -> Self {
        let (key, title) = (key.into(), title.into());
        Self { key, title, content, weight: 1, required: false, hidden: 0 }
    }

    /// Returns what all its lines take, with its heading and the line that tells of what the source
    /// itself left out.
    pub fn size(&self) -> Size {
        let heading = heading_size(&self.title, Frame::Merge);
        let more = if self.hidden > 0 { MORE } else { Size::ZERO };
        self.content.iter().fold(heading.plus(more), |sum, line| sum.plus(line.size))
    }

    /// Sets how many lines the source itself left out.
    #[must_use]
    pub fn hiding(self, hidden: u64) -> Self {
        Self { hidden, ..self }
    }

    /// Sets its weight, and whether it is required.
    #[must_use]
    pub fn ranked(self, required: bool, weight: u32) -> Self {
        Self { required, weight, ..self }
    }
}

impl<T> Line<T> {
    /// Makes a line of depth 0.
    pub fn new(content: T, size: Size) -> Self {
        Self { content, size, depth: 0, weight: 0, structural: false }
    }

    /// Sets its depth.
    #[must_use]
    pub fn at(self, depth: u32) -> Self {
        Self { depth, ..self }
    }

    /// Sets its weight.
    #[must_use]
    pub fn weighing(self, weight: u32) -> Self {
        Self { weight, ..self }
    }

    /// Makes it one that only encloses others.
    #[must_use]
    pub fn structural(self) -> Self {
        Self { structural: true, ..self }
    }
}

/// Returns the heading of a section as a line of Markdown.
pub fn heading(title: &str) -> String {
    format!("### {}\n", crate::note::one_line(title, usize::MAX))
}

pub(crate) fn heading_size(title: &str, frame: Frame) -> Size {
    match frame {
        Frame::Merge if !title.is_empty() => Size::of_lines(&heading(title)),
        _ => Size::ZERO,
    }
}
