//! The record of an anchor: a display id, and what it stands for.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// A display id and its target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedAnchor {
    pub id: u64,
    /// The workspace that owns the session.
    pub workspace: Option<String>,
    /// `provider/session`
    pub session: String,
    /// The object or action that the id stands for.
    pub target: SavedTarget,
    /// The revision of the object's meaning when the id was created.
    pub rev: u64,
    /// The type of the object.
    #[serde(default)]
    pub ty: Option<String>,
    /// The label that was shown.
    #[serde(default)]
    pub label: String,
    /// The form of the refs with the object's key, if there ever was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_form: Option<KeyForm>,
}

/// The form of a ref that contains an object's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyForm {
    /// `obj:file:a.rs`
    Plain,
    /// `obj:ide/other:file:a.rs`: another session had the plain form first.
    WithSession,
}

/// The target of an anchor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedTarget {
    /// An object of an app.
    Object {
        /// The app's own key of the object.
        key: String,
    },
    Action {
        action: String,
        /// The encoded arguments.
        args: Bytes,
        /// The whole call, if its arguments contain names or nested calls.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    CancelJob {
        job: u64,
    },
}
