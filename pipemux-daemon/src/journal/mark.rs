//! The mark: a second small file that says how far numbers came and how long the journal was.
//!
//! So a journal that was removed, replaced by an older copy, or cut at the end of a record is
//! recognised, and none of the numbers that it held is used again.
//!
//! Writing it with every record would double what an act writes. It is overwritten before anything
//! that follows from a record goes out only when a number rises, which the core has happen once in
//! many acts: it reserves them in blocks. The length is written by the thread that syncs, within
//! [`SYNC_BATCH_MS`](crate::limits::SYNC_BATCH_MS): a cut is missed only if the daemon was killed
//! within that time after it wrote the records that were cut off.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pipemux_core::HighWater;

use super::file::{FileIdentity, rename_into_place};

/// The header of the file.
const HEADER: &[u8; 8] = b"pmxmark1";
/// The length of the file: the header, seven numbers and a checksum.
const LENGTH: usize = 8 + 7 * 8 + 4;

/// A journal and its written length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JournalLength {
    /// The number in the sequence of journals; 0 if there is none.
    pub generation: u64,
    /// The written length in bytes.
    pub length: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark {
    /// Numbers below these may have been used.
    pub high_water: HighWater,
    /// The journal, and during a compaction also its replacement.
    pub journals: [JournalLength; 2],
}

impl Mark {
    pub fn generation(&self) -> u64 {
        self.journals.iter().map(|journal| journal.generation).max().unwrap_or(0)
    }

    fn encode(&self) -> [u8; LENGTH] {
        let HighWater { numbers, ids, epochs } = self.high_water;
        let [one, other] = self.journals;
        let all =
            [numbers, ids, epochs, one.generation, one.length, other.generation, other.length];
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(HEADER);
        for (place, number) in bytes[8..].chunks_exact_mut(8).zip(all) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        let sum = crc32fast::hash(&bytes[..LENGTH - 4]);
        bytes[LENGTH - 4..].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, sum) = bytes.split_at_checked(LENGTH - 4)?;
        if !body.starts_with(HEADER) || crc32fast::hash(body).to_be_bytes() != sum {
            return None;
        }
        let mut numbers = body[8..].chunks_exact(8).filter_map(|number| number.try_into().ok());
        let mut next = || numbers.next().map(u64::from_be_bytes);
        let (numbers, ids, epochs) = (next()?, next()?, next()?);
        let mut journal = || Some(JournalLength { generation: next()?, length: next()? });
        let journals = [journal()?, journal()?];
        Some(Self { high_water: HighWater { numbers, ids, epochs }, journals })
    }
}

/// Returns the path of a journal's mark.
pub fn mark_path(journal: &Path) -> PathBuf {
    journal.with_extension("mark")
}

/// Reads a journal's mark; none when there is none, or it is damaged.
pub fn read(journal: &Path) -> Option<Mark> {
    Mark::decode(&fs::read(mark_path(journal)).ok()?)
}

/// The mark file, shared with the thread that writes lengths.
#[derive(Debug, Clone)]
pub struct MarkFile(Arc<Mutex<OpenMark>>);

#[derive(Debug)]
struct OpenMark {
    path: PathBuf,
    file: Option<(File, FileIdentity)>,
    wanted: Mark,
    written: Mark,
}

impl MarkFile {
    /// Takes the file of a journal; the first write makes it.
    pub fn new(journal: &Path) -> Self {
        let (path, wanted, written) = (mark_path(journal), Mark::default(), Mark::default());
        Self(Arc::new(Mutex::new(OpenMark { path, file: None, wanted, written })))
    }

    /// Takes what is to be written, and writes it at once if a number rose.
    ///
    /// # Errors
    /// As `write`.
    pub fn set(&self, mark: Mark) -> io::Result<()> {
        let mut open = self.open();
        open.wanted = mark;
        if open.file.is_some() && mark.high_water == open.written.high_water {
            return Ok(());
        }
        open.write()
    }

    /// Overwrites the file if there is something new.
    ///
    /// # Errors
    /// As `write`.
    pub fn write(&self) -> io::Result<()> {
        self.open().write()
    }

    /// Makes the file again if it was removed or replaced.
    ///
    /// # Errors
    /// As `write`.
    pub fn restore(&self) -> io::Result<()> {
        let mut open = self.open();
        let in_place = |(_, identity): &(File, FileIdentity)| {
            FileIdentity::at(&open.path).is_ok_and(|(found, _)| found == *identity)
        };
        if !open.file.as_ref().is_some_and(in_place) {
            open.file = None;
        }
        open.write()
    }

    /// Writes the file and syncs it.
    ///
    /// # Errors
    /// As `write` and `fdatasync`.
    pub fn sync(&self) -> io::Result<()> {
        let mut open = self.open();
        open.write()?;
        open.file.as_ref().map_or(Ok(()), |(file, _)| file.sync_data())
    }

    fn open(&self) -> MutexGuard<'_, OpenMark> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenMark {
    fn write(&mut self) -> io::Result<()> {
        let mark = self.wanted;
        match &self.file {
            Some(_) if mark == self.written => return Ok(()),
            Some((file, _)) => file.write_all_at(&mark.encode(), 0)?,
            None => self.create(&mark)?,
        }
        self.written = mark;
        Ok(())
    }

    fn create(&mut self, mark: &Mark) -> io::Result<()> {
        let new = self.path.with_extension("mark-new");
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        let written = file.write_all_at(&mark.encode(), 0).and_then(|()| file.sync_all());
        let placed = written.and_then(|()| rename_into_place(&new, &self.path));
        placed.inspect_err(|_| drop(fs::remove_file(&new)))?;
        let identity = FileIdentity::of(&file)?;
        self.file = Some((file, identity));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_is_read_as_it_was_written_and_damage_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let journal = directory.path().join("state.log");
        assert_eq!(read(&journal), None);
        let high_water = HighWater { numbers: 1, ids: u64::MAX, epochs: 3 };
        let length = |generation, length| JournalLength { generation, length };
        let mut mark = Mark { high_water, journals: [length(4, 5), length(6, 7)] };
        let file = MarkFile::new(&journal);
        file.set(mark).unwrap();
        assert_eq!(read(&journal), Some(mark));
        mark.journals[1] = JournalLength::default();
        file.set(mark).unwrap();
        file.write().unwrap();
        assert_eq!(read(&journal), Some(mark));
        // Removed, it is made again.
        fs::remove_file(mark_path(&journal)).unwrap();
        file.restore().unwrap();
        assert_eq!(read(&journal), Some(mark));
        let bytes = fs::read(mark_path(&journal)).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert_eq!(Mark::decode(&damaged), None, "byte {at}");
            assert_eq!(Mark::decode(&bytes[..at]), None, "{at} bytes");
        }
    }

    #[test]
    fn a_number_that_rose_is_there_at_once_and_a_length_when_it_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let journal = directory.path().join("state.log");
        let file = MarkFile::new(&journal);
        let mut mark = Mark::default();
        file.set(mark).unwrap();
        for round in 1..10 {
            let before = mark;
            mark.journals[0].length = round;
            file.set(mark).unwrap();
            assert_eq!(read(&journal), Some(before));
            mark.high_water.epochs = round;
            file.set(mark).unwrap();
            assert_eq!(read(&journal), Some(mark));
            mark.journals[0].generation = round;
            file.set(mark).unwrap();
            file.sync().unwrap();
            assert_eq!(read(&journal), Some(mark));
        }
    }
}
