//! Why something can't be done.

use crate::file_edit::FileName;
use crate::folder::FolderError;
use crate::index::IndexError;
use crate::name::{NameError, NodeId};

/// Why something can't be done. Nothing was changed then. No message names a place outside of
/// `.memotree`.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such node.
    #[error("there is no node `{name}`{}", did_you_mean(.near))]
    NoNode {
        /// What was asked for.
        name: String,
        /// The nearest ids.
        near: Vec<String>,
    },
    /// There is no such view, saved search or relation.
    #[error("there is no {what} `{name}`{}", did_you_mean(.near))]
    NoSuch {
        /// What it would be.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// The nearest names.
        near: Vec<String>,
    },
    /// There is one already.
    #[error("there is a {what} `{name}` already")]
    Exists {
        /// What it is.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A name isn't allowed.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A node would stand below itself.
    #[error("{}", circle(.node, .parent))]
    Circle {
        /// The node.
        node: NodeId,
        /// Where it was to go.
        parent: NodeId,
    },
    /// A node isn't where it was said to be.
    #[error("`{before}` is not a child of {parent}")]
    NotAChild {
        /// The node.
        before: String,
        /// The parent that was named.
        parent: String,
    },
    /// A file can't be changed since it isn't readable as a node.
    #[error("{file}: {problem}; mend the file, then repeat this")]
    Broken {
        /// The file.
        file: FileName,
        /// What is wrong with it.
        problem: String,
    },
    /// Other programs changed files since they were last shown.
    #[error("{} changed by another program since it was shown: look at it, then repeat this", names(.0))]
    Changed(Vec<FileName>),
    /// What was changed since rests on what would be taken back.
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
