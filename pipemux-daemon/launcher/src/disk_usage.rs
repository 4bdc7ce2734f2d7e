//! Measures the disk usage of a directory.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Entries of a directory tree that are counted, at most.
const ENTRIES_MAX: usize = 20_000;
/// The size of a block in the numbers that the file system reports, in bytes.
const BLOCK: u64 = 512;

/// Returns the bytes that a directory takes with all that is in it; of a tree with very many
/// entries, what a part of it takes. Links aren't followed, and other file systems aren't entered.
pub fn disk_usage(directory: &Path) -> u64 {
    let Ok(root) = fs::symlink_metadata(directory) else { return 0 };
    let mut pending: Vec<PathBuf> = vec![directory.to_owned()];
    let (mut total, mut seen, mut linked) = (0, 0, HashSet::new());
    while let Some(directory) = pending.pop() {
        let Ok(entries) = fs::read_dir(directory) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > ENTRIES_MAX {
                return total;
            }
            let Ok(found) = entry.metadata() else { continue };
            if found.dev() != root.dev()
                || found.nlink() > 1 && !found.is_dir() && !linked.insert(found.ino())
            {
                continue;
            }
            total += found.blocks() * BLOCK;
            if found.is_dir() {
                pending.push(entry.path());
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_summed_without_following_links() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        let before = disk_usage(directory.path());
        fs::write(at("sub/file"), vec![1; 1 << 20]).unwrap();
        fs::hard_link(at("sub/file"), at("again")).unwrap();
        std::os::unix::fs::symlink("/usr", at("link")).unwrap();
        let grown = disk_usage(directory.path()) - before;
        assert!((1 << 20..(1 << 20) + 65_536).contains(&grown), "{grown}");
        assert_eq!(disk_usage(Path::new("/no/such/directory")), 0);
    }
}
