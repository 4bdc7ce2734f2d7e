//! The trait of recognisers, each for the output of one tool.

use crate::collector::Collector;
use crate::transcript::Class;

/// A recogniser's claim to a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    pub class: Class,
    /// Whether the next line is offered to this recogniser before all others.
    pub more: bool,
}

impl Claim {
    /// Creates a claim to a single line.
    pub(crate) fn one(class: Class) -> Option<Self> {
        Some(Self { class, more: false })
    }

    /// Creates a claim to a line whose block may continue on the next one.
    pub(crate) fn more(class: Class) -> Option<Self> {
        Some(Self { class, more: true })
    }
}

/// Recognises what one tool prints. A tool's output is a block when its first line is: the next
/// line is offered to the same recogniser with `within` set, and to all of them in their order when
/// that one doesn't take it.
pub(crate) trait Recogniser: std::fmt::Debug + Send + Sync + CloneBox {
    /// Takes a line, or leaves it to the others.
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim>;

    /// Handles the end of the output.
    fn end(&mut self, _found: &mut Collector) {}
}

/// Clones a recogniser in its box: what was read so far is a copy of the state.
pub(crate) trait CloneBox {
    fn clone_box(&self) -> Box<dyn Recogniser>;
}

impl<T: Recogniser + Clone + 'static> CloneBox for T {
    fn clone_box(&self) -> Box<dyn Recogniser> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Recogniser> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}
