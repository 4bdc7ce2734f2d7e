//! Late writes: rescues data that a program writes to a file just after the file was replaced.
//!
//! Whoever opens a file by its path finds it first and opens it then. In between, which takes
//! microseconds unless the system lets somebody else run, another text can take the file's place:
//! then the write goes to a file that has no name any more, and no lease could tell. So a displaced
//! file stays open for a while. What is written to it in that time counts as written right after it
//! was displaced: what was appended is appended to the file at the path, and another text takes its
//! place.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::lease::Lease;
use crate::{Durability, Place, stage};

/// The time for which a displaced file is watched, enough for pending opens to complete.
const WATCHED: Duration = Duration::from_millis(500);
/// Between two looks at a file that is open for writing when its time is over.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest time that a writer may keep the displaced file open.
const WRITER: Duration = Duration::from_secs(60);
/// Watched files; beyond it, what was written to the oldest is passed on before its time is over.
const FILES_MAX: usize = 128;
/// Bytes of the texts of all watched files; beyond it, as for their number.
const BYTES_MAX: usize = 64 << 20;

/// A file that was displaced by a new text.
#[derive(Debug)]
struct Displaced {
    file: File,
    /// The content of the file when it was displaced.
    text: Vec<u8>,
    /// The path that the file had.
    path: PathBuf,
    since: Instant,
}

#[derive(Debug, Default)]
struct Watch {
    files: Vec<Displaced>,
    bytes: usize,
    runs: bool,
}

static WATCH: Mutex<Watch> = Mutex::new(Watch { files: Vec::new(), bytes: 0, runs: false });
static SETTLED: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, Watch> {
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the whole content of a file, by offsets; what is added while it is read may be missing.
/// `None` if it can't be read or is too long to be watched.
pub(crate) fn content(file: &File) -> Option<Vec<u8>> {
    let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
    if length > BYTES_MAX {
        return None;
    }
    let mut bytes = vec![0; length];
    let mut read = 0;
    while read < length {
        match file.read_at(&mut bytes[read..], read as u64).ok()? {
            0 => break,
            more => read += more,
        }
    }
    bytes.truncate(read);
    Some(bytes)
}

/// Watches a file that had this text when it was displaced from a path, if that is known.
pub(crate) fn watch(file: File, text: Option<Vec<u8>>, path: &Path) {
    let Some(text) = text else { return };
    let mut watch = lock();
    watch.bytes += text.len();
    let path = path.to_owned();
    watch.files.push(Displaced { file, text, path, since: Instant::now() });
    let mut oldest = Vec::new();
    while watch.bytes > BYTES_MAX || watch.files.len() > FILES_MAX {
        let one = watch.files.remove(0);
        watch.bytes -= one.text.len();
        oldest.push(one);
    }
    if !watch.runs {
        watch.runs = thread::Builder::new().name("late writes".to_owned()).spawn(run).is_ok();
    }
    drop(watch);
    for one in oldest {
        let _ = one.pass_on();
    }
}

/// Waits until no displaced file is watched any more.
pub fn settle() {
    let mut watch = lock();
    while watch.runs {
        watch = SETTLED.wait(watch).unwrap_or_else(PoisonError::into_inner);
    }
}

fn run() {
    loop {
        let due = {
            let mut watch = lock();
            let now = Instant::now();
            let over = |one: &Displaced| now.duration_since(one.since) >= WATCHED;
            let (due, rest): (Vec<_>, Vec<_>) =
                std::mem::take(&mut watch.files).into_iter().partition(over);
            watch.files = rest;
            watch.bytes = watch.files.iter().map(|one| one.text.len()).sum();
            if due.is_empty() && watch.files.is_empty() {
                watch.runs = false;
                SETTLED.notify_all();
                return;
            }
            due
        };
        for one in due {
            let is_open = Lease::take(&one.file).is_none();
            if is_open && one.since.elapsed() < WRITER {
                let mut watch = lock();
                watch.bytes += one.text.len();
                watch.files.push(one);
                continue;
            }
            // What can't be written now can't be told by anybody either.
            let _ = one.pass_on();
        }
        thread::sleep(PAUSE);
    }
}

impl Displaced {
    /// Passes what was written late on to the file at the path.
    fn pass_on(&self) -> io::Result<()> {
        let now = content(&self.file).filter(|now| *now != self.text);
        let Some(now) = now else { return Ok(()) };
        if let Some(tail) = now.strip_prefix(self.text.as_slice()) {
            let mut file = File::options().append(true).open(&self.path)?;
            return file.write_all(tail);
        }
        fs::symlink_metadata(&self.path)?;
        let write = |out: &mut io::BufWriter<&File>| out.write_all(&now);
        let staged = stage(&self.path, Place::Existing, Durability::Process, write)?;
        staged.publish(&|_| Ok(true)).map(drop).map_err(io::Error::other)
    }
}
