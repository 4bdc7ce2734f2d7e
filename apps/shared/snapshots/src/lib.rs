//! The states of a project's files as git trees, and what takes back what changed between two of
//! them.
//!
//! A [`Store`] is a git directory of its own beside an index of its own: a file that is unchanged
//! costs one `stat`. What the project's repository has already isn't kept twice when there is much
//! of it. The project and its repository are only read.
//!
//! | module | contents |
//! |---|---|
//! | `project` | finds the project, and git |
//! | `git` | runs git with settings of its own |
//! | `store` | takes snapshots |
//! | `modes` | permission bits that git doesn't know |
//! | `change` | what changed between two of them |
//! | `put_back` | takes a change back, or makes it again |
//! | `untaken` | what changed that no snapshot has |
//! | [`limits`] | the bounds |
//!
//! **Invariant: what a project says runs no program.** Git is run with this crate's settings and
//! attributes alone, and never in the repository of the project or one that is nested in it.
//!
//! **Invariant: nothing is taken away that may have been there before.** What a snapshot leaves out
//! is known, and no change of it is told: files that are too large or can't be read, and nested
//! repositories. Where ignore rules changed, a file that seems to be new is not removed.
#![forbid(unsafe_code)]

mod change;
mod git;
pub mod limits;
mod modes;
mod project;
mod put_back;
mod store;
mod untaken;

pub use change::{Change, FileChange, Kind, Version};
pub use put_back::{Direction, PutBack, Refused};
pub use store::{Store, Tree};
pub use untaken::Untaken;

/// The reason why there are no snapshots.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// Git isn't installed.
    #[error("git isn't installed")]
    NoGit,
    /// The folder isn't in a git repository.
    #[error("the folder isn't in a git repository")]
    NoRepository,
    /// The project has too many files.
    #[error("the project has more than {} files", limits::FILES_MAX)]
    TooMany,
    /// The project's files are larger than all snapshots may be, or a change is too large to be
    /// read.
    #[error("the files are too large together")]
    TooMuch,
    /// A snapshot was removed, since all of them were too large together, or are of another
    /// project.
    #[error("the files' states are not kept any more")]
    Forgotten,
    /// Git or the system complained.
    #[error("git: {0}")]
    Failed(String),
}

/// Returns a path as it is shown in one line.
pub fn shown(path: &std::path::Path) -> String {
    let text = path.to_string_lossy();
    match text.chars().any(char::is_control) {
        true => text.escape_debug().collect(),
        false => text.into_owned(),
    }
}
