//! The recognisers of git: status, diff and log.

pub(crate) mod diff;
pub(crate) mod log;
pub(crate) mod status;

use crate::collector::Collector;
use crate::limits::GIT_ITEMS;
use crate::model::{Commit, FileState, GitFile};

/// Adds a file of which nothing but its state is known. Returns false when there are too many.
fn add_file(found: &mut Collector, path: &str, state: FileState, staged: Option<bool>) -> bool {
    let at = found.number;
    if found.git.files.len() >= GIT_ITEMS {
        found.git.left_out += 1;
        return false;
    }
    found.git.files.push(GitFile {
        path: path.to_owned(),
        from: None,
        state,
        staged,
        added: 0,
        removed: 0,
        hunks: Vec::new(),
        at,
    });
    true
}

/// Adds a commit. Returns false when there are too many.
fn add_commit(found: &mut Collector, id: &str, subject: &str) -> bool {
    let at = found.number;
    if found.git.commits.len() >= GIT_ITEMS {
        found.git.left_out += 1;
        return false;
    }
    let (id, subject) = (id.to_owned(), subject.to_owned());
    found.git.commits.push(Commit { id, author: None, date: None, subject, at });
    true
}
