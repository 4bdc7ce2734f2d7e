//! `pipemux service`: has systemd or launchd start the daemon. Nothing needs it; every command
//! starts the daemon.
//!
//! | module | holds |
//! |---|---|
//! | `units` | the texts of the units |
//! | `logs` | what the daemon wrote |
//! | `manager` | the two service managers: their files, their commands, their states |
//!
//! **Invariant: a user's file is never made worse.** Only files that begin with PipeMux's mark are
//! replaced or removed, and everything that is written or run is said.

mod logs;
mod manager;
mod units;

use std::os::unix::fs::symlink;
use std::path::Path;

use pipemux_client::{ClientError, daemon};
use serde_json::json;

use super::args::ServiceVerb;
use super::changes::Changes;
use super::requester::Requester;
use super::setup::files;
use crate::output;
use manager::{Manager, Unit};

/// Executes one of the verbs of `service`, and returns the exit status.
///
/// # Errors
/// There is no service manager, one of its commands fails, or a file is somebody else's or can't be
/// written.
pub fn execute(requester: &Requester, verb: ServiceVerb) -> Result<u8, ClientError> {
    let manager = Manager::of_this_system(&requester.options)?;
    match verb {
        ServiceVerb::Install { dry_run } => {
            let (changes, said) =
                install(&manager, dry_run, || daemon::is_running(&requester.options.paths))?;
            Ok(changes.print(requester, &said))
        }
        ServiceVerb::Uninstall { dry_run } => {
            let (changes, said) = uninstall(&manager, dry_run)?;
            Ok(changes.print(requester, &said))
        }
        ServiceVerb::Status => Ok(status(requester, &manager)),
        ServiceVerb::Logs { lines, follow } => logs::execute(requester, &manager, lines, follow),
        ServiceVerb::Link { socket, remove } => link(requester, &socket, remove),
    }
}

/// A file that differs from its intended contents.
struct Difference<'a> {
    unit: &'a Unit,
    before: Option<String>,
}

/// Reads the files; all of them are looked at before the first is written.
fn differences(manager: &Manager, remove: bool) -> Result<Vec<Difference<'_>>, ClientError> {
    let mut found = Vec::new();
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
            found.push(Difference { unit, before });
        }
    }
    Ok(found)
}

/// Writes or removes files, and says so.
fn write(
    report: &mut Changes,
    differences: &[Difference<'_>],
    remove: bool,
    dry_run: bool,
) -> Result<(), ClientError> {
    for Difference { unit, before } in differences {
        let after = (!remove).then_some(unit.text.as_str());
        report.file(&unit.path, &files::difference(&unit.path, before.as_deref(), after));
        if !dry_run {
            files::write(&unit.path, after)?;
        }
    }
    Ok(())
}

fn install(
    manager: &Manager,
    dry_run: bool,
    is_running: impl Fn() -> bool,
) -> Result<(Changes, String), ClientError> {
    let mut report = Changes::new(dry_run);
    let differences = differences(manager, false)?;
    if !dry_run {
        manager.check_available()?;
        if differences.is_empty() && manager.is_active() {
            return Ok((report, "the service is installed already: nothing changed".to_owned()));
        }
    }
    // A daemon that a command started has the socket. It is for the user to end it, with its
    // sessions.
    let is_taken = is_running() && !manager.is_active();
    write(&mut report, &differences, false, dry_run)?;
    for command in manager.install_commands(is_taken) {
        run(&mut report, &command, dry_run)?;
    }
    let said = match (dry_run, is_taken) {
        (true, _) => "nothing was written: that was --dry-run".to_owned(),
        (false, true) => format!(
            "installed; a daemon runs already · hand over: pipemux down && {}",
            manager.start_command().join(" ")
        ),
        (false, false) => format!(
            "installed; {} · take it back: pipemux service uninstall",
            manager.what_happens_next()
        ),
    };
    Ok((report, said))
}

fn uninstall(manager: &Manager, dry_run: bool) -> Result<(Changes, String), ClientError> {
    let mut report = Changes::new(dry_run);
    let differences = differences(manager, true)?;
    if differences.is_empty() {
        return Ok((report, "the service is not installed: nothing changed".to_owned()));
    }
    if !dry_run {
        manager.check_available()?;
    }
    let (before, after) = manager.uninstall_commands();
    for command in before {
        run(&mut report, &command, dry_run)?;
    }
    write(&mut report, &differences, true, dry_run)?;
    for command in after {
        run(&mut report, &command, dry_run)?;
    }
    let said = match dry_run {
        true => "nothing was removed: that was --dry-run",
        false => {
            "removed; its daemon has ended, your data stays · commands start a daemon as before"
        }
    };
    Ok((report, said.to_owned()))
}

/// Runs a command of the service manager, and says so.
fn run(report: &mut Changes, command: &[String], dry_run: bool) -> Result<(), ClientError> {
    let line = command.join(" ");
    if !dry_run {
        manager::run(command).map_err(|why| {
            manager::refused(format!("`{line}` failed: {why}")).hint("look: pipemux service status")
        })?;
    }
    report.command(line);
    Ok(())
}

/// Prints whether the service is installed and what runs. Never starts anything.
fn status(requester: &Requester, manager: &Manager) -> u8 {
    let installed = manager.units.iter().all(|unit| unit.path.exists());
    let paths = &requester.options.paths;
    let running = daemon::is_running(paths);
    let daemon = if running { "running" } else { "not running" };
    let data = json!({ "installed": installed, "running": running, "manager": manager.state() });
    let text = match installed {
        false => {
            let next = match manager.check_available() {
                Ok(()) => "install: pipemux service install".to_owned(),
                Err(error) => error.fault().message.clone(),
            };
            format!("not installed · daemon {daemon} · {next}")
        }
        true => format!("installed · {} · daemon {daemon} · pipemux service logs", manager.state()),
    };
    requester.print_own(&text, &data)
}

/// Has clients find the socket of a unit that can't name it as they do, or takes that back. A
/// packaged unit does this when it starts and stops listening.
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

fn write_out(bytes: &[u8]) -> u8 {
    match output::write_stdout(bytes) {
        Ok(_) => 0,
        Err(error) => {
            output::report_write_error(&error);
            1
        }
    }
}
