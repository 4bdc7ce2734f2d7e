//! The directories of manifests.

use std::path::PathBuf;

use super::load::{LoadedManifests, load};

/// The directories of manifests.
#[derive(Debug, Clone, Default)]
pub struct ManifestDirs {
    /// The directory of the programs that come with the daemon.
    pub programs: PathBuf,
    /// The user's directory of manifests, if there is one.
    pub user: Option<PathBuf>,
}

impl ManifestDirs {
    /// Returns the path of the user's settings, beside the directory of manifests.
    pub fn settings_file(&self) -> Option<PathBuf> {
        self.user.as_ref().map(|apps| apps.with_file_name("config.toml"))
    }

    /// Loads the registered apps.
    pub fn load(&self) -> LoadedManifests {
        load(&self.programs, self.user.as_deref())
    }
}

/// Returns the user's directory of manifests: `$PIPEMUX_CONFIG_DIR/apps`, else
/// `$XDG_CONFIG_HOME/pipemux/apps`, else `~/.config/pipemux/apps`. An empty or relative variable counts as
/// unset.
pub fn user_directory(get: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("PIPEMUX_CONFIG_DIR")
        .or_else(|| absolute("XDG_CONFIG_HOME").map(|base| base.join("pipemux")))
        .or_else(|| absolute("HOME").map(|home| home.join(".config/pipemux")))?;
    Some(config.join("apps"))
}
