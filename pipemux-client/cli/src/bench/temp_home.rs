//! A temporary home with a daemon and a state directory for the measurement.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use pipemux_client::ClientError;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::error::failed;
use super::roles::{self, PROVIDER};

/// This variable is set for the process that measures, whose environment is the temporary home.
const INSIDE: &str = "PIPEMUX_BENCH_INSIDE";

/// Returns true in the process that measures.
pub fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// The temporary directory. Dropping it ends its daemon and removes the directory.
pub struct TempHome {
    directory: PathBuf,
    program: PathBuf,
}

impl TempHome {
    /// Creates a home in which one app is registered, an echo server.
    ///
    /// # Errors
    /// It can't be created.
    pub fn new() -> Result<TempHome, ClientError> {
        let program = std::env::current_exe().map_err(|error| failed("this program", error))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("pipemux-bench-{}-{:x}", std::process::id(), now.subsec_nanos());
        let directory = std::env::temp_dir().join(name);
        DirBuilder::new()
            .mode(0o700)
            .create(&directory)
            .map_err(|error| failed("a temporary directory", error))?;
        let home = TempHome { directory, program };
        home.write_files().map_err(|error| failed("a temporary directory", error))?;
        Ok(home)
    }

    fn write_files(&self) -> std::io::Result<()> {
        DirBuilder::new().mode(0o700).create(self.directory.join("run"))?;
        let apps = self.directory.join("config/pipemux/apps");
        fs::create_dir_all(&apps)?;
        let program = toml_string(&self.program.to_string_lossy());
        let manifest = format!(
            "id = \"{PROVIDER}\"\ncommand = {program}\nargs = [\"bench\", \"{}\", \"app\"]\n\
             description = \"Echoes what it receives\"\n",
            roles::ROLE_OPTION
        );
        fs::write(apps.join(format!("{PROVIDER}.toml")), manifest)
    }

    /// Runs this process's own command line inside the home. Returns its exit status.
    ///
    /// # Errors
    /// The process can't be started.
    pub fn run_again(&self) -> Result<u8, ClientError> {
        // An interrupt ends the process that measures. This process survives it, to clean up.
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            let _ = signal_hook::flag::register(signal, Arc::clone(&interrupted));
        }
        let words = std::env::args_os().skip(1);
        let status = self.command().args(words).env(INSIDE, "1").status();
        let status = status.map_err(|error| failed("this program", error))?;
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

impl Drop for TempHome {
    fn drop(&mut self) {
        let _ = self.command().arg("down").stdout(std::process::Stdio::null()).status();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Quotes a TOML string: TOML's basic strings have the escapes of JSON.
fn toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
