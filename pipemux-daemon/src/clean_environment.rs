//! The daemon's own environment, which every process of the same user can read.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use pipemux_proto::environment::is_daemon_variable;

use crate::service_manager;

/// Starts this program again in the same process, with the same arguments and without the variables
/// that a daemon isn't to have, whoever started it. Returns if there are none. Removing a variable
/// would not do: the system goes on showing the environment that a program was started with.
///
/// # Errors
/// The program can't be started again.
pub fn ensure() -> io::Result<()> {
    let is_kept = |name: &str| is_daemon_variable(name) || service_manager::is_variable(name);
    let keep = |name: &OsStr| name.to_str().is_some_and(is_kept);
    if env::vars_os().all(|(name, _)| keep(&name)) {
        return Ok(());
    }
    let mut command = Command::new(env::current_exe()?);
    command.args(env::args_os().skip(1)).env_clear();
    command.envs(env::vars_os().filter(|(name, _)| keep(name)));
    // It only returns when it fails.
    Err(command.exec())
}
