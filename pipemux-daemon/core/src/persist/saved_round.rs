//! The record of a round of history, and of what takes its steps back.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::limits::ROUND_UNDO_MAX;

/// A round of history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedRound {
    /// The number of the round in the workspace, from 1.
    pub number: u64,
    /// The time of the round's end, in milliseconds since 1970, UTC.
    pub unix_ms: u64,
    pub reader: String,
    /// The calls of the round.
    pub action: String,
    /// The outcome of the calls.
    pub result: String,
    /// Multi-line detail, shown on request.
    #[serde(default)]
    pub detail: Option<String>,
    #[serde(default)]
    pub exit: u8,
    /// The epoch of the workspace when it ended, before its answer; absent from records of earlier
    /// releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// The sessions to which steps were sent, as `provider/session`.
    #[serde(default)]
    pub sessions: Vec<String>,
    /// The undo actions of the steps, in the order in which the steps ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undo: Vec<SavedUndo>,
    /// The steps that changed something and can't be undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lasting: Vec<String>,
    /// The round that this one undid, if it is an undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// The changes to files, as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The client that made the round; empty in records of earlier releases.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client: String,
    /// The absolute paths of the files that the round changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Further files that it changed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_files: u64,
    /// From when to when it changed them, in milliseconds since 1970; absent from records of
    /// earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrote: Option<(u64, u64)>,
    /// The id of the request that ended the round; empty in records of earlier releases.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run_id: String,
}

impl SavedRound {
    /// True if it is known to have changed a file, or one in a folder: an absolute path.
    pub fn changed(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.files.iter().any(|file| {
            file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Drops the undos if their arguments exceed the bound of a round; their steps are then
    /// reported as lasting.
    pub fn bound_undo(&mut self) {
        if self.undo.iter().map(|undo| undo.args.len()).sum::<usize>() > ROUND_UNDO_MAX {
            self.lasting.extend(self.undo.drain(..).map(|undo| undo.call));
        }
    }

    /// True if all of it is taken back that can be.
    pub fn is_undone(&self) -> bool {
        !self.undo.is_empty() && self.undo.iter().all(|undo| undo.undone)
    }
}

/// The action that undoes a step of a round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedUndo {
    /// The workspace that owns the session.
    pub workspace: Option<String>,
    /// `provider/session`
    pub session: String,
    /// The call of the undone step.
    pub call: String,
    /// The name of the undo action.
    pub action: String,
    /// The encoded arguments.
    pub args: Bytes,
    /// True once it ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
    /// True while the undo has been sent and its outcome is unknown. If the daemon crashes in that
    /// time, nobody knows whether it ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsure: bool,
}

pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}
