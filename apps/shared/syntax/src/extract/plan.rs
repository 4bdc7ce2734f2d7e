//! What is known of an extraction before it is written, and what is written.

use std::collections::BTreeMap;

use crate::source::Source;

use super::control::Control;
use super::layout::Layout;
use super::selection::Selected;
use super::variables::Crossing;

/// Everything that is known of an extraction before it is written.
pub(super) struct Plan<'t> {
    pub source: &'t Source,
    pub selected: Selected<'t>,
    pub control: Control,
    pub crossing: Crossing<'t>,
    pub layout: Layout,
    pub name: &'t str,
    pub types: &'t BTreeMap<String, String>,
}

/// The text of the function and the call.
pub(super) struct ExtractedCode {
    pub call: String,
    pub function: String,
    /// The position at which the function is inserted.
    pub at: usize,
    pub parameters: Vec<String>,
    pub results: Vec<String>,
    pub untyped: Vec<String>,
}
