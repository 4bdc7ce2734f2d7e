//! Which files a session has open, on disk: a restarted process opens the same ones.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use docui::Fault;
use serde::{Deserialize, Serialize};

const FORMAT: u32 = 1;
const NAME: &str = "files.json";

/// The open files of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: u32,
    /// In the order they are listed.
    pub files: Vec<Listed>,
    /// The one in view.
    pub current: Option<PathBuf>,
}

/// An open file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Where it is.
    pub path: PathBuf,
    /// Its digest on disk when it was last read or written.
    pub base: Option<u64>,
}

impl Manifest {
    /// Of those files.
    pub fn new(files: Vec<Listed>, current: Option<PathBuf>) -> Self {
        Self { format: FORMAT, files, current }
    }

    /// What was written; none when nothing readable was.
    pub fn read(state_dir: &Path) -> Option<Self> {
        let bytes = fs::read(state_dir.join(NAME)).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|found: &Self| found.format == FORMAT)
    }

    /// Writes it down, whole or not at all.
    ///
    /// # Errors
    /// It couldn't be written.
    pub fn write(&self, state_dir: &Path) -> Result<(), Fault> {
        let write = || {
            let mut temporary = tempfile::NamedTempFile::new_in(state_dir)?;
            temporary.write_all(&serde_json::to_vec(self)?)?;
            temporary.persist(state_dir.join(NAME)).map(drop).map_err(|error| error.error)
        };
        write().map_err(|error| {
            Fault::failed(format!("{} can't be written: {error}", state_dir.join(NAME).display()))
        })
    }
}
