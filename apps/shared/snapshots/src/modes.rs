//! Permission bits that git doesn't know, of the files that the index has: a file that only its
//! owner may read must not come back as one that everybody may.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

/// Permission bits that a new file gets by itself.
const USUAL: [u32; 4] = [0o644, 0o664, 0o755, 0o775];

/// The permission bits of files that don't have the default ones.
#[derive(Debug, Default)]
pub(crate) struct Modes {
    file: PathBuf,
    modes: BTreeMap<Vec<u8>, u32>,
    changed: bool,
}

impl Modes {
    /// Reads what was saved: `600 path`, each in front of a zero.
    pub fn load(file: PathBuf) -> Self {
        let saved = fs::read(&file).unwrap_or_default();
        let mode = |line: &[u8]| {
            let (mode, path) = line.split_at_checked(5)?;
            let mode = u32::from_str_radix(std::str::from_utf8(mode).ok()?.trim(), 8).ok()?;
            Some((path.to_vec(), mode))
        };
        let modes = saved.split(|byte| *byte == 0).filter_map(mode).collect();
        Self { file, modes, changed: false }
    }

    /// Returns those of a file, unless they are usual.
    pub fn get(&self, path: &[u8]) -> Option<u32> {
        self.modes.get(path).copied()
    }

    /// Sets those of a file, none if it isn't kept any more, and returns what they were unless they
    /// were usual.
    pub fn set(&mut self, path: &[u8], mode: Option<u32>) -> Option<u32> {
        let was = match mode.filter(|mode| !USUAL.contains(mode)) {
            Some(mode) => self.modes.insert(path.to_vec(), mode),
            None => self.modes.remove(path),
        };
        self.changed |= was != self.get(path);
        was
    }

    /// Saves them if they changed.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn save(&mut self) -> io::Result<()> {
        if !self.changed {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for (path, mode) in &self.modes {
            bytes.extend_from_slice(format!("{mode:<5o}").as_bytes());
            bytes.extend_from_slice(path);
            bytes.push(0);
        }
        fs::write(&self.file, bytes)?;
        self.changed = false;
        Ok(())
    }
}
