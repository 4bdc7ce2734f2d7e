//! `pipemux service`: has systemd or launchd start the daemon. Nothing needs it; every command starts the daemon.
//!
//! | module | holds |
//! |---|---|
//! | `units` | the texts of the units |
//! | `manager` | the two service managers: their files, their commands, their states |
//!
//! **Invariant: a user's file is never made worse.** Only files that begin with PipeMux's mark are replaced or removed,
//! and everything that is written or run is said.

mod manager;
mod units;

use std::path::Path;
use std::process::{Command, Stdio};

use pipemux_client::{ClientError, daemon};
use serde_json::json;

use super::args::ServiceVerb;
use super::requester::Requester;
use super::setup::files;
use crate::output;
use manager::{Manager, Unit};

/// Most that is read of the daemon's own log to find its last lines, in bytes.
const LOG_READ_MAX: usize = 256 * 1024;

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
        ServiceVerb::Logs { lines } => logs(requester, &manager, lines),
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

/// Prints the last lines of the log: the journal's where systemd runs the daemon, else those of the daemon's own file.
fn logs(requester: &Requester, manager: &Manager, lines: u32) -> Result<u8, ClientError> {
    if let Some(command) = manager.log_command(lines)
        && let [program, arguments @ ..] = &command[..]
        && let Ok(found) = Command::new(program).args(arguments).stdin(Stdio::null()).output()
        && found.status.success()
    {
        return Ok(write_out(&found.stdout));
    }
    let log = &requester.options.paths.log;
    let text = last_lines(log, lines).map_err(|error| {
        manager::refused(format!("can't read {}: {error}", log.display()))
            .hint("start a daemon: pipemux up")
    })?;
    Ok(write_out(&text))
}

fn last_lines(log: &Path, lines: u32) -> std::io::Result<Vec<u8>> {
    let text = std::fs::read(log)?;
    let tail = &text[text.len().saturating_sub(LOG_READ_MAX)..];
    let all: Vec<&[u8]> = tail.split_inclusive(|byte| *byte == b'\n').collect();
    let lines = usize::try_from(lines).unwrap_or(usize::MAX);
    Ok(all[all.len().saturating_sub(lines)..].concat())
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
