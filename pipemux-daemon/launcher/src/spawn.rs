//! One process: its descriptors, environment and group.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use command_fds::{CommandFdExt, FdMapping};

use crate::message::Spawn;
use crate::sys;

/// The descriptor that an app finds its connection at.
const APP_FD: i32 = 3;

/// Starts the process: its connection as descriptor 3, its log as standard output and error, nothing
/// as standard input, nothing else open.
///
/// # Errors
/// Why it can't be started, in one line.
pub(crate) fn spawn(order: &Spawn, app: OwnedFd, log: OwnedFd) -> Result<Child, String> {
    let errors = log.try_clone().map_err(|error| cannot(&order.command, &error))?;
    let cwd = [&order.cwd, &order.fallback_cwd].into_iter().find(|path| Path::new(path).is_dir());
    let mut command = Command::new(&order.command);
    command
        .args(&order.args)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .env("PIPEMUX_FD", APP_FD.to_string())
        .current_dir(cwd.map_or("/", String::as_str))
        .stdin(Stdio::null())
        .stdout(Stdio::from(log))
        .stderr(Stdio::from(errors))
        .process_group(0);
    sys::die_with_parent(&mut command);
    command
        .fd_mappings(vec![FdMapping { parent_fd: app, child_fd: APP_FD }])
        .map_err(|error| error.to_string())?;
    command.spawn().map_err(|error| cannot(&order.command, &error))
}

fn cannot(command: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("command not found: {command}"),
        io::ErrorKind::PermissionDenied => format!("not executable: {command}"),
        _ => format!("can't start {command}: {error}"),
    }
}
