//! Changes within a time range that no snapshot covers: they can't be undone, and the user must be
//! told.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::git::Objects;
use crate::limits::{CLOCK_STEP, FILE_BYTES_MAX, UNTAKEN_LOOKED, UNTAKEN_NAMED};
use crate::store::{Store, Tree, path_of};
use crate::{Unavailable, shown};

/// Recent changes that snapshots don't include, relative to the project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Untaken {
    /// Files that git ignores, and those of repositories inside of the project.
    pub ignored: Vec<PathBuf>,
    /// Files that are too large for a snapshot.
    pub large: Vec<PathBuf>,
    /// Folders without files.
    pub folders: Vec<PathBuf>,
    /// Files whose permission bits changed, besides those to execute.
    pub modes: Vec<PathBuf>,
    /// Folders that have too many entries to be looked through.
    pub unlooked: Vec<PathBuf>,
}

impl Store {
    /// Looks for what changed in a time and isn't in the snapshot that was taken at its end. What
    /// was removed isn't known, nor what changed again since. It takes about as long as a snapshot.
    ///
    /// # Errors
    /// Git complains.
    pub fn untaken(
        &self,
        after: &Tree,
        (from, to): (SystemTime, SystemTime),
    ) -> Result<Untaken, Unavailable> {
        let args = ["ls-files", "--others", "--directory", "-z"];
        let others = self.git.run(&args, Objects::Own, &[])?;
        let modes = after.modes_changed.iter().cloned().map(path_of).collect();
        let mut look = Look {
            root: &self.root,
            from: from.checked_sub(CLOCK_STEP).unwrap_or(from),
            to: to.checked_add(CLOCK_STEP).unwrap_or(to),
            left: UNTAKEN_LOOKED,
            found: Untaken { modes, ..Untaken::default() },
        };
        for path in others.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            let path = Path::new(OsStr::from_bytes(path));
            let left = look.left;
            if look.at(path).is_none() {
                // The others are looked at nevertheless.
                look.left = left.saturating_sub(1);
                look.found.unlooked.push(path.to_owned());
            }
        }
        Ok(look.found)
    }
}

struct Look<'r> {
    root: &'r Path,
    from: SystemTime,
    to: SystemTime,
    /// The number of entries that may still be checked.
    left: usize,
    found: Untaken,
}

impl Look<'_> {
    /// Looks at a path, and at what is below it. Returns `None` when there is too much.
    fn at(&mut self, path: &Path) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let Ok(found) = fs::symlink_metadata(self.root.join(path)) else { return Some(()) };
        if !found.is_dir() {
            if self.is_within(&found) {
                let is_large = found.is_file() && found.len() > FILE_BYTES_MAX;
                let list = if is_large { &mut self.found.large } else { &mut self.found.ignored };
                list.push(path.to_owned());
            }
            return Some(());
        }
        let entries = fs::read_dir(self.root.join(path)).into_iter().flatten().flatten();
        let mut is_empty = true;
        for entry in entries {
            is_empty = false;
            if entry.file_name() != ".git" {
                self.at(&path.join(entry.file_name()))?;
            }
        }
        if is_empty && self.is_within(&found) {
            self.found.folders.push(path.to_owned());
        }
        Some(())
    }

    /// Returns true if a file changed within the time, or its name or permission bits did.
    fn is_within(&self, found: &Metadata) -> bool {
        let seconds = u64::try_from(found.ctime()).unwrap_or_default();
        let nanoseconds = u32::try_from(found.ctime_nsec()).unwrap_or_default();
        let changed = UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds.min(999_999_999)));
        changed.is_some_and(|changed| (self.from..=self.to).contains(&changed))
    }
}

impl Untaken {
    /// Names it in one line: `2 ignored files (.env, target/a), 1 file over 10 MiB (a.bin)`. Empty
    /// if there is nothing.
    pub fn named(&self) -> String {
        let mib = FILE_BYTES_MAX / 1024 / 1024;
        let large = format!(" over {mib} MiB");
        let kinds = [
            (&self.ignored, "ignored file", ""),
            (&self.large, "file", large.as_str()),
            (&self.folders, "empty folder", ""),
            (&self.modes, "file", " by permission bits"),
            (&self.unlooked, "ignored folder", " with too much to look through"),
        ];
        let named = kinds.iter().filter(|(paths, ..)| !paths.is_empty());
        let named = named.map(|(paths, what, which)| {
            let names: Vec<String> =
                paths.iter().take(UNTAKEN_NAMED).map(|path| shown(path)).collect();
            let more = paths.len().saturating_sub(UNTAKEN_NAMED);
            let more = if more > 0 { format!(", +{more} more") } else { String::new() };
            let (count, s) = (paths.len(), if paths.len() == 1 { "" } else { "s" });
            format!("{count} {what}{s}{which} ({}{more})", names.join(", "))
        });
        named.collect::<Vec<_>>().join(", ")
    }
}
