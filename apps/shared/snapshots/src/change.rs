//! The difference between two snapshots.

use std::path::PathBuf;

use crate::git::Objects;
use crate::store::{Store, Tree, path_of};
use crate::{Unavailable, shown};

/// The difference between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The changed files, sorted by path.
    pub files: Vec<FileChange>,
    /// True if the ignore rules in the project's repository changed: what seems to be new may have
    /// been there before.
    pub(crate) rules_changed: bool,
}

/// A file's change: added if there is no version before, removed if there is none after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path, relative to the project.
    pub path: PathBuf,
    /// The version before; `None` if the file was added.
    pub before: Option<Version>,
    /// The version after; `None` if the file was removed.
    pub after: Option<Version>,
}

/// The version of a file: its kind, and the name of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub kind: Kind,
    pub(crate) content: String,
    /// The permission bits of an added or removed file, if not those of a new file.
    pub(crate) mode: Option<u32>,
}

/// The kind of a file, as in git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    /// An executable regular file.
    Executable,
    /// A symbolic link; its content is its target.
    Link,
}

impl Store {
    /// Says what changed between two snapshots. What one of them leaves out is not told.
    ///
    /// # Errors
    /// One of them isn't kept any more.
    pub fn change(&self, before: &Tree, after: &Tree) -> Result<Change, Unavailable> {
        let rules_changed = before.exclude != after.exclude;
        let mut change = Change { files: Vec::new(), rules_changed };
        if before.id == after.id {
            return Ok(change);
        }
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", &before.id, &after.id];
        let told = self.git.run(&args, Objects::Own, &[]).map_err(|why| match why {
            Unavailable::Failed(why) if why.contains("object") => Unavailable::Forgotten,
            why => why,
        })?;
        let fields: Vec<&[u8]> = told.split(|byte| *byte == 0).collect();
        for pair in fields.chunks_exact(2) {
            let (Some(told), Some(path)) = (pair.first(), pair.get(1)) else { continue };
            if before.leaves_out(path) || after.leaves_out(path) {
                continue;
            }
            let mode = after.modes.iter().find(|(of, _)| of == path).map(|(_, mode)| *mode);
            let told = String::from_utf8_lossy(told);
            let mut told = told.trim_start_matches(':').split(' ');
            let mut next = || told.next().unwrap_or_default().to_owned();
            let (modes, contents) = ([next(), next()], [next(), next()]);
            let [before, after] = [0, 1].map(|at: usize| {
                let kind = match modes.get(at).map(String::as_str) {
                    Some("100644") => Kind::File,
                    Some("100755") => Kind::Executable,
                    Some("120000") => Kind::Link,
                    _ => return None,
                };
                Some(Version { kind, content: contents.get(at)?.clone(), mode })
            });
            let path = path_of(path.to_vec());
            change.files.push(FileChange { path, before, after });
        }
        Ok(change)
    }
}

impl Change {
    /// Names the files in one line, as many as fit in this many characters:
    /// `src/a.rs, src/b.rs, +12 more`. Empty if there are none.
    pub fn named(&self, room: usize) -> String {
        let mut named = String::new();
        for (at, file) in self.files.iter().enumerate() {
            let path = shown(&file.path);
            if at > 0 && named.chars().count() + path.chars().count() > room {
                return format!("{named}, +{} more", self.files.len() - at);
            }
            if at > 0 {
                named += ", ";
            }
            named += &path;
        }
        named
    }
}
