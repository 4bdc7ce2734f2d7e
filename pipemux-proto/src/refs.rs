//! The ref grammar.
//!
//! ```text
//! ref   = kind ":" [ provider "/" session ":" ] [ type ":" ] local [ "@e" epoch ]
//! kind  = "obj" | "link"
//! local = decimal: a display id | anything else: the app's own key; a decimal key is written "=7"
//! ```

use crate::ids::SessionAddr;

/// What a ref refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RefKind {
    /// A thing.
    Obj,
    /// A ready-made action.
    Link,
}

/// The last part of a ref.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Local {
    /// A display id, unique in the workspace.
    Id(u64),
    /// The app's own key, decoded.
    Key(String),
}

/// A reference as an agent writes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ref {
    /// Thing or action.
    pub kind: RefKind,
    /// The owner, in the full form.
    pub owner: Option<SessionAddr>,
    /// The type, checked where given.
    pub ty: Option<String>,
    /// Display id or key.
    pub local: Local,
    /// The epoch it is pinned to.
    pub epoch: Option<u64>,
}
