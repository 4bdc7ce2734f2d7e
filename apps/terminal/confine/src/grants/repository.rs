//! The workspace of a folder, and folders elsewhere that its git repository writes to.

use std::fs;
use std::path::{Path, PathBuf};

use crate::real_path::follow;

/// Largest file of git that is read here, in bytes.
const FILE_MAX: u64 = 1 << 20;

/// Returns the workspace of a folder: the nearest folder above it with `.git`, without links. It is
/// the folder itself if there is none, or if that would be the home directory or one above it.
pub fn workspace_of(folder: &Path, home: Option<&Path>) -> PathBuf {
    let folder = follow(folder).path;
    let home = home.map(|home| follow(home).path);
    let is_wide = |path: &Path| {
        path == Path::new("/") || home.as_deref().is_some_and(|home| home.starts_with(path))
    };
    let mut above = folder.ancestors().take_while(|path| !is_wide(path));
    above.find(|path| path.join(".git").symlink_metadata().is_ok()).unwrap_or(&folder).to_owned()
}

/// Returns the folders outside of a workspace in which git keeps its repository. A file of the
/// workspace names them, so they count only if they name the workspace in turn: nobody can write
/// that who can't write there.
pub(super) fn folders_elsewhere(workspace: &Path) -> Vec<PathBuf> {
    let link = workspace.join(".git");
    let Some(named) = read(&link)
        .and_then(|text| text.strip_prefix("gitdir:").map(|path| path.trim().to_owned()))
    else {
        return Vec::new();
    };
    let own = follow(&workspace.join(named)).path;
    let is_back = |path: &str, from: &Path| follow(&from.join(path)).path == follow(&link).path;
    // A worktree: its own folder has the path of the file that names it, and the way to what all
    // worktrees have in common.
    if read(&own.join("gitdir")).is_some_and(|path| is_back(path.trim(), &own)) {
        let common = read(&own.join("commondir")).map(|path| follow(&own.join(path.trim())).path);
        let is_inside = |common: &PathBuf| own.parent() == Some(&common.join("worktrees"));
        return common.filter(is_inside).into_iter().collect();
    }
    // A submodule, or a repository with a folder elsewhere: its settings have the workspace's path.
    let settings = read(&own.join("config")).unwrap_or_default();
    let mut worktrees = settings.lines().filter_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "worktree").then(|| value.trim().trim_matches('"').to_owned())
    });
    match worktrees.next().is_some_and(|path| follow(&own.join(path)).path == workspace) {
        true => vec![own],
        false => Vec::new(),
    }
}

fn read(path: &Path) -> Option<String> {
    let found = path.symlink_metadata().ok()?;
    match found.is_file() && found.len() <= FILE_MAX {
        true => fs::read_to_string(path).ok(),
        false => None,
    }
}
