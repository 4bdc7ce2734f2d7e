//! What was changed in which file, so that it can be taken back exactly: the text that went in, and
//! what it replaced. Nothing else of a user's file is kept.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use pipemux_client::ClientError;
use serde::{Deserialize, Serialize};

use super::files;

/// Changes that are remembered; beyond that, the oldest are forgotten.
const CHANGES_MAX: usize = 256;

/// A change to one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    path: PathBuf,
    inserted: String,
    replaced: String,
    /// True if there was no such file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    created: bool,
    /// True if there was no directory for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    directory: bool,
}

impl Change {
    /// Compares a file before and after it was written.
    pub fn new(path: &Path, before: Option<&str>, after: &str) -> Self {
        let old = before.unwrap_or_default();
        let same = old.chars().zip(after.chars()).take_while(|(a, b)| a == b);
        let start: usize = same.map(|(c, _)| c.len_utf8()).sum();
        let (old, new) = (&old[start..], &after[start..]);
        let same = old.chars().rev().zip(new.chars().rev()).take_while(|(a, b)| a == b);
        let end: usize = same.map(|(c, _)| c.len_utf8()).sum();
        Self {
            path: path.to_owned(),
            inserted: new[..new.len() - end].to_owned(),
            replaced: old[..old.len() - end].to_owned(),
            created: before.is_none(),
            directory: false,
        }
    }

    /// Notes whether the file's directory was made for it.
    pub fn with_directory(self, made: bool) -> Self {
        Self { directory: made, ..self }
    }

    /// Takes the change back, if what it wrote stands in the text exactly once. `None` inside means
    /// that there was no file.
    pub fn take_back(&self, text: &str) -> Option<Option<String>> {
        if self.created && text == self.inserted {
            return Some(None);
        }
        let at = text.find(&self.inserted).filter(|_| !self.inserted.is_empty())?;
        let rest = &text[at + self.inserted.len()..];
        if text.rfind(&self.inserted) != Some(at) {
            return None;
        }
        Some(Some(format!("{}{}{rest}", &text[..at], self.replaced)))
    }
}

/// The changes that were made, the oldest first, under a lock: no other set-up runs meanwhile.
#[derive(Debug)]
pub struct Records {
    changes: Vec<Change>,
    path: PathBuf,
    /// Unlocked by the system however this process ends.
    _lock: Option<File>,
}

impl Records {
    /// Reads them; waits for another set-up that is running. With `look` nothing is made or locked.
    ///
    /// # Errors
    /// The directory can't be made or locked.
    pub fn open(state: &Path, look: bool) -> Result<Self, ClientError> {
        let directory = state.join("setup");
        let path = directory.join("changes.json");
        let failed = |error: std::io::Error| {
            let shown = directory.display();
            ClientError::invalid(format!("{shown} can't be used, so nothing was written: {error}"))
                .hint("name a directory of yours: PIPEMUX_STATE_DIR")
        };
        let lock = match look {
            true => None,
            false => {
                let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
                let lock = made.and_then(|()| File::open(&directory)).map_err(failed)?;
                lock.lock().map_err(failed)?;
                Some(lock)
            }
        };
        // Without records a change is taken back entry by entry.
        let text = fs::read_to_string(&path).unwrap_or_default();
        Ok(Self { changes: serde_json::from_str(&text).unwrap_or_default(), path, _lock: lock })
    }

    /// Returns the changes of a file, the newest first.
    pub fn of<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Change> {
        self.changes.iter().rev().filter(move |change| change.path == path)
    }

    /// Returns true if the file's directory was made for it.
    pub fn made_directory(&self, path: &Path) -> bool {
        self.of(path).any(|change| change.directory)
    }

    /// Returns true if a file is as it was written.
    pub fn is_as_written(&self, path: &Path, text: &str) -> bool {
        self.of(path).next().is_some_and(|change| change.inserted == text)
    }

    /// Remembers changes, and forgets those of files from which everything was taken.
    ///
    /// # Errors
    /// They can't be written.
    pub fn update(&mut self, made: Vec<Change>, emptied: &[&Path]) -> Result<(), ClientError> {
        self.changes.retain(|change| !emptied.contains(&change.path.as_path()));
        self.changes.extend(made);
        let excess = self.changes.len().saturating_sub(CHANGES_MAX);
        self.changes.drain(..excess);
        // It has strings and booleans only, so this can't fail.
        let text = serde_json::to_string(&self.changes).unwrap_or_default();
        match self.changes.is_empty() {
            true => {
                let _ = fs::remove_file(&self.path);
                Ok(())
            }
            false => files::write(&self.path, Some(&text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_is_taken_back_exactly_also_beside_later_ones() {
        let path = Path::new("/x");
        for (before, after) in [
            ("a\r\nc\r\n", "a\r\nb\r\nc\r\n"),
            ("", "x"),
            ("深い", "深新い"),
            ("👨‍👩‍👧", "👨‍👩‍👧‍👦"),
            ("{ }", "{\n  \"b\": 1\n}"),
        ] {
            let change = Change::new(path, Some(before), after);
            assert_eq!(change.take_back(after), Some(Some(before.to_owned())), "{before:?}");
        }
        let created = Change::new(path, None, "x\n");
        assert_eq!(created.take_back("x\n"), Some(None));
        let change = Change::new(path, Some("1\n2\n"), "1\nnew\n2\n");
        assert_eq!(change.take_back("0\n1\nnew\n2\n3\n"), Some(Some("0\n1\n2\n3\n".into())));
        assert_eq!(change.take_back("new\nnew\n"), None, "nobody knows which");
        assert_eq!(Change::new(path, Some("aba"), "ababa").take_back("ababa"), None);
        assert_eq!(Change::new(path, Some("x"), "x").take_back("x"), None);
    }
}
