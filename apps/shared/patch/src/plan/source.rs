//! The input from the caller: the files, and the chosen candidates.

use std::path::Path;

/// The state of a file, as provided by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSource<'a> {
    Text(&'a str),
    Link {
        /// The link's target, as written in the link.
        target: &'a str,
        /// The file that the link leads to, which may be missing.
        leads_to: &'a Path,
    },
    /// The file doesn't exist.
    Missing,
    /// The file is binary or can't be read: the reason, for display.
    Unreadable(&'a str),
}

/// The chosen candidates of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The line of the patch where the hunk begins: [`Question::at`].
    pub at: usize,
    /// Indexes of [`Question::candidates`]; none leaves the hunk out.
    pub picks: Vec<usize>,
}
