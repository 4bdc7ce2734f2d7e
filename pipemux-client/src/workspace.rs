//! How a directory is mapped to a workspace.

use std::path::Path;

use pipemux_proto::client::Workspace;

/// The name of the workspace outside of any project, and of the reader when none is named.
pub const DEFAULT: &str = "default";

/// Returns the workspace of the given name, else of the project root around `directory`, else
/// [`DEFAULT`]. The project root is the nearest ancestor with a `.git`.
///
/// `directory` must not contain symbolic links, so that a project has one workspace however it is
/// reached. The current directory that the system returns has none; a path from elsewhere must be
/// resolved first ([`Path::canonicalize`]).
pub fn find(given: Option<&str>, directory: Option<&Path>) -> Workspace {
    match given.filter(|name| !name.is_empty()) {
        Some(name) => from_key(name),
        None => {
            directory.and_then(project_root).map_or_else(|| from_key(DEFAULT), |key| from_key(&key))
        }
    }
}

/// Makes the workspace with this key. Its display name is the key's last path component.
fn from_key(key: &str) -> Workspace {
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
    fn nearest_project_root_is_the_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let inner = base.join("outer/vendor/inner");
        fs::create_dir_all(base.join("outer/.git")).unwrap();
        fs::create_dir_all(inner.join("src/深い")).unwrap();
        // The `.git` of a worktree or submodule is a file.
        fs::write(inner.join(".git"), "gitdir: elsewhere").unwrap();

        let found = find(None, Some(&inner.join("src/深い")));
        assert_eq!((found.key.as_str(), found.name.as_str()), (inner.to_str().unwrap(), "inner"));
        assert_eq!(find(None, Some(&base.join("outer/vendor"))).name, "outer");
    }

    #[test]
    fn given_name_takes_precedence_and_default_is_the_fallback() {
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
