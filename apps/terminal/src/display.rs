//! Formats command lines and paths.

use std::collections::BTreeMap;
use std::path::Path;

use crate::limits::COMMAND_SHOWN;

/// Returns a command line in one line, cut if it is long.
pub fn shortened(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.len() <= COMMAND_SHOWN {
        true => line,
        false => format!("{}…", &line[..line.floor_char_boundary(COMMAND_SHOWN)]),
    }
}

/// Returns a path relative to a directory, if it is below it.
pub fn below<'p>(path: &'p Path, directory: &Path) -> &'p Path {
    path.strip_prefix(directory).unwrap_or(path)
}

/// Returns a path with the home directory as `~`.
pub fn in_home(path: &Path, env: &BTreeMap<String, String>) -> String {
    let below = env.get("HOME").and_then(|home| path.strip_prefix(home).ok());
    below.map_or_else(|| path.display().to_string(), |below| format!("~/{}", below.display()))
}
