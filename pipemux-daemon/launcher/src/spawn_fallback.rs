//! Starts one process where the kernel has no marks: its descriptors, environment and working
//! directory.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use command_fds::{CommandFdExt, FdMapping};

use crate::cgroup::SessionCgroup;
use crate::message::Spawn;
use crate::sys;

/// The descriptor of an app's connection.
const APP_FD: i32 = 3;

/// Starts processes.
#[derive(Debug)]
pub(crate) struct Spawner;

impl Spawner {
    /// Creates a spawner.
    ///
    /// # Errors
    /// Infallible here; fails on Linux.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// Starts the process. Its connection is descriptor 3, or standard input and output; the
    /// remaining standard descriptors are its log, and nothing else is open. Returns its process
    /// id. There is no sandbox here, so nothing is left out of it.
    ///
    /// # Errors
    /// Why it can't be started, in one line.
    pub(crate) fn spawn(
        &mut self,
        order: &Spawn,
        app: OwnedFd,
        log: OwnedFd,
        cgroup: Option<&SessionCgroup>,
    ) -> Result<(i32, Vec<String>), String> {
        let _ = cgroup;
        start(order, app, log).map(|pid| (pid, Vec::new()))
    }

    /// Does nothing: there is nothing to prepare.
    pub(crate) fn prepare_next(&mut self) {}
}

fn start(order: &Spawn, app: OwnedFd, log: OwnedFd) -> Result<i32, String> {
    let duplicate =
        |fd: &OwnedFd| fd.try_clone().map_err(|error| start_error(&order.command, &error));
    let cwd = [&order.cwd, &order.fallback_cwd].into_iter().find(|path| Path::new(path).is_dir());
    let mut command = Command::new(&order.command);
    command
        .args(&order.args)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .current_dir(cwd.map_or("/", String::as_str));
    if order.stdio {
        let input = duplicate(&app)?;
        command.env("PIPEMUX_TRANSPORT", "stdio").stdin(input).stdout(app).stderr(log);
    } else {
        let errors = duplicate(&log)?;
        command
            .env("PIPEMUX_FD", APP_FD.to_string())
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors);
        command
            .fd_mappings(vec![FdMapping { parent_fd: app, child_fd: APP_FD }])
            .map_err(|error| error.to_string())?;
    }
    // After the descriptors are mapped: the limit of open files may be too low for that.
    sys::prepare(&mut command, order.limits, order.mark);
    let child = command.spawn().map_err(|error| start_error(&order.command, &error))?;
    Ok(child.id() as i32)
}

fn start_error(command: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("command not found: {command}"),
        io::ErrorKind::PermissionDenied => format!("not executable: {command}"),
        _ => format!("can't start {command}: {error}"),
    }
}
