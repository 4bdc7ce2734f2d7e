//! What the caller knows: the files, and which candidates it means.

use std::path::Path;

/// A file, as the caller found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSource<'a> {
    /// Its text.
    Text(&'a str),
    /// A link.
    Link {
        /// Where it leads, as it is written.
        target: &'a str,
        /// The file that it leads to, which may be missing.
        leads_to: &'a Path,
    },
    /// There is none.
    Missing,
    /// It is no text, or can't be read: the reason, to be shown.
    Unreadable(&'a str),
}

/// Which of a question's candidates are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The line of the patch where the hunk begins: [`Question::at`].
    pub at: usize,
    /// Indexes of [`Question::candidates`]; none leaves the hunk out.
    pub picks: Vec<usize>,
}
