//! Reads and writes files whole, and shows differences.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use pipemux_client::ClientError;
use similar::TextDiff;

/// Longest configuration that is read, in bytes.
const FILE_MAX: u64 = 16 * 1024 * 1024;
/// Lines around a difference.
const CONTEXT: usize = 3;

/// Reads a file; `None` if there is none.
///
/// # Errors
/// It can't be read, is no regular file, is not UTF-8, or is too long.
pub fn read(path: &Path) -> Result<Option<String>, ClientError> {
    let unusable = |why: String| {
        ClientError::invalid(format!("{}: {why}; nothing was written", path.display()))
    };
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(unusable("it is no regular file".to_owned())),
        Ok(found) if found.len() > FILE_MAX => {
            return Err(unusable(format!("it is longer than {FILE_MAX} bytes")));
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(error.to_string())),
    }
    fs::read_to_string(path).map(Some).map_err(|error| unusable(error.to_string()))
}

/// Writes a file whole, or removes it. A link stays a link: the file that it leads to is replaced. Permissions stay.
///
/// # Errors
/// It can't be written; then it is as it was.
pub fn write(path: &Path, text: Option<&str>) -> Result<(), ClientError> {
    let failed = |error: std::io::Error| {
        ClientError::invalid(format!("{} can't be written: {error}", path.display()))
    };
    let Some(text) = text else {
        return match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(error)),
            _ => {
                // The directory was made for this file.
                let _ = path.parent().map(fs::remove_dir);
                Ok(())
            }
        };
    };
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let parent = real.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
    fs::create_dir_all(&parent).map_err(failed)?;
    let mode = fs::metadata(&real).map_or(0o600, |found| found.permissions().mode() & 0o7777);
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let temporary = parent.join(format!(".{name}.pipemux-{}", std::process::id()));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&temporary)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&temporary, &real));
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        failed(error)
    })
}

/// Writes the difference between two texts as a patch.
pub fn difference(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = path.display().to_string();
    let side =
        |text: Option<&str>| if text.is_some() { name.clone() } else { "/dev/null".to_owned() };
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    let mut unified = diff.unified_diff();
    unified.context_radius(CONTEXT).header(&side(before), &side(after)).to_string()
}
