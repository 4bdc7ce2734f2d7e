//! PipeMux's own directories, which no command writes to.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::display::in_home;

/// PipeMux's own directories, as the daemon names them.
#[derive(Debug, Clone, Default)]
pub struct OwnDirectories {
    /// That of `config.toml`.
    pub(crate) config: Option<PathBuf>,
    /// All of them.
    pub(crate) all: Vec<PathBuf>,
}

impl OwnDirectories {
    /// Reads them from the environment of this process.
    pub fn of_daemon() -> Self {
        let named = |name: &str| {
            std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let config = named("PIPEMUX_CONFIG_DIR");
        let others = ["PIPEMUX_STATE_DIR", "PIPEMUX_RUNTIME_DIR"].into_iter().filter_map(named);
        Self { all: others.chain(config.clone()).collect(), config }
    }

    /// Returns the person's file with rules, as a person writes it.
    pub fn config_file(&self, env: &BTreeMap<String, String>) -> String {
        let config = self.config.as_deref().map(|config| in_home(&config.join("config.toml"), env));
        config.unwrap_or_else(|| "config.toml".to_owned())
    }
}
