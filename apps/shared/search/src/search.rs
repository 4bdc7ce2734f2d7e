//! The search of many files, on several threads.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustix::fs::{Mode, OFlags};

use crate::candidates::{CandidateLines, FirstLook};
use crate::counts::{Counts, LeftOut};
use crate::files::threads;
use crate::limits::{BINARY_HEAD, FILE_MAX, READ_MORE, WHOLE_MAX};
use crate::pattern::{Matches, Pattern, Scan};

/// The texts of files that are searched instead of those on disk.
pub type Overlay = BTreeMap<PathBuf, Arc<str>>;

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchResults {
    /// The files with matches, also with those only that the filters left out, in the order of
    /// their paths.
    pub files: Vec<FileCounts>,
    /// The number of files that were searched.
    pub searched: u64,
    /// Files that weren't searched, in the order of their paths.
    pub skipped: Vec<Skipped>,
}

/// The numbers of matches in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCounts {
    pub path: PathBuf,
    /// The matches that pass the filters.
    pub counts: Counts,
    /// The matches that the filters left out.
    pub left: LeftOut,
}

/// A file that wasn't searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub path: PathBuf,
    /// The reason why the file wasn't searched.
    pub why: SkipReason,
}

/// The reason why a file wasn't searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// The file has a NUL byte.
    Binary,
    /// The file isn't UTF-8. Reported only for files whose bytes have a match.
    NotUtf8,
    /// The file is longer than [`FILE_MAX`].
    TooLong,
    /// The file is not a regular file.
    NotAFile,
    /// The file can't be read.
    Unreadable(io::ErrorKind),
}

impl SearchResults {
    /// Counts the matches of all files.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.files.iter().for_each(|file| counts.add(file.counts));
        counts
    }
}

/// Searches files, which are in order. The files of `overlay` have its texts.
pub fn search(pattern: &Pattern, files: &[PathBuf], overlay: &Overlay) -> SearchResults {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    let work = || {
        let (mut reader, mut own) = (FileReader::default(), Vec::new());
        let pattern = pattern.clone();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = files.get(index) else { break };
            let searched = match overlay.get(path) {
                Some(text) => Ok(pattern.search(path, text)),
                None => reader.search(&pattern, path),
            };
            match searched {
                Ok(found) if found == Matches::default() => {}
                other => own.push((index, other)),
            }
        }
        if let Ok(mut all) = all.lock() {
            all.append(&mut own);
        }
    };
    let threads = threads().min(files.len()).max(1);
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut all = all.into_inner().unwrap_or_default();
    all.sort_by_key(|(index, _)| *index);
    let mut found = SearchResults { searched: files.len() as u64, ..SearchResults::default() };
    for (index, searched) in all {
        let path = files[index].clone();
        match searched {
            Ok(matches) => {
                let counts = matches.counts();
                found.files.push(FileCounts { path, counts, left: matches.left });
            }
            Err(why) => {
                found.searched -= 1;
                found.skipped.push(Skipped { path, why });
            }
        }
    }
    found
}

/// Reads and searches one file after the other.
#[derive(Default)]
struct FileReader {
    /// The buffer, at least as long as the longest file so far.
    bytes: Vec<u8>,
    /// The length of the file's content in the buffer.
    length: usize,
    lines: CandidateLines,
}

impl FileReader {
    fn search(&mut self, pattern: &Pattern, path: &Path) -> Result<Matches, SkipReason> {
        let unreadable = |error: io::Error| SkipReason::Unreadable(error.kind());
        // Opening a pipe would wait for its other end.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut file = File::from(
            rustix::fs::open(path, flags, Mode::empty())
                .map_err(|error| unreadable(error.into()))?,
        );
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(SkipReason::NotAFile);
        }
        if metadata.len() > FILE_MAX {
            return Err(SkipReason::TooLong);
        }
        let streams = !pattern.is_multi_line() && !pattern.candidates().line_ends;
        if streams && metadata.len() > WHOLE_MAX {
            // A long file is read in pieces that stay in the processor's cache: most have no match.
            match self.lines.first_look(pattern.candidates(), &file).map_err(unreadable)? {
                FirstLook::Nothing => return Ok(Matches::default()),
                FirstLook::Binary => return Err(SkipReason::Binary),
                FirstLook::Candidate => file.rewind().map_err(unreadable)?,
            }
        }
        self.read(&mut file, metadata.len()).map_err(unreadable)?;
        if self.bytes.len() as u64 > FILE_MAX {
            return Err(SkipReason::TooLong);
        }
        self.search_bytes(pattern, path)
    }

    /// Reads the whole file into the buffer, and one byte more than the limit of a file that grows.
    fn read(&mut self, file: &mut File, length: u64) -> io::Result<()> {
        // The last read must find room, in which it reads nothing.
        let mut room = length as usize + 1;
        let mut filled = 0;
        loop {
            if self.bytes.len() < room {
                self.bytes.resize(room, 0);
            }
            match file.read(&mut self.bytes[filled..room]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if filled as u64 > FILE_MAX {
                break;
            }
            if filled == room {
                room += READ_MORE;
            }
        }
        self.length = filled;
        Ok(())
    }

    fn search_bytes(&mut self, pattern: &Pattern, path: &Path) -> Result<Matches, SkipReason> {
        let bytes = &self.bytes[..self.length];
        if memchr::memchr(0, &bytes[..bytes.len().min(BINARY_HEAD)]).is_some() {
            return Err(SkipReason::Binary);
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if pattern.is_multi_line() {
            return match text(bytes) {
                Ok(text) => Ok(pattern.search(path, text)),
                // Nobody misses a file without a match.
                Err(SkipReason::NotUtf8) => {
                    let found = pattern.search(path, &String::from_utf8_lossy(bytes));
                    match found == Matches::default() {
                        true => Ok(found),
                        false => Err(SkipReason::NotUtf8),
                    }
                }
                Err(why) => Err(why),
            };
        }
        // Only of files with a match it must be known that they are texts.
        let mut scan: Option<Scan<'_>> = None;
        let mut failed = None;
        self.lines.each(pattern.candidates(), bytes, |line, range| {
            if scan.is_none() {
                match text(bytes) {
                    Ok(text) => scan = Some(Scan::new(pattern, path, text)),
                    Err(why) => failed = Some(why),
                }
            }
            match &mut scan {
                Some(scan) => {
                    scan.region(range, line);
                    true
                }
                None => false,
            }
        });
        match failed {
            Some(why) => Err(why),
            None => Ok(scan.map(|scan| scan.matches).unwrap_or_default()),
        }
    }
}

fn text(bytes: &[u8]) -> Result<&str, SkipReason> {
    if memchr::memchr(0, bytes).is_some() {
        return Err(SkipReason::Binary);
    }
    std::str::from_utf8(bytes).map_err(|_| SkipReason::NotUtf8)
}
