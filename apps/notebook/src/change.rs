//! Changes of entries as they are recorded and undone.

use std::fmt;
use std::str::FromStr;

use docui::Fault;

use crate::entry::Content;

/// Maximum number of actions that can be undone, over all entries.
pub const CHANGES_MAX: i64 = 200;
/// Bytes of earlier texts that are kept for undo, over all actions. The newest action is kept in
/// any case.
pub const CHANGES_BYTES_MAX: i64 = 16 * 1024 * 1024;

/// An entry at the revision that the caller saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryRef {
    pub id: i64,
    /// The revision that the caller saw.
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

/// The kind of action that changed an entry's content; every recorded change has one.
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
    /// The id of the action, for [`Store::undo`].
    pub change: ChangeId,
    /// The ids of the new entries.
    pub entries: Vec<i64>,
}

/// The result of [`Store::remove`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The id of the action, for [`Store::undo`].
    pub change: ChangeId,
    pub contents: Vec<Content>,
}

/// The result of [`Store::amend`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amended {
    /// The id of the change, for [`Store::undo`].
    pub change: ChangeId,
    /// The entry's content before the change.
    pub before: Content,
    /// The entry's content after the change.
    pub after: Content,
}

/// The result of [`Store::undo`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The id of the undo itself. Undoing it redoes the action.
    pub change: ChangeId,
    /// The effect of the undo on each entry that the action had changed.
    pub entries: Vec<UndoneEntry>,
}

/// An entry that an undo changed. At least one of the contents is `Some`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoneEntry {
    /// The content before the undo; `None` if the entry had been removed.
    pub before: Option<Content>,
    /// The content after the undo; `None` if the undo removed the entry.
    pub after: Option<Content>,
}

/// The reason why an action was not undone. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoError {
    /// An entry differs from the state in which the action left it.
    ChangedSince {
        change: ChangeId,
        title: String,
        /// The actions to undo, in this order, to return to the state that the action left.
        later: Vec<ChangeId>,
    },
    /// The entries are already as they were before the action.
    AlreadyUndone {
        change: ChangeId,
        /// The title of one of the entries.
        title: String,
        /// The actions to undo, in this order, to return to the state that the action left.
        redo: Vec<ChangeId>,
    },
    /// The action is unknown, or the store can't be written.
    Refused(Fault),
}
