//! Sessions' logs: opened for their processes, read for their readers.
//!
//! A log lies where its app can write too. So it is opened without following links and without waiting,
//! and only a regular file is one: a pipe in its place can't hold the daemon up.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

/// Makes a directory of this user's own, with its parents.
///
/// # Errors
/// As `mkdir`.
pub fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens a log for appending; one that is longer than `max` bytes becomes `<name>.1` first, in place of
/// the one before.
///
/// # Errors
/// As `open`; something that isn't a regular file.
pub fn open(path: &Path, max: u64) -> io::Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.len() > max) {
        fs::rename(path, rotated(path))?;
    }
    let mut options = OpenOptions::new();
    regular(options.append(true).create(true).mode(0o600), path)
}

/// The last lines of a file, at most so many and from at most so many of its last bytes; a line that
/// begins before these is left out. Bytes that aren't UTF-8 are replaced.
///
/// # Errors
/// As `open` and `read`; something that isn't a regular file.
pub fn tail(path: &Path, lines: usize, bytes: u64) -> io::Result<String> {
    let mut file = regular(OpenOptions::new().read(true), path)?;
    let start = file.metadata()?.len().saturating_sub(bytes);
    // One byte more tells whether a line begins at `start`.
    let from = start.saturating_sub(1);
    file.seek(SeekFrom::Start(from))?;
    let mut read = Vec::new();
    file.take(bytes + 1).read_to_end(&mut read)?;
    let mut text = &read[..];
    if start > 0 {
        let next = text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| at + 1);
        text = &text[next..];
    }
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let mut ends = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    let first = match lines {
        0 => text.len(),
        _ => ends.nth(lines - 1).map_or(0, |(at, _)| at + 1),
    };
    Ok(String::from_utf8_lossy(&text[first..]).into_owned())
}

fn regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let file = options.custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other(format!("{} is not a regular file", path.display()))),
    }
}

fn rotated(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn tail_of(content: &[u8], lines: usize, bytes: u64) -> String {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        fs::write(&path, content).unwrap();
        tail(&path, lines, bytes).unwrap()
    }

    #[test]
    fn the_last_lines_are_whole_lines() {
        let content = "一\r\ntwo\n\n🦀 four\nfive".as_bytes();
        assert_eq!(tail_of(content, 1, 100), "five");
        assert_eq!(tail_of(content, 2, 100), "🦀 four\nfive");
        assert_eq!(tail_of(content, 3, 100), "\n🦀 four\nfive");
        assert_eq!(tail_of(content, 99, 100), "一\r\ntwo\n\n🦀 four\nfive");
        assert_eq!(tail_of(content, 99, 5), "five");
        assert_eq!(tail_of(content, 99, 4), "five");
        assert_eq!(tail_of(content, 99, 3), "");
        assert_eq!(tail_of(content, 0, 100), "");
        assert_eq!(tail_of(b"", 5, 100), "");
        assert_eq!(tail_of(b"\n", 5, 100), "\n");
        assert_eq!(tail_of(b"a\nb\n", 1, 100), "b\n");
        assert_eq!(tail_of(b"\xff\xfe\nok\n", 5, 100), "\u{fffd}\u{fffd}\nok\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn a_tail_is_the_end_of_the_file_and_within_its_bounds(
            content in "[ab\n]{0,60}", lines in 0usize..8, bytes in 0u64..40,
        ) {
            let found = tail_of(content.as_bytes(), lines, bytes);
            prop_assert!(content.ends_with(&found));
            prop_assert!(found.len() as u64 <= bytes);
            prop_assert!(found.lines().count() <= lines);
            let before = &content[..content.len() - found.len()];
            prop_assert!(before.is_empty() || found.is_empty() || before.ends_with('\n'));
            // One line more would have passed a bound.
            let all = content.lines().count() <= lines && content.len() as u64 <= bytes;
            prop_assert!(!all || found == content);
        }
    }

    #[test]
    fn a_long_log_is_rotated_when_it_is_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        writeln!(open(&path, 10).unwrap(), "first, and long").unwrap();
        writeln!(open(&path, 10).unwrap(), "second").unwrap();
        writeln!(open(&path, 10).unwrap(), "third").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second\nthird\n");
        assert_eq!(fs::read_to_string(rotated(&path)).unwrap(), "first, and long\n");
    }

    #[test]
    fn a_pipe_or_link_in_place_of_a_log_is_an_error_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(tail(&pipe, 5, 100).is_err());
        assert!(open(&pipe, 100).is_err());
        let link = directory.path().join("link");
        fs::write(directory.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink("secret", &link).unwrap();
        assert!(tail(&link, 5, 100).is_err());
        assert!(open(&link, 100).is_err());
    }
}
