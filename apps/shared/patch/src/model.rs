//! A patch, whatever its format was.

use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A unified diff, with git's headers or without.
    Unified,
    /// `*** Begin Patch` … `*** End Patch`.
    Envelope,
    /// `<<<<<<< SEARCH` … `=======` … `>>>>>>> REPLACE`.
    SearchReplace,
}

/// A parsed patch. Its sections apply in their order, but what one moves into the place of a file
/// that a later one moves away or deletes doesn't meet that file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch<'p> {
    pub format: Format,
    /// The changes, file by file; several sections may change the same file.
    pub sections: Vec<Section<'p>>,
}

/// The changes of a patch to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'p> {
    /// The line of the patch where the section begins, from 1.
    pub at: usize,
    /// True if new lines, but not headers, end in `\r\n`; a created file then uses `\r\n`.
    pub crlf: bool,
    /// The file attributes that the section sets, apart from the text.
    pub attributes: Attributes,
    /// The change to the file.
    pub change: SectionChange<'p>,
}

/// File attributes in a section, apart from the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// True if the section is about a link itself, whose text is its target.
    pub link: bool,
    /// Whether the file becomes executable; `None` leaves that unchanged.
    pub executable: Option<bool>,
    /// Whether its hunks are about the text that the file had before the whole patch, although the
    /// patch may move that text elsewhere.
    pub rewrites: bool,
    /// Whether a new name takes the text that the old one had before the whole patch, as in git's
    /// diffs, rather than what the sections before it made of that.
    pub from_original: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SectionChange<'p> {
    /// Creates a file.
    Create {
        path: Name,
        /// The lines of the new file, without line endings.
        lines: Vec<&'p str>,
        /// True if the last line ends in a newline.
        final_newline: bool,
    },
    /// Deletes a file.
    Delete {
        path: Name,
        /// The deleted content, if the format includes it.
        content: Option<Hunk<'p>>,
    },
    /// Changes of a file's text, of its name, or both.
    Update {
        path: Name,
        /// The new name, or the name of the copy that is changed.
        moved: Option<Move>,
        /// The changes of the text.
        hunks: Vec<Hunk<'p>>,
    },
}

/// A rename or copy of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub to: Name,
    /// True for a copy, which keeps the old file.
    pub copy: bool,
}

/// A file's name as a patch has it, with the ways of reading it: `a/src/x.rs` means `src/x.rs`, but
/// a folder may be called `a`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// The possible names, the most likely first. Never empty in a parsed patch.
    pub readings: Vec<String>,
    /// True if relative to the project, as git writes names, not to the caller's directory.
    pub from_root: bool,
}

impl Name {
    pub(crate) fn plain(name: impl Into<String>) -> Self {
        Self { readings: vec![name.into()], from_root: false }
    }

    /// Returns the most likely name.
    #[must_use]
    pub fn first(&self) -> &str {
        self.readings.first().map_or("", String::as_str)
    }
}

/// Lines that belong together, and what becomes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk<'p> {
    /// The line of the patch where the hunk begins, from 1.
    pub at: usize,
    /// The number of the hunk's first line in the file, from 1, if the patch has one.
    pub number: Option<usize>,
    /// True if `number` is that of the line *before* the hunk, as in `@@ -10,0 +11,2 @@`.
    pub number_is_before: bool,
    /// Lines that stand somewhere above it: what followed `@@`.
    pub headings: Vec<Cow<'p, str>>,
    pub lines: Vec<HunkLine<'p>>,
    /// True if the hunk is marked as ending at the end of the file.
    pub at_end: bool,
    /// True if a hunk without old lines is meant for the end of the file.
    pub appends: bool,
    /// True if the old text is marked as ending without a newline.
    pub old_no_newline: bool,
    /// True if the new text is marked as ending without a newline.
    pub new_no_newline: bool,
}

/// One line of a hunk, without its line ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HunkLine<'p> {
    /// The effect of the patch on the line.
    pub tag: Tag,
    pub text: &'p str,
    /// True if the line ends in `\r\n`; `None` if the patch doesn't preserve line endings.
    pub crlf: Option<bool>,
}

/// The effect of a patch on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// The line is context and stays.
    Keep,
    /// The line is removed.
    Remove,
    Add,
}

impl<'p> Hunk<'p> {
    /// Returns the lines that the file must have.
    #[must_use]
    pub fn old_lines(&self) -> Vec<&'p str> {
        self.side(Tag::Add)
    }

    /// Returns the lines that the file has after the change.
    #[must_use]
    pub fn new_lines(&self) -> Vec<&'p str> {
        self.side(Tag::Remove)
    }

    fn side(&self, without: Tag) -> Vec<&'p str> {
        self.lines.iter().filter(|line| line.tag != without).map(|line| line.text).collect()
    }

    /// How many context lines stand before its first and after its last changed line; `None` when
    /// it changes nothing.
    pub(crate) fn context(&self) -> Option<(usize, usize)> {
        let first = self.lines.iter().position(|line| line.tag != Tag::Keep)?;
        let last = self.lines.iter().rposition(|line| line.tag != Tag::Keep)?;
        Some((first, self.lines.len() - 1 - last))
    }

    /// Returns the lines of a change's hunks, for modification.
    pub(crate) fn lines_mut<'h>(
        change: &'h mut SectionChange<'p>,
    ) -> impl Iterator<Item = &'h mut HunkLine<'p>> {
        let hunks = match change {
            SectionChange::Create { .. } => &mut [][..],
            SectionChange::Delete { content, .. } => content.as_mut_slice(),
            SectionChange::Update { hunks, .. } => hunks,
        };
        hunks.iter_mut().flat_map(|hunk| &mut hunk.lines)
    }

    pub(crate) fn added(&self) -> impl Iterator<Item = &'p str> + '_ {
        self.lines.iter().filter(|line| line.tag == Tag::Add).map(|line| line.text)
    }

    pub(crate) fn has(&self, tag: Tag) -> bool {
        self.lines.iter().any(|line| line.tag == tag)
    }
}
