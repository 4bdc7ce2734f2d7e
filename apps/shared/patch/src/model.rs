//! A patch, whatever its format was.

use std::borrow::Cow;

/// How a patch was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A unified diff, with git's headers or without.
    Unified,
    /// `*** Begin Patch` … `*** End Patch`.
    Envelope,
    /// `<<<<<<< SEARCH` … `=======` … `>>>>>>> REPLACE`.
    SearchReplace,
}

/// A parsed patch. Its sections apply in their order, but what one moves into the place of a file that a
/// later one moves away or deletes doesn't meet that file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch<'p> {
    /// How it was written.
    pub format: Format,
    /// What it does, file by file; several sections may be about one file.
    pub sections: Vec<Section<'p>>,
}

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'p> {
    /// The line of the patch where it begins, from 1.
    pub at: usize,
    /// Whether its new lines end in `\r\n` while its headers don't: so does a file that it makes.
    pub crlf: bool,
    /// What it says of the file beside its text.
    pub attributes: Attributes,
    /// What is done.
    pub change: SectionChange<'p>,
}

/// What a section says of a file beside its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Whether it is about a link itself, whose text is where it leads.
    pub link: bool,
    /// Whether the file is a program afterwards; `None` if that stays.
    pub executable: Option<bool>,
    /// Whether its hunks are about the text that the file had before the whole patch, although the patch may move
    /// that text elsewhere.
    pub rewrites: bool,
    /// Whether a new name takes the text that the old one had before the whole patch, as in git's diffs, rather than what
    /// the sections before it made of that.
    pub from_original: bool,
}

/// What one section does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SectionChange<'p> {
    /// A new file.
    Create {
        /// Its name.
        path: Name,
        /// Its lines, without line endings.
        lines: Vec<&'p str>,
        /// Whether its last line ends in a newline.
        final_newline: bool,
    },
    /// A file that goes.
    Delete {
        /// Its name.
        path: Name,
        /// What it held, where the format tells.
        content: Option<Hunk<'p>>,
    },
    /// Changes of a file's text, of its name, or both.
    Update {
        /// Its name.
        path: Name,
        /// Its new name, or the name of the copy that is changed.
        moved: Option<Move>,
        /// The changes of the text.
        hunks: Vec<Hunk<'p>>,
    },
}

/// A new name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The new name.
    pub to: Name,
    /// Whether the old file stays.
    pub copy: bool,
}

/// A file's name as a patch has it, with the ways of reading it: `a/src/x.rs` means `src/x.rs`, but a folder
/// may be called `a`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// The readings, the likely ones first. Never empty in a parsed patch.
    pub readings: Vec<String>,
    /// Whether it is relative to the project rather than to the caller's directory, as git writes names.
    pub from_root: bool,
}

impl Name {
    pub(crate) fn plain(name: impl Into<String>) -> Self {
        Self { readings: vec![name.into()], from_root: false }
    }

    /// The likeliest reading.
    #[must_use]
    pub fn first(&self) -> &str {
        self.readings.first().map_or("", String::as_str)
    }
}

/// Lines that belong together, and what becomes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk<'p> {
    /// The line of the patch where it begins, from 1.
    pub at: usize,
    /// The number of its first line in the file, from 1, if the patch has one.
    pub number: Option<usize>,
    /// Whether `number` is that of the line *before* the hunk, as in `@@ -10,0 +11,2 @@`.
    pub number_is_before: bool,
    /// Lines that stand somewhere above it: what followed `@@`.
    pub headings: Vec<Cow<'p, str>>,
    /// Its lines.
    pub lines: Vec<HunkLine<'p>>,
    /// Whether it says that it ends where the file ends.
    pub at_end: bool,
    /// Whether without any old line it means the end of the file.
    pub appends: bool,
    /// Whether the old text is said to end without a newline.
    pub old_no_newline: bool,
    /// Whether the new text is said to end without a newline.
    pub new_no_newline: bool,
}

/// One line of a hunk, without its line ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HunkLine<'p> {
    /// What becomes of it.
    pub tag: Tag,
    /// Its text.
    pub text: &'p str,
    /// Whether it ends in `\r\n`; `None` where the patch as a whole has lost the line endings of its files, or never had them.
    pub crlf: Option<bool>,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// It stays: context.
    Keep,
    /// It goes.
    Remove,
    /// It is new.
    Add,
}

impl<'p> Hunk<'p> {
    /// The lines that the file must have.
    #[must_use]
    pub fn old_lines(&self) -> Vec<&'p str> {
        self.side(Tag::Add)
    }

    /// The lines that the file has afterwards.
    #[must_use]
    pub fn new_lines(&self) -> Vec<&'p str> {
        self.side(Tag::Remove)
    }

    fn side(&self, without: Tag) -> Vec<&'p str> {
        self.lines.iter().filter(|line| line.tag != without).map(|line| line.text).collect()
    }

    /// How many context lines stand before its first and after its last changed line; `None` when it changes
    /// nothing.
    pub(crate) fn context(&self) -> Option<(usize, usize)> {
        let first = self.lines.iter().position(|line| line.tag != Tag::Keep)?;
        let last = self.lines.iter().rposition(|line| line.tag != Tag::Keep)?;
        Some((first, self.lines.len() - 1 - last))
    }

    /// The lines that are known by the patch.
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
