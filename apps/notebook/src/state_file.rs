//! Writes the small TOML files in a session's state directory.

use std::io::Write;
use std::path::Path;

use docui::Fault;
use serde::Serialize;

/// Writes a value as TOML, replacing the file atomically.
///
/// The file is not synced: after a power cut the previous one may be there, which costs only a search
/// or a folding.
///
/// # Errors
/// The file can't be written. The previous one is unchanged.
pub fn save(value: &impl Serialize, path: &Path) -> Result<(), Fault> {
    let text = toml::to_string(value).map_err(|error| Fault::failed(error.to_string()))?;
    let write = || -> std::io::Result<()> {
        let directory = path.parent().unwrap_or(Path::new("."));
        let mut temporary = tempfile::NamedTempFile::new_in(directory)?;
        temporary.write_all(text.as_bytes())?;
        temporary.persist(path).map(drop).map_err(|error| error.error)
    };
    write().map_err(|error| Fault::failed(format!("{}: {error}", path.display())))
}
