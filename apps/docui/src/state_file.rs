//! Replaces small files in a session's state directory.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use pipemux_proto::Fault;

use crate::regular_file;

/// Writes a file atomically: after a crash it has either its previous content or the new one. Only
/// its user can read it.
///
/// The content is first written to a file beside it, whose name ends in `.new`. Nothing is synced,
/// so after a power cut the previous content may be back. Don't use it for what must not be lost.
///
/// # Errors
/// The file can't be written. Its previous content is unchanged.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), Fault> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let write = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let (mut file, _) = regular_file::open_with(Path::new(&temporary), &mut options)?;
        file.write_all(content)?;
        fs::rename(&temporary, path)
    };
    write().map_err(|error| Fault::failed(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_replaced_and_no_temporary_file_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings");
        replace(&path, b"a longer first text").unwrap();
        replace(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn failure_names_the_file_and_keeps_its_content() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("missing/settings");
        assert!(replace(&missing, b"x").unwrap_err().message.contains("missing/settings"));
        let path = dir.path().join("settings");
        replace(&path, b"first").unwrap();
        fs::create_dir(dir.path().join("settings.new")).unwrap();
        assert!(replace(&path, b"second").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"first");
    }
}
