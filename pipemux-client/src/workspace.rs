//! How a directory becomes a workspace.

use std::path::Path;

use pipemux_proto::client::Workspace;

/// The name of the workspace outside of any project, and of the reader that nobody named.
pub const DEFAULT: &str = "default";

/// Finds the workspace that is meant: the given name, else the project root around `directory`, else
/// [`DEFAULT`]. The project root is the nearest ancestor with a `.git`. The directory has to be named without
/// links, as the system names the current one (POSIX, `getcwd`), for the same project is the same desk, whichever
/// link led to it: one from elsewhere is to be resolved first ([`Path::canonicalize`]).
pub fn find(given: Option<&str>, directory: Option<&Path>) -> Workspace {
    match given.filter(|name| !name.is_empty()) {
        Some(name) => named(name),
        None => directory.and_then(project_root).map_or_else(|| named(DEFAULT), |key| named(&key)),
    }
}

/// A workspace by its key; what is shown is the key's last path component.
fn named(key: &str) -> Workspace {
    let last = Path::new(key).file_name().and_then(|name| name.to_str());
    Workspace { key: key.to_owned(), name: last.unwrap_or(key).to_owned() }
}

fn project_root(directory: &Path) -> Option<String> {
    let root = directory.ancestors().find(|ancestor| ancestor.join(".git").exists())?;
    Some(root.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_nearest_project_root_is_the_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let inner = base.join("outer/vendor/inner");
        fs::create_dir_all(base.join("outer/.git")).unwrap();
        fs::create_dir_all(inner.join("src/深い")).unwrap();
        // A worktree's or submodule's `.git` is a file.
        fs::write(inner.join(".git"), "gitdir: elsewhere").unwrap();

        let found = find(None, Some(&inner.join("src/深い")));
        assert_eq!((found.key.as_str(), found.name.as_str()), (inner.to_str().unwrap(), "inner"));
        assert_eq!(find(None, Some(&base.join("outer/vendor"))).name, "outer");
    }

    #[test]
    fn a_given_name_wins_and_nothing_is_the_default() {
        let here = std::env::current_dir().unwrap();
        let found = find(Some("demo"), Some(&here));
        assert_eq!((found.key.as_str(), found.name.as_str()), ("demo", "demo"));
        let found = find(Some("/home/ann/parser"), None);
        assert_eq!((found.key.as_str(), found.name.as_str()), ("/home/ann/parser", "parser"));
        assert_eq!(find(Some("/"), None).name, "/");
        assert_eq!(find(None, None).key, DEFAULT);
        assert_eq!(find(Some(""), None).key, DEFAULT);
        assert_eq!(find(None, Some(Path::new("/nowhere/at/all"))).key, DEFAULT);
    }
}
