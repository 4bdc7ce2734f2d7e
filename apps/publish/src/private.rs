//! PipeMux's own directories, in which no app may change files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, io};

/// The variables by which the daemon names its directories to the apps that come with it: state,
/// socket, settings.
const NAMES: [&str; 3] = ["PIPEMUX_STATE_DIR", "PIPEMUX_RUNTIME_DIR", "PIPEMUX_CONFIG_DIR"];

/// The file in these directories whose link target is protected, too.
const SETTINGS: &str = "config.toml";

/// Refuses to change what is at a path in one of PipeMux's own directories, or one of these, by
/// whatever links it is named.
///
/// A sandbox can take nothing out of a folder that it grants, so a grant of the home directory
/// contains the person's rules for agents. An agent that could change them would be bound by none.
///
/// # Errors
/// It is such a path.
pub fn refuse(path: &Path) -> io::Result<()> {
    let named = NAMES.into_iter().filter_map(env::var_os).map(PathBuf::from);
    // The settings may be a link to a file elsewhere, such as one of a repository of such files.
    let linked = |one: PathBuf| [one.join(SETTINGS), one];
    match named.filter(|one| one.is_absolute()).flat_map(linked).any(|one| concerns(path, &one)) {
        true => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "no app changes files in PipeMux's own directories; a person does, with an editor of their own",
        )),
        false => Ok(()),
    }
}

/// Returns true if a path, without following a last link, is in a directory or contains it.
fn concerns(path: &Path, directory: &Path) -> bool {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let resolved =
        real(parent.unwrap_or(Path::new("."))).join(path.file_name().unwrap_or(OsStr::new("")));
    [directory.to_owned(), real(directory)]
        .iter()
        .any(|directory| resolved.starts_with(directory) || directory.starts_with(&resolved))
}

/// Returns the path without links, resolved as far as it exists.
fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|one| Some((one, one.canonicalize().ok()?)));
    match found {
        Some((known, real)) => real.join(path.strip_prefix(known).unwrap_or(Path::new(""))),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn path_is_found_in_a_directory_by_whatever_links_it_is_named() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let own = root.join("home/.config/pipemux");
        fs::create_dir_all(own.join("apps")).unwrap();
        fs::create_dir_all(root.join("project/deep")).unwrap();
        fs::write(own.join("config.toml"), "").unwrap();
        symlink(&own, root.join("project/link")).unwrap();
        symlink(root.join("home"), root.join("project/home")).unwrap();
        symlink(own.join("config.toml"), root.join("project/file")).unwrap();
        let concerned = [
            "home/.config/pipemux/config.toml",
            "home/.config/pipemux/apps/new/deep.toml",
            "home/.config/pipemux",
            "home/.config",
            "project/link/config.toml",
            "project/home/.config/pipemux/x",
            "project/deep/../link/apps/x",
        ];
        for path in concerned {
            assert!(concerns(&root.join(path), &own), "{path}");
            assert!(concerns(&root.join(path), &root.join("project/link")), "{path}");
        }
        // A link in the project is the project's own, wherever it leads.
        for path in
            ["home/.config/pipemux2/x", "home/x", "project/file", "project/link", "project/deep/x"]
        {
            assert!(!concerns(&root.join(path), &own), "{path}");
        }
    }
}
