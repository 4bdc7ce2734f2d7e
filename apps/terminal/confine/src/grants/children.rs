//! A place that contains something protected is granted child by child.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Places that are granted in all. What is beyond isn't granted.
const PLACES_MAX: usize = 20_000;

/// Adds a place without links to the granted ones, but for what is protected. Returns what of it is
/// left out.
pub(super) fn add(
    place: &Path,
    protected: &BTreeSet<PathBuf>,
    granted: &mut BTreeSet<PathBuf>,
) -> Vec<PathBuf> {
    let mut left_out = Vec::new();
    let mut waiting = vec![place.to_owned()];
    while let Some(place) = waiting.pop() {
        if place.ancestors().any(|above| protected.contains(above)) {
            left_out.push(place);
        } else if !contains_any(&place, protected) {
            if granted.len() < PLACES_MAX {
                granted.insert(place);
            }
        } else {
            // A link has nothing to be written to: where it leads is granted, or not, by what is
            // there.
            let entries = fs::read_dir(&place).into_iter().flatten().flatten();
            let real =
                entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
            waiting.extend(real.map(|entry| entry.path()));
            left_out.extend(missing(&place, protected));
        }
    }
    left_out.sort();
    left_out
}

pub(super) fn contains_any(place: &Path, protected: &BTreeSet<PathBuf>) -> bool {
    // What is below a path comes directly behind it.
    protected.range(place.to_owned()..).next().is_some_and(|first| first.starts_with(place))
}

/// Returns what is protected directly in a folder and is no entry of its own: a link there, or
/// nothing yet.
fn missing(folder: &Path, protected: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let direct = protected.iter().filter(|protected| protected.parent() == Some(folder));
    let is_link = |path: &&PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    direct.filter(is_link).cloned().collect()
}
