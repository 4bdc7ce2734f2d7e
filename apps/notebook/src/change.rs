//! Changes of entries as they are recorded and undone.

use std::fmt;
use std::str::FromStr;

use docui::Fault;

use crate::entry::Content;

/// How many actions can be undone, over all entries.
pub const CHANGES_MAX: i64 = 200;
/// Bytes of earlier texts that are kept for undo, over all actions. The newest action is kept in
/// any case.
pub const CHANGES_BYTES_MAX: i64 = 16 * 1024 * 1024;

/// An entry as the caller saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryRef {
    /// The entry's id.
    pub id: i64,
    /// The rev that the caller saw.
    pub rev: u64,
}

/// Identifies the recorded changes of one action: the number of the first one. In calls it is
/// written as `c12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeId(pub(crate) i64);

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

impl FromStr for ChangeId {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let number = text.strip_prefix('c').and_then(|digits| digits.parse().ok());
        number.map(Self).ok_or_else(|| {
            Fault::usage(format!("change: expected an id like c12, not {text:?}"))
                .hint("click the [undo] link in the answer to the change")
        })
    }
}

/// The actions that change an entry's content. Each recorded change names its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The entry was created.
    Add,
    /// The text was replaced.
    Edit,
    /// Lines were added at the end.
    Append,
    /// The title was changed.
    Rename,
    /// The tags were replaced.
    Tag,
    /// The gist was set.
    Gist,
    /// The summary was set.
    Summary,
    /// The entry was removed.
    Remove,
    /// An earlier action was undone.
    Undo,
}

impl ChangeKind {
    /// Returns the value of the column `changes.what`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Edit => "edit",
            Self::Append => "append",
            Self::Rename => "rename",
            Self::Tag => "tag",
            Self::Gist => "gist",
            Self::Summary => "summary",
            Self::Remove => "remove",
            Self::Undo => "undo",
        }
    }
}

/// The result of [`Store::add`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The action, for [`Store::undo`].
    pub change: ChangeId,
    /// The ids of the new entries.
    pub entries: Vec<i64>,
}

/// The result of [`Store::remove`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The action, for [`Store::undo`].
    pub change: ChangeId,
    /// The contents of the removed entries.
    pub contents: Vec<Content>,
}

/// The result of [`Store::amend`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amended {
    /// The change, for [`Store::undo`].
    pub change: ChangeId,
    /// The entry's content before the change.
    pub before: Content,
    /// The entry's content after the change.
    pub after: Content,
}

/// The result of [`Store::undo`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The undo itself. Undoing it redoes the action.
    pub change: ChangeId,
    /// What became of each entry that the action had changed.
    pub entries: Vec<UndoneEntry>,
}

/// An entry that an undo changed. At least one of the contents is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoneEntry {
    /// The content before the undo; `None` if the entry had been removed.
    pub before: Option<Content>,
    /// The content after it; `None` if the entry is removed again.
    pub after: Option<Content>,
}

/// Why an action was not undone. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoError {
    /// An entry is not as the action left it.
    ChangedSince {
        /// The action.
        change: ChangeId,
        /// The entry's title.
        title: String,
        /// The actions that lead back to what the action left, to be undone in this order.
        later: Vec<ChangeId>,
    },
    /// The entries are as they were before the action.
    AlreadyUndone {
        /// The action.
        change: ChangeId,
        /// The title of one of them.
        title: String,
        /// The actions that lead back to what the action left, to be undone in this order.
        redo: Vec<ChangeId>,
    },
    /// The action isn't known, or the store can't be written.
    Refused(Fault),
}
