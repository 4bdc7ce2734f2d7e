//! The errors of the store.

use crate::file_edit::FileName;
use crate::folder::FolderError;
use crate::index::IndexError;
use crate::name::{NameError, NodeId};

/// Why something can't be done. Nothing was changed then. No message names a place outside of
/// `.memotree`.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The node doesn't exist.
    #[error("there is no node `{name}`{}", did_you_mean(.near))]
    NoNode { name: String, near: Vec<String> },
    /// The view, saved search or relation doesn't exist.
    #[error("there is no {what} `{name}`{}", did_you_mean(.near))]
    NoSuch {
        /// The word for the kind of the missing object.
        what: &'static str,
        name: String,
        near: Vec<String>,
    },
    /// An object of this kind and name already exists.
    #[error("there is a {what} `{name}` already")]
    Exists {
        /// The word for the kind of the object.
        what: &'static str,
        name: String,
    },
    /// A name isn't allowed.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The move would put a node below itself.
    #[error("{}", circle(.node, .parent))]
    Circle {
        node: NodeId,
        /// The intended parent.
        parent: NodeId,
    },
    /// A node isn't a child of the given parent.
    #[error("`{before}` is not a child of {parent}")]
    NotAChild {
        /// The node that was given as a sibling.
        before: String,
        parent: String,
    },
    /// A file can't be changed since it isn't readable as a node.
    #[error("{file}: {problem}; mend the file, then repeat this")]
    Broken {
        file: FileName,
        /// The reason why the file isn't readable.
        problem: String,
    },
    /// Other programs changed files since they were last shown.
    #[error("{} changed by another program since it was shown: look at it, then repeat this", names(.0))]
    Changed(Vec<FileName>),
    /// A later change depends on the one to be undone.
    #[error("{0} was changed since in a way that rests on it; nothing was undone")]
    Later(FileName),
    /// A value isn't allowed.
    #[error("{0}")]
    Value(String),
    /// There is nothing to undo or to redo.
    #[error("there is nothing to {0}")]
    Nothing(&'static str),
    /// The folder isn't readable or writable.
    #[error(transparent)]
    Folder(FolderError),
    /// The index isn't usable.
    #[error("the index of the tree can't be used: {0}")]
    Index(#[from] IndexError),
    /// The session's own state can't be written.
    #[error("the session's state can't be written: {0}")]
    State(String),
}

impl From<FolderError> for StoreError {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::Changed(file) => Self::Changed(vec![file]),
            other => Self::Folder(other),
        }
    }
}

fn circle(node: &NodeId, parent: &NodeId) -> String {
    match node == parent {
        true => format!("`{node}` can't move below itself"),
        false => format!("`{node}` can't move below `{parent}`, which is below it"),
    }
}

fn did_you_mean(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; near: {}", near.join(", ")),
    }
}

fn names(files: &[FileName]) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<String> = files.iter().take(SHOWN).map(ToString::to_string).collect();
    if files.len() > SHOWN {
        names.push(format!("{} more", files.len() - SHOWN));
    }
    names.join(", ")
}
