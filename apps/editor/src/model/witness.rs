//! What readers may have been shown in any life of the session: whether a line number from an earlier
//! life can still be trusted.
//!
//! **Invariant: what was shown is written down before it is shown.** A path has one digest here only if
//! no answer ever showed another text of it; what isn't known for sure counts as several texts.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::limits::WITNESS_MAX;

const FORMAT: u32 = 1;
const NAME: &str = "shown.json";

/// The texts that were shown, in this life of the process and before it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Witness {
    #[serde(skip)]
    place: PathBuf,
    record: Record,
    /// True when there was an earlier life: what it may have failed to write down isn't known.
    later: bool,
    written: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Record {
    format: u32,
    /// The digest of the only text of a file that was shown; none when there were several.
    texts: BTreeMap<PathBuf, Option<u64>>,
    current: Only,
}

/// Which file was the current one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Only {
    #[default]
    None,
    One(PathBuf),
    Several,
}

impl Witness {
    /// Reads what earlier lives wrote; `later` is true when there were any.
    pub fn read(state_dir: &Path, later: bool) -> Self {
        let place = state_dir.join(NAME);
        let bytes = fs::read(&place);
        let there = !matches!(&bytes, Err(error) if error.kind() == io::ErrorKind::NotFound);
        let read = bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let read = read.filter(|record: &Record| record.format == FORMAT);
        let unknown = Record {
            current: if later || there { Only::Several } else { Only::None },
            ..Record::default()
        };
        let record = Record { format: FORMAT, ..read.unwrap_or(unknown) };
        Self { place, record, later: later || there, written: false }
    }

    /// Says in which session's directory it is kept.
    pub(crate) fn keep_in(&mut self, state_dir: &Path) {
        self.place = state_dir.join(NAME);
    }

    /// True when that is the only text of the file that was ever shown, in an earlier life too.
    pub fn knows(&self, path: &Path, digest: u64) -> bool {
        self.later && self.record.texts.get(path) == Some(&Some(digest))
    }

    /// The only file that was ever the current one.
    pub fn only_current(&self) -> Option<&Path> {
        match &self.record.current {
            Only::One(path) => Some(path),
            Only::None | Only::Several => None,
        }
    }

    /// Notes that a text of a file is going to be shown.
    pub fn shows(&mut self, path: &Path, digest: u64) {
        match self.record.texts.get(path) {
            Some(Some(same)) if *same == digest => {}
            Some(_) => self.several(path),
            // Past the bound nothing is noted: what isn't noted is not trusted later.
            None if self.record.texts.len() >= WITNESS_MAX => {}
            None => {
                let only = (!self.later).then_some(digest);
                self.record.texts.insert(path.to_owned(), only);
                self.written = false;
            }
        }
    }

    /// Notes that a file's text becomes another one.
    pub fn several(&mut self, path: &Path) {
        if let Some(only) = self.record.texts.get_mut(path)
            && only.take().is_some()
        {
            self.written = false;
        }
    }

    /// Notes that a file is going to be the current one.
    pub fn current(&mut self, path: &Path) {
        let now = match &self.record.current {
            Only::None => Only::One(path.to_owned()),
            Only::One(same) if same == path => return,
            Only::One(_) => Only::Several,
            Only::Several => return,
        };
        self.record.current = now;
        self.written = false;
    }

    /// Writes down what was noted, whole or not at all; does nothing when all is written.
    ///
    /// # Errors
    /// It couldn't be written; it is tried again the next time.
    pub fn write(&mut self) -> io::Result<()> {
        if self.written {
            return Ok(());
        }
        let directory = self.place.parent().unwrap_or(Path::new("."));
        let mut temporary = tempfile::NamedTempFile::new_in(directory)?;
        temporary.write_all(&serde_json::to_vec(&self.record)?)?;
        temporary.persist(&self.place).map_err(|error| error.error)?;
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
            let record: Record = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&record).unwrap(), text);
        }
    }
}
