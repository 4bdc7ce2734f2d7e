//! The list of a session's open files on disk, so that a restarted process opens the same ones.

use std::io::Write;
use std::path::{Path, PathBuf};

use docui::{Fault, regular_file};
use serde::{Deserialize, Serialize};

const FORMAT: u32 = 1;
const FILE_NAME: &str = "files.json";

/// The list of the open files of a session, as saved on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: u32,
    /// The files in listing order.
    pub files: Vec<ManifestEntry>,
    /// The paths of the open binary files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub binaries: Vec<PathBuf>,
    pub current: Option<PathBuf>,
    /// True while edits stay in the session until they are saved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hold: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEntry {
    pub path: PathBuf,
    /// The digest of the file on disk when it was last read or written.
    #[serde(rename = "base")]
    pub base_digest: Option<u64>,
}

impl Manifest {
    /// Returns a manifest of the files.
    pub fn new(
        files: Vec<ManifestEntry>,
        binaries: Vec<PathBuf>,
        current: Option<PathBuf>,
        hold: bool,
    ) -> Self {
        Self { format: FORMAT, files, binaries, current, hold }
    }

    /// Reads the manifest of a session; `None` if there is none that can be read.
    pub fn read(state_dir: &Path) -> Option<Self> {
        let bytes = regular_file::read(&state_dir.join(FILE_NAME)).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|manifest: &Self| manifest.format == FORMAT)
    }

    /// Writes the manifest atomically.
    ///
    /// # Errors
    /// The file can't be written; the previous one is still there.
    pub fn write(&self, state_dir: &Path) -> Result<(), Fault> {
        let write = || {
            let mut temporary = tempfile::NamedTempFile::new_in(state_dir)?;
            temporary.write_all(&serde_json::to_vec(self)?)?;
            temporary.persist(state_dir.join(FILE_NAME)).map(drop).map_err(|error| error.error)
        };
        write().map_err(|error| {
            let path = state_dir.join(FILE_NAME);
            Fault::failed(format!("{} can't be written: {error}", path.display()))
        })
    }
}
