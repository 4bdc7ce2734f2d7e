//! Loads the registered apps: the user's manifests, then those that come with the daemon.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use pipemux_core::{Manifest, ManifestProblem};

use super::built_in;
use super::dirs::ManifestDirs;
use super::parse::read;

/// The valid manifests, and the problems of the others.
#[derive(Debug, Default)]
pub struct LoadedManifests {
    /// The manifests, each id once.
    pub manifests: Vec<Manifest>,
    /// The skipped manifests, with the reasons.
    pub problems: Vec<ManifestProblem>,
}

impl ManifestDirs {
    /// Loads each `*.toml` of the user's directory in the order of their names, then the apps that
    /// come with the daemon. The user's manifest wins over a built-in app of the same id; of two
    /// user's manifests the first wins.
    pub fn load(&self) -> LoadedManifests {
        let mut loaded = LoadedManifests::default();
        for path in self.user.as_deref().map(manifest_files).unwrap_or_default() {
            match read(&path) {
                Ok(manifest) => {
                    let taken = loaded.manifests.iter().any(|other| other.id == manifest.id);
                    if taken {
                        let shown = path.display();
                        let text = format!("{shown}: id `{}` is already taken", manifest.id);
                        loaded.problems.push(problem(&path, text));
                    } else {
                        let shadows = pipemux_catalog::app(manifest.id.as_str()).is_some();
                        loaded.manifests.push(Manifest { shadows, ..manifest });
                    }
                }
                Err(text) => loaded.problems.push(problem(&path, text)),
            }
        }
        for built_in in built_in::manifests(&self.programs) {
            if !loaded.manifests.iter().any(|other| other.id == built_in.id) {
                loaded.manifests.push(built_in);
            }
        }
        loaded.manifests.sort_by(|one, other| one.id.cmp(&other.id));
        loaded
    }
}

/// Returns the problem of a manifest. A file is named after the app that it registers, so its name
/// says which app is missing even if the file can't be read.
fn problem(path: &Path, text: String) -> ManifestProblem {
    let provider = path.file_stem().and_then(|name| name.to_str()?.parse().ok());
    ManifestProblem { provider, text }
}

pub(super) fn manifest_files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension() == Some(OsStr::new("toml")))
        .collect();
    paths.sort();
    paths
}
