//! Opens files that must be regular ones, without ever waiting for something else at their path.
//!
//! A path that the user names may lead to a pipe, a device, a socket or a directory, and may do so
//! only by the time it is opened. Opening or reading a pipe waits for its other end, a terminal
//! waits for keys, and `/dev/zero` never ends. So the kind is checked on what was opened.
//!
//! These functions can still wait for a file system that hangs. What the user names belongs on a
//! thread of its own: see [`crate::blocking`].

use std::fmt;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::thread;

use rustix::fs::OFlags;

use crate::limits::LEASE_RETRY;

/// What is at a path instead of a regular file. It is displayed with its article: `a directory`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherKind {
    /// A directory.
    Directory,
    /// A FIFO, also called a named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device, such as a terminal or a disk.
    Device,
    /// Something else.
    Unknown,
}

impl fmt::Display for OtherKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OtherKind::Directory => "a directory",
            OtherKind::Fifo => "a FIFO",
            OtherKind::Socket => "a socket",
            OtherKind::Device => "a device",
            OtherKind::Unknown => "not a regular file",
        })
    }
}

/// Why a file was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Something else than a regular file is there.
    #[error("it is {0}, expected a file")]
    Kind(OtherKind),
    /// An operating system error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<OpenError> for io::Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Io(error) => error,
            kind @ OpenError::Kind(_) => {
                io::Error::new(io::ErrorKind::InvalidInput, kind.to_string())
            }
        }
    }
}

/// Checks that metadata is that of a regular file.
///
/// # Errors
/// The metadata is that of another kind of file.
pub fn check(metadata: &Metadata) -> Result<(), OtherKind> {
    match metadata.file_type() {
        kind if kind.is_file() => Ok(()),
        kind => Err(other_kind(kind)),
    }
}

fn other_kind(kind: FileType) -> OtherKind {
    if kind.is_dir() {
        OtherKind::Directory
    } else if kind.is_fifo() {
        OtherKind::Fifo
    } else if kind.is_socket() {
        OtherKind::Socket
    } else if kind.is_char_device() || kind.is_block_device() {
        OtherKind::Device
    } else {
        OtherKind::Unknown
    }
}

/// Opens a regular file for reading, and returns it with its metadata.
///
/// While another program holds a lease on the file, this waits as a plain `open` does.
///
/// # Errors
/// There is no file, it isn't a regular one, or it can't be read.
pub fn open(path: &Path) -> Result<(File, Metadata), OpenError> {
    open_with(path, OpenOptions::new().read(true))
}

/// Reads a regular file to its end.
///
/// # Errors
/// As [`open`], or reading fails.
pub fn read(path: &Path) -> Result<Vec<u8>, OpenError> {
    let (mut file, metadata) = open(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a regular file that holds UTF-8.
///
/// # Errors
/// As [`read`], or the file isn't UTF-8.
pub fn read_to_string(path: &Path) -> Result<String, OpenError> {
    String::from_utf8(read(path)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error).into())
}

/// Opens or creates a regular file with these options.
///
/// # Errors
/// As [`open`].
pub fn open_with(path: &Path, options: &mut OpenOptions) -> Result<(File, Metadata), OpenError> {
    // Opening a device can have an effect, so what is visibly something else isn't opened at all.
    // What is opened in spite of this check is checked again.
    if let Ok(metadata) = path.metadata() {
        check(&metadata).map_err(OpenError::Kind)?;
    }
    // With NONBLOCK, opening a pipe doesn't wait for its other end. For a regular file it has no
    // meaning but one: while another program holds a lease on it, opening fails instead of waiting.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed());
    let file = loop {
        match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(LEASE_RETRY),
            opened => break opened?,
        }
    };
    let metadata = file.metadata()?;
    check(&metadata).map_err(OpenError::Kind)?;
    Ok((file, metadata))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").unwrap();
        mknodat(CWD, at("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        symlink("fifo", at("link")).unwrap();
        assert_eq!(read_to_string(&at("file")).unwrap(), "text");
        for (path, kind) in [
            (at("fifo"), OtherKind::Fifo),
            (at("link"), OtherKind::Fifo),
            (at("socket"), OtherKind::Socket),
            (dir.path().to_owned(), OtherKind::Directory),
            ("/dev/null".into(), OtherKind::Device),
            ("/dev/zero".into(), OtherKind::Device),
            ("/dev/tty".into(), OtherKind::Device),
        ] {
            for options in [OpenOptions::new().read(true), OpenOptions::new().write(true)] {
                match open_with(&path, options) {
                    Err(OpenError::Kind(found)) => assert_eq!(found, kind, "{path:?}"),
                    other => panic!("{path:?}: {other:?}"),
                }
            }
        }
        assert!(matches!(open(&at("missing")), Err(OpenError::Io(_))));
    }

    #[test]
    fn pipe_that_takes_the_place_of_a_file_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        // As after the first check: the path is opened without it.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&fifo).unwrap();
        assert_eq!(check(&file.metadata().unwrap()), Err(OtherKind::Fifo));
    }
}
