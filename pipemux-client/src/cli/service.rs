//! `pipemux service`: has systemd or launchd start the daemon. Nothing needs it; every command starts the daemon.
//!
//! | module | holds |
//! |---|---|
//! | `units` | the texts of the units |
//! | `logs` | what the daemon wrote |
//! | `manager` | the two service managers: their files, their commands, their states |
//!
//! **Invariant: a user's file is never made worse.** Only files that begin with PipeMux's mark are replaced or removed,
//! and everything that is written or run is said.

mod logs;
mod manager;
mod units;

use std::os::unix::fs::symlink;
use std::path::Path;

use pipemux_client::{ClientError, daemon};
use serde_json::json;

use super::args::ServiceVerb;
use super::requester::Requester;
use super::setup::files;
use crate::output;
use manager::{Manager, Unit};

/// Executes one of the verbs of `service`, and returns the exit status.
///
/// # Errors
/// There is no service manager, one of its commands fails, or a file is somebody else's or can't be written.
pub fn execute(requester: &Requester, verb: ServiceVerb) -> Result<u8, ClientError> {
    let manager = Manager::of_this_system(&requester.options)?;
    match verb {
        ServiceVerb::Install { dry_run } => {
            let report =
                install(&manager, dry_run, || daemon::is_running(&requester.options.paths))?;
            Ok(print(&report))
        }
        ServiceVerb::Uninstall { dry_run } => Ok(print(&uninstall(&manager, dry_run)?)),
        ServiceVerb::Status => Ok(status(requester, &manager)),
        ServiceVerb::Logs { lines, follow } => logs::execute(requester, &manager, lines, follow),
        ServiceVerb::Link { socket, remove } => link(requester, &socket, remove),
    }
}

/// A file that differs from what it is to be.
struct Change<'a> {
    unit: &'a Unit,
    before: Option<String>,
}

/// Reads the files; all of them are looked at before the first is written.
fn changes(manager: &Manager, remove: bool) -> Result<Vec<Change<'_>>, ClientError> {
    let mut changes = Vec::new();
    for unit in &manager.units {
        let before = files::read(&unit.path)?;
        if before.as_ref().is_some_and(|text| !manager::is_own(text)) {
            let path = unit.path.display();
            let why = format!("{path} was not written by pipemux: nothing was changed");
            return Err(
                ClientError::invalid(why).hint(format!("move it away: mv {path} {path}.own"))
            );
        }
        let differs = if remove { before.is_some() } else { before.as_ref() != Some(&unit.text) };
        if differs {
            changes.push(Change { unit, before });
        }
    }
    Ok(changes)
}

fn write(changes: &[Change<'_>], remove: bool, dry_run: bool) -> Result<String, ClientError> {
    let mut report = String::new();
    for Change { unit, before } in changes {
        let after = (!remove).then_some(unit.text.as_str());
        report += &files::difference(&unit.path, before.as_deref(), after);
        if !dry_run {
            files::write(&unit.path, after)?;
        }
    }
    Ok(report)
}

fn install(
    manager: &Manager,
    dry_run: bool,
    is_running: impl Fn() -> bool,
) -> Result<String, ClientError> {
    let changes = changes(manager, false)?;
    if !dry_run {
        manager.check_available()?;
        if changes.is_empty() && manager.is_active() {
            return Ok("the service is installed already: nothing changed\n".to_owned());
        }
    }
    // A daemon that a command started has the socket. It is for the user to end it, with its sessions.
    let is_taken = is_running() && !manager.is_active();
    let mut report = write(&changes, false, dry_run)?;
    for command in manager.install_commands(is_taken) {
        report += &run(&command, dry_run)?;
    }
    report += &match (dry_run, is_taken) {
        (true, _) => "nothing was written: that was --dry-run\n".to_owned(),
        (false, true) => format!(
            "installed; a daemon runs already · hand over: pipemux down && {}\n",
            manager.start_command().join(" ")
        ),
        (false, false) => format!(
            "installed; {} · take it back: pipemux service uninstall\n",
            manager.what_happens_next()
        ),
    };
    Ok(report)
}

fn uninstall(manager: &Manager, dry_run: bool) -> Result<String, ClientError> {
    let changes = changes(manager, true)?;
    if changes.is_empty() {
        return Ok("the service is not installed: nothing changed\n".to_owned());
    }
    if !dry_run {
        manager.check_available()?;
    }
    let (before, after) = manager.uninstall_commands();
    let mut report = String::new();
    for command in before {
        report += &run(&command, dry_run)?;
    }
    report += &write(&changes, true, dry_run)?;
    for command in after {
        report += &run(&command, dry_run)?;
    }
    report += match dry_run {
        true => "nothing was removed: that was --dry-run\n",
        false => {
            "removed; its daemon has ended, your data stays · commands start a daemon as before\n"
        }
    };
    Ok(report)
}

/// Runs a command of the service manager, and says so.
fn run(command: &[String], dry_run: bool) -> Result<String, ClientError> {
    let line = command.join(" ");
    if dry_run {
        return Ok(format!("would run: {line}\n"));
    }
    manager::run(command).map_err(|why| {
        manager::refused(format!("`{line}` failed: {why}")).hint("look: pipemux service status")
    })?;
    Ok(format!("ran: {line}\n"))
}

/// Prints whether the service is installed and what runs. Never starts anything.
fn status(requester: &Requester, manager: &Manager) -> u8 {
    let installed = manager.units.iter().all(|unit| unit.path.exists());
    let paths = &requester.options.paths;
    let running = daemon::is_running(paths);
    let daemon = if running { "running" } else { "not running" };
    let data = json!({ "installed": installed, "running": running, "manager": manager.state() });
    let text = match installed {
        false => format!("not installed · daemon {daemon} · install: pipemux service install"),
        true => format!("installed · {} · daemon {daemon} · pipemux service logs", manager.state()),
    };
    requester.print_own(&text, &data)
}

/// Has clients find the socket of a unit that can't name it as they do, or takes that back. A packaged unit does this when
/// it starts and stops listening.
fn link(requester: &Requester, socket: &Path, remove: bool) -> Result<u8, ClientError> {
    let own = &requester.options.paths.socket;
    let failed = |error: std::io::Error| {
        manager::refused(format!("{} can't lead to {}: {error}", own.display(), socket.display()))
    };
    let found = std::fs::symlink_metadata(own).ok();
    let is_link = found.as_ref().is_some_and(std::fs::Metadata::is_symlink);
    if remove {
        return match is_link && std::fs::read_link(own).is_ok_and(|target| target == socket) {
            true => std::fs::remove_file(own).map(|()| 0).map_err(failed),
            false => Ok(0),
        };
    }
    if daemon::is_running(&requester.options.paths) {
        return Err(manager::refused("a daemon runs already, and has the socket".to_owned())
            .hint("hand over: pipemux down && systemctl --user start pipemux.socket"));
    }
    // What a daemon left that was killed.
    if found.is_some() {
        std::fs::remove_file(own).map_err(failed)?;
    }
    let directory = own.parent().map_or(Ok(()), std::fs::create_dir_all);
    directory.and_then(|()| symlink(socket, own)).map(|()| 0).map_err(failed)
}

fn print(text: &str) -> u8 {
    write_out(text.as_bytes())
}

fn write_out(bytes: &[u8]) -> u8 {
    match output::write_stdout(bytes) {
        Ok(_) => 0,
        Err(error) => {
            output::report_write_error(&error);
            1
        }
    }
}
