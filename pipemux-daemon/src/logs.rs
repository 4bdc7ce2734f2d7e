//! Sessions' logs: written while their processes print, read for whoever asks.
//!
//! A log is a file of a bounded length and the one before it, `<name>.1`. It lies where its app can write
//! too. So it is opened without following links and without waiting, and only a regular file is one: a
//! pipe in its place can't hold the daemon up.
//!
//! | module | holds |
//! |---|---|
//! | `logs` | opening |
//! | `logs::sink` | one log that is written to: rotated, and floods cut |
//! | `logs::reading` | pieces of a log, by line and by position |

mod reading;
mod sink;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

pub use reading::Kept;
pub use sink::Sink;

/// Makes a directory of this user's own, with its parents.
///
/// # Errors
/// As `mkdir`.
pub fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// How many bytes of a log were kept before its present file.
pub fn before(path: &Path) -> u64 {
    let found = fs::symlink_metadata(rotated(path));
    found.map_or(0, |found| if found.is_file() { found.len() } else { 0 })
}

/// Opens a log for appending; gives its length with it.
fn append(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    regular(options.append(true).create(true).mode(0o600), path)
}

fn regular(options: &mut OpenOptions, path: &Path) -> io::Result<(File, u64)> {
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let file = options.custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    match found.is_file() {
        true => Ok((file, found.len())),
        false => Err(io::Error::other(format!("{} is not a regular file", path.display()))),
    }
}

/// Where the file before this one is.
fn rotated(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    name.into()
}

/// The longest beginning that doesn't end within a character. What isn't UTF-8 anyway may be cut anywhere.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    let back = bytes.iter().rev().take(4).position(|byte| byte & 0b1100_0000 != 0b1000_0000);
    let Some(back) = back else { return bytes };
    let at = bytes.len() - 1 - back;
    let length = match bytes[at] {
        0b1100_0000..=0b1101_1111 => 2,
        0b1110_0000..=0b1110_1111 => 3,
        0b1111_0000..=0b1111_0111 => 4,
        _ => 1,
    };
    if back + 1 < length { &bytes[..at] } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_never_cut() {
        let text = "a一🦀é".as_bytes();
        for end in 0..=text.len() {
            let whole = whole_characters(&text[..end]);
            assert!(std::str::from_utf8(whole).is_ok());
            assert!(end - whole.len() < 4);
        }
        assert_eq!(whole_characters(text), text);
        for garbage in [&b"\x80\x80\x80\x80\x80"[..], b"\xff\xfe", b"\xc3\xa9\x80", b""] {
            assert_eq!(whole_characters(garbage), garbage);
        }
        assert_eq!(whole_characters(b"ok\xf0\x9f"), b"ok");
    }
}
