//! Resolves a path, and lists the links on the way.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Links that are followed, as the kernel does.
const LINKS_MAX: usize = 40;

/// The real path of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RealPath {
    /// The resolved path. Missing parts follow the last folder that exists.
    pub path: PathBuf,
    /// The links on the way, each at its own real path: who could write there could have the path
    /// lead elsewhere.
    pub links: Vec<PathBuf>,
    /// True if it exists.
    pub exists: bool,
}

/// Follows a path. One that can't be followed to its end is taken to be as it is written from there
/// on.
pub fn follow(path: &Path) -> RealPath {
    let parts = |path: &Path| -> Vec<OsString> {
        let part = |component: Component<'_>| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        };
        path.components().filter_map(part).collect()
    };
    let mut left: VecDeque<OsString> = parts(path).into();
    let mut real = RealPath { path: "/".into(), links: Vec::new(), exists: true };
    while let Some(part) = left.pop_front() {
        if part == ".." {
            real.path.pop();
            continue;
        }
        real.path.push(&part);
        let target = match fs::symlink_metadata(&real.path) {
            Ok(found) if found.is_symlink() && real.links.len() < LINKS_MAX => {
                fs::read_link(&real.path).ok()
            }
            Ok(found) if found.is_symlink() => None,
            Ok(_) => continue,
            Err(_) => None,
        };
        let Some(target) = target else {
            real.exists = false;
            continue;
        };
        real.links.push(real.path.clone());
        match target.is_absolute() {
            true => real.path = "/".into(),
            false => drop(real.path.pop()),
        }
        for part in parts(&target).into_iter().rev() {
            left.push_front(part);
        }
    }
    real
}

/// Opens what is at a path without links, to name it in a rule. A link that was put on the way
/// meanwhile isn't followed.
///
/// # Errors
/// It can't be opened, or there is a link on the way.
#[cfg(target_os = "linux")]
pub fn open(path: &Path) -> std::io::Result<std::os::fd::OwnedFd> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_on_the_way_are_followed_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        symlink("a", root.join("one")).unwrap();
        symlink(root.join("one/b"), root.join("two")).unwrap();
        let real = follow(&root.join("two/x/../y"));
        assert_eq!(real.path, root.join("a/b/y"));
        assert_eq!(real.links, [root.join("two"), root.join("one")]);
        assert!(!real.exists);
        assert!(follow(&root.join("two")).exists);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn path_with_a_link_is_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        symlink("a", root.join("one")).unwrap();
        assert!(open(&root.join("a/b")).is_ok());
        assert!(open(&root.join("one/b")).is_err());
        assert!(open(&root.join("one")).is_err());
    }

    #[test]
    fn rings_of_links_end() {
        let dir = tempfile::tempdir().unwrap();
        symlink("ring", dir.path().join("ring")).unwrap();
        assert!(!follow(&dir.path().join("ring/x")).exists);
    }
}
