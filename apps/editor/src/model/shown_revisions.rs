//! Which texts of each file readers were shown by any process of the session. This decides whether
//! a line number from before a restart can still be trusted.
//!
//! **Invariant: a text is recorded before it is shown.** A path has a digest here only if no answer
//! ever showed another text of that path. Where this is uncertain, the path counts as shown with
//! several texts.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use docui::regular_file;
use serde::{Deserialize, Serialize};

use crate::limits::SHOWN_FILES_MAX;

const FORMAT: u32 = 1;
const FILE_NAME: &str = "shown.json";

/// The texts shown by this process and by earlier ones.
#[derive(Debug, Serialize, Deserialize)]
pub struct ShownRevisions {
    #[serde(skip)]
    path: PathBuf,
    record: ShownRecord,
    /// True when there was an earlier process, which may have failed to record something.
    #[serde(rename = "later")]
    has_predecessor: bool,
    written: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct ShownRecord {
    format: u32,
    /// For each file the digest of the only text that was shown; `None` when there were several.
    texts: BTreeMap<PathBuf, Option<u64>>,
    current: CurrentFiles,
}

/// The files that have been current: none, one or several.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
enum CurrentFiles {
    #[default]
    None,
    One(PathBuf),
    Several,
}

impl ShownRevisions {
    /// Reads what earlier processes recorded. `has_predecessor` says that there was one even if it
    /// left no record.
    pub fn read(state_dir: &Path, has_predecessor: bool) -> Self {
        let path = state_dir.join(FILE_NAME);
        let bytes = regular_file::read(&path).map_err(io::Error::from);
        let exists = !matches!(&bytes, Err(error) if error.kind() == io::ErrorKind::NotFound);
        let has_predecessor = has_predecessor || exists;
        let record = bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let record = record.filter(|record: &ShownRecord| record.format == FORMAT);
        let unknown = ShownRecord {
            current: if has_predecessor { CurrentFiles::Several } else { CurrentFiles::None },
            ..ShownRecord::default()
        };
        let record = ShownRecord { format: FORMAT, ..record.unwrap_or(unknown) };
        Self { path, record, has_predecessor, written: false }
    }

    /// Sets the session's state directory, which a snapshot doesn't hold.
    pub fn set_state_dir(&mut self, state_dir: &Path) {
        self.path = state_dir.join(FILE_NAME);
    }

    /// True when an earlier process showed this text of the file and no process showed another one.
    pub fn is_only_revision(&self, path: &Path, digest: u64) -> bool {
        self.has_predecessor && self.record.texts.get(path) == Some(&Some(digest))
    }

    /// Returns the only file that has ever been current, if there is exactly one.
    pub fn only_current_file(&self) -> Option<&Path> {
        match &self.record.current {
            CurrentFiles::One(path) => Some(path),
            CurrentFiles::None | CurrentFiles::Several => None,
        }
    }

    /// Records that a text of a file is about to be shown.
    pub fn record_shown(&mut self, path: &Path, digest: u64) {
        match self.record.texts.get(path) {
            Some(Some(same)) if *same == digest => {}
            Some(_) => self.record_changed(path),
            // Files past the bound aren't recorded, and what isn't recorded is never trusted.
            None if self.record.texts.len() >= SHOWN_FILES_MAX => {}
            None => {
                let only = (!self.has_predecessor).then_some(digest);
                self.record.texts.insert(path.to_owned(), only);
                self.written = false;
            }
        }
    }

    /// Records that a file's text is about to change.
    pub fn record_changed(&mut self, path: &Path) {
        if let Some(only) = self.record.texts.get_mut(path)
            && only.take().is_some()
        {
            self.written = false;
        }
    }

    /// Records that a file is about to become the current one.
    pub fn record_current(&mut self, path: &Path) {
        let now = match &self.record.current {
            CurrentFiles::None => CurrentFiles::One(path.to_owned()),
            CurrentFiles::One(same) if same == path => return,
            CurrentFiles::One(_) => CurrentFiles::Several,
            CurrentFiles::Several => return,
        };
        self.record.current = now;
        self.written = false;
    }

    /// Writes the record atomically unless the file is up to date.
    ///
    /// # Errors
    /// The file can't be written; the next call tries again.
    pub fn write(&mut self) -> io::Result<()> {
        if self.written {
            return Ok(());
        }
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let mut temporary = tempfile::NamedTempFile::new_in(directory)?;
        temporary.write_all(&serde_json::to_vec(&self.record)?)?;
        temporary.persist(&self.path).map_err(|error| error.error)?;
        self.written = true;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    #[test]
    fn record_of_format_1_is_written_as_it_was_read() {
        for current in [r#""None""#, r#"{"One":"/a"}"#, r#""Several""#] {
            let text =
                format!(r#"{{"format":1,"texts":{{"/a":7,"/b":null}},"current":{current}}}"#);
            let record: ShownRecord = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&record).unwrap(), text);
        }
    }
}
