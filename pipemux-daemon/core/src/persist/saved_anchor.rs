//! The record of an anchor: a display id, and what it stands for.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// A display id and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedAnchor {
    /// The display id.
    pub id: u64,
    /// The workspace that owns the session.
    pub workspace: Option<String>,
    /// `provider/session`
    pub session: String,
    /// The thing or action that it stands for.
    pub target: SavedTarget,
    /// Its meaning when it was minted.
    pub rev: u64,
    /// Its type.
    #[serde(default)]
    pub ty: Option<String>,
    /// The label that was shown for it.
    #[serde(default)]
    pub label: String,
    /// The form of its refs with the key, if it ever had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_form: Option<KeyForm>,
}

/// The form of the ref that has an object's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyForm {
    /// `obj:file:a.rs`
    Plain,
    /// `obj:ide/other:file:a.rs`: another session had the plain form first.
    WithSession,
}

/// What an anchor stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedTarget {
    /// A thing.
    Object {
        /// The app's own name of it.
        key: String,
    },
    /// An action.
    Action {
        /// Its name.
        action: String,
        /// Its encoded arguments.
        args: Bytes,
        /// The whole call, when names or nested calls are among its arguments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// The cancellation of a job.
    CancelJob {
        /// The job's number.
        job: u64,
    },
}
