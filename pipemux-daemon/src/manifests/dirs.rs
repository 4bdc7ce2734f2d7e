//! The directories of manifests.

use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Default)]
pub struct ManifestDirs {
    /// The directory of the programs that come with the daemon.
    pub programs: PathBuf,
    /// The user's directory of manifests, if it exists.
    pub user: Option<PathBuf>,
}

impl ManifestDirs {
    /// Returns those of a daemon's program; `get` reads a variable of the environment.
    pub fn beside(program: &Path, get: impl Fn(&str) -> Option<String>) -> Self {
        let programs = program.parent().unwrap_or(Path::new("/")).to_owned();
        Self { programs, user: user_directory(get) }
    }

    /// Returns the path of the user's settings, beside the directory of manifests.
    pub fn settings_file(&self) -> Option<PathBuf> {
        self.user.as_ref().map(|apps| apps.with_file_name("config.toml"))
    }
}

/// Returns the user's directory of manifests: `$PIPEMUX_CONFIG_DIR/apps`, else
/// `$XDG_CONFIG_HOME/pipemux/apps`, else `~/.config/pipemux/apps`. An empty or relative variable
/// counts as unset.
pub(super) fn user_directory(get: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("PIPEMUX_CONFIG_DIR")
        .or_else(|| absolute("XDG_CONFIG_HOME").map(|base| base.join("pipemux")))
        .or_else(|| absolute("HOME").map(|home| home.join(".config/pipemux")))?;
    Some(config.join("apps"))
}
