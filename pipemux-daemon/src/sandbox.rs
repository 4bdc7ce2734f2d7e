//! Turns what an app is confined to into what the launcher enforces.

use pipemux_core::Confinement;
use pipemux_launcher::{Clash, Grant, Sandbox};
use pipemux_proto::paths::Paths;

use crate::manifests::ManifestDirs;

/// Returns the directories that no sandbox grants: the daemon's state, its socket, and the user's manifests.
pub fn private_directories(paths: &Paths, manifests: &ManifestDirs) -> Vec<String> {
    let config = manifests.user.as_deref().and_then(|apps| apps.parent());
    let all = [Some(paths.state_dir.as_path()), Some(paths.runtime_dir.as_path()), config];
    all.into_iter().flatten().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Returns the sandbox of a process whose session has this state directory.
pub fn sandbox_of(confinement: &Confinement, state_dir: &str, private: &[String]) -> Sandbox {
    let clash = if confinement.whole { Clash::Whole } else { Clash::Refuse };
    let write = confinement.write_folders;
    let folder = |path: &String| Grant { path: path.clone(), write, clash, around: false };
    let named = |path: &String| Grant { around: true, ..folder(path) };
    let mut grants = vec![Grant::own(state_dir)];
    grants.extend(confinement.folders.iter().map(folder));
    grants.extend(confinement.paths.iter().map(named));
    grants.extend(confinement.read.iter().map(Grant::read));
    grants.extend(confinement.write.iter().map(Grant::write));
    Sandbox {
        strict: confinement.strict,
        files: confinement.files,
        grants,
        private: private.to_vec(),
        network: confinement.network,
        exec: confinement.exec,
        signals: confinement.signals,
        watch: confinement.watch,
    }
}
