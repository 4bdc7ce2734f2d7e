//! Turns what an app is confined to into what the launcher enforces.

use pipemux_core::Confinement;
use pipemux_launcher::{Clash, Grant, Sandbox};
use pipemux_proto::paths::Paths;

use crate::manifests::ManifestDirs;

/// The directories that no sandbox grants: the daemon's state, its socket, and the user's settings
/// with the manifests.
#[derive(Debug, Clone)]
pub struct PrivateDirectories {
    names: Vec<&'static str>,
    paths: Vec<String>,
}

impl PrivateDirectories {
    /// Returns those of a daemon.
    pub fn new(paths: &Paths, manifests: &ManifestDirs) -> Self {
        let config = manifests.user.as_deref().and_then(|apps| apps.parent());
        let all = [
            ("PIPEMUX_STATE_DIR", Some(paths.state_dir.as_path())),
            ("PIPEMUX_RUNTIME_DIR", Some(paths.runtime_dir.as_path())),
            ("PIPEMUX_CONFIG_DIR", config),
        ];
        let known = all
            .into_iter()
            .filter_map(|(name, path)| Some((name, path?.to_string_lossy().into_owned())));
        let (names, paths) = known.unzip();
        Self { names, paths }
    }

    /// Returns their paths.
    pub fn all(&self) -> &[String] {
        &self.paths
    }

    /// Returns their paths with the variables that name them to an app.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.names.iter().copied().zip(self.paths.iter().map(String::as_str))
    }
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
        forbidden: confinement.forbidden.clone(),
        network: confinement.network,
        exec: confinement.exec,
        signals: confinement.signals,
        watch: confinement.watch,
    }
}
