//! A daemon and a state of its own, in a temporary directory that is gone in the end.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use pipemux_client::ClientError;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::cannot;
use super::roles::{self, PROVIDER};

/// Set for the process that measures: everything around it is the home's.
const INSIDE: &str = "PIPEMUX_BENCH_INSIDE";

/// True in the process that measures.
pub fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// The directory. Dropping it ends its daemon and removes it.
pub struct Home {
    directory: PathBuf,
    program: PathBuf,
}

impl Home {
    /// An empty home with one app, which answers what it is sent.
    ///
    /// # Errors
    /// It can't be made.
    pub fn new() -> Result<Home, ClientError> {
        let program = std::env::current_exe().map_err(|error| cannot("this program", error))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("pipemux-bench-{}-{:x}", std::process::id(), now.subsec_nanos());
        let directory = std::env::temp_dir().join(name);
        DirBuilder::new()
            .mode(0o700)
            .create(&directory)
            .map_err(|error| cannot("a temporary directory", error))?;
        let home = Home { directory, program };
        home.furnish().map_err(|error| cannot("a temporary directory", error))?;
        Ok(home)
    }

    fn furnish(&self) -> std::io::Result<()> {
        DirBuilder::new().mode(0o700).create(self.directory.join("run"))?;
        let apps = self.directory.join("config/pipemux/apps");
        fs::create_dir_all(&apps)?;
        let program = toml_string(&self.program.to_string_lossy());
        let manifest = format!(
            "id = \"{PROVIDER}\"\ncommand = {program}\nargs = [\"bench\", \"{}\", \"app\"]\n\
             description = \"Answers what it is sent\"\n",
            roles::OPTION
        );
        fs::write(apps.join(format!("{PROVIDER}.toml")), manifest)
    }

    /// Carries out this process's own command line inside of the home; returns its exit status.
    ///
    /// # Errors
    /// It can't be started.
    pub fn run_again(&self) -> Result<u8, ClientError> {
        // An interrupt ends what measures; this process lives on to tidy up.
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            let _ = signal_hook::flag::register(signal, Arc::clone(&interrupted));
        }
        let words = std::env::args_os().skip(1);
        let status = self.command().args(words).env(INSIDE, "1").status();
        let status = status.map_err(|error| cannot("this program", error))?;
        let interrupted = interrupted.load(Ordering::Relaxed);
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(code.unwrap_or(if interrupted { 130 } else { 1 }))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        for name in ["PIPEMUX_WORKSPACE", "PIPEMUX_READER", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"] {
            command.env_remove(name);
        }
        command
            .env("HOME", &self.directory)
            .env("XDG_CONFIG_HOME", self.directory.join("config"))
            .env("PIPEMUX_STATE_DIR", self.directory.join("state"))
            .env("PIPEMUX_RUNTIME_DIR", self.directory.join("run"));
        command
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.command().arg("down").stdout(std::process::Stdio::null()).status();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// A string of TOML: its basic strings escape what JSON's do.
fn toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
