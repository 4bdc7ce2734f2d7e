//! Opens log files, and knows how they are named and where they may be cut.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

/// Returns the length of the file before the present one, in bytes.
pub fn rotated_length(path: &Path) -> u64 {
    let metadata = fs::symlink_metadata(rotated_path(path));
    metadata.map_or(0, |found| if found.is_file() { found.len() } else { 0 })
}

/// Opens a log for appending; returns its length, too.
pub(super) fn open_for_append(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    open_regular(options.read(true).append(true).create(true).mode(0o600), path)
}

/// Returns true unless the last line of a file of that length lacks its end.
pub(super) fn ends_with_line(file: &File, length: u64) -> bool {
    let mut last = [0];
    match length.checked_sub(1) {
        Some(at) => file.read_at(&mut last, at).is_ok_and(|read| read == 1) && last == *b"\n",
        None => true,
    }
}

pub(super) fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<(File, u64)> {
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let file = options.custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    match metadata.is_file() {
        true => Ok((file, metadata.len())),
        false => Err(io::Error::other(format!("{} is not a regular file", path.display()))),
    }
}

/// Returns the path of the file before this one.
pub(super) fn rotated_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    name.into()
}

/// Removes the file before this one, and all but the last bytes of this one; with 0 the file
/// itself. Returns how many bytes at the beginning of this one are gone.
///
/// # Errors
/// As of the file system; a file that isn't there is no error.
pub fn end(path: &Path, kept: u64) -> io::Result<u64> {
    let remove = |path: &Path| match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    remove(&rotated_path(path))?;
    if kept == 0 {
        let length = fs::symlink_metadata(path).map_or(0, |found| found.len());
        return remove(path).map(|()| length);
    }
    let (file, length) = match open_regular(OpenOptions::new().read(true).write(true), path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        opened => opened?,
    };
    let cut = length.saturating_sub(kept);
    if cut > 0 {
        let mut tail = vec![0; (length - cut) as usize];
        file.read_exact_at(&mut tail, cut)?;
        file.set_len(0)?;
        file.write_all_at(&tail, 0)?;
    }
    Ok(cut)
}

/// Returns the longest prefix that doesn't end within a character. What isn't UTF-8 may be cut
/// anywhere.
pub(super) fn trim_partial_character(bytes: &[u8]) -> &[u8] {
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
    fn ended_log_leaves_its_last_bytes_or_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        assert_eq!(end(&path, 0).unwrap(), 0);
        assert_eq!(end(&path, 4).unwrap(), 0);
        fs::write(&path, "0123456789").unwrap();
        fs::write(rotated_path(&path), "earlier").unwrap();
        assert_eq!(end(&path, 4).unwrap(), 6);
        assert_eq!(fs::read_to_string(&path).unwrap(), "6789");
        assert_eq!(end(&path, 4).unwrap(), 0);
        assert_eq!(end(&path, 0).unwrap(), 4);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn partial_character_is_trimmed() {
        let text = "a一🦀é".as_bytes();
        for end in 0..=text.len() {
            let whole = trim_partial_character(&text[..end]);
            assert!(std::str::from_utf8(whole).is_ok());
            assert!(end - whole.len() < 4);
        }
        assert_eq!(trim_partial_character(text), text);
        for garbage in [&b"\x80\x80\x80\x80\x80"[..], b"\xff\xfe", b"\xc3\xa9\x80", b""] {
            assert_eq!(trim_partial_character(garbage), garbage);
        }
        assert_eq!(trim_partial_character(b"ok\xf0\x9f"), b"ok");
    }
}
