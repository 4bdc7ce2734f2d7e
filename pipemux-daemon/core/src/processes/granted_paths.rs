//! The folders and paths that a session's opens grant its process.

use crate::keys::SessionKey;
use crate::persist::records::SavedOpen;

/// Characters that make a part of a path a pattern.
const PATTERN: &[char] = &['*', '?', '[', '{'];

/// Returns the folders for which opens were made: the workspace's project if it contains the
/// caller's directory, otherwise that directory.
pub(super) fn folders_of(key: &SessionKey, opens: &[SavedOpen]) -> Vec<String> {
    let project = key.workspace.as_deref().filter(|owner| owner.starts_with('/'));
    let mut folders: Vec<String> = Vec::new();
    for open in opens.iter().filter(|open| open.cwd.starts_with('/')) {
        let folder = match project {
            Some(project) if is_within(&open.cwd, project) => normalized("/", project),
            _ => normalized("/", &open.cwd),
        };
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// The absolute paths that opens name, and those that were granted additionally.
pub(super) fn named_paths(opens: &[SavedOpen]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for open in opens {
        let args = open.args.iter().filter(|arg| !arg.starts_with('-') && !arg.is_empty());
        let named = args.map(|arg| normalized(&open.cwd, arg)).filter(|path| is_nameable(path));
        paths.extend(named.chain(open.granted.iter().cloned()));
    }
    paths
}

/// Returns false for device files and the kernel's process and system files, which only a manifest
/// can grant.
pub(super) fn is_nameable(path: &str) -> bool {
    !["/dev", "/proc", "/sys"].iter().any(|kernel| is_within(path, kernel))
}

/// The path without `.`, `..` and doubled slashes, up to the first part that is a pattern; `base`
/// is where a relative one begins.
pub fn normalized(base: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let base = if path.starts_with('/') { "" } else { base };
    for part in base.split('/').chain(path.split('/').take_while(|part| !part.contains(PATTERN))) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// True for a path that is `folder` or lies in it; both are normalized.
pub(super) fn is_within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalized_without_looking_at_the_disk() {
        assert_eq!(normalized("/a/b", "c/./d"), "/a/b/c/d");
        assert_eq!(normalized("/a/b", "../../../x"), "/x");
        assert_eq!(normalized("/a/b", "/etc//passwd"), "/etc/passwd");
        assert_eq!(normalized("/a", "src/*.rs"), "/a/src");
        assert_eq!(normalized("/a", "**/x"), "/a");
        assert!(is_within("/a/b", "/a") && is_within("/a", "/a") && is_within("/a", "/"));
        assert!(!is_within("/ab", "/a") && !is_within("/", "/a"));
    }
}
