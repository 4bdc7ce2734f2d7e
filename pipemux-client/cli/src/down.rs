//! `pipemux down`: ends the daemon and waits until it is gone.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use pipemux_client::blocking::Connection;
use pipemux_client::proto::Fault;
use pipemux_client::proto::client::{Answer, Verb};
use pipemux_client::service_unit::{SERVICE_UNIT, SOCKET_UNIT, holds_socket, log_hint};
use pipemux_client::{ClientError, daemon};
use pipemux_proto::deadline;
use serde_json::json;

use super::requester::Requester;
use crate::output;

/// The time the daemon has to end with all its sessions, unless the command line sets one.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The notice that clients don't start the daemon while it is held down.
const STAYS: &str = "stays down until: pipemux up";

/// Ends the daemon, if one runs, and returns the exit status. With `stay`, no client starts it
/// before [`start_again`].
pub fn execute(requester: &Requester, stay: bool) -> Result<u8, ClientError> {
    let deadline = deadline::after(time_limit(requester));
    let paths = &requester.options.paths;
    if stay {
        if holds_socket(paths) {
            let why = "systemd starts the daemon for each client: nothing was ended";
            let stop = format!("systemctl --user stop {SOCKET_UNIT} {SERVICE_UNIT}");
            return Err(ClientError::Refused(Fault::refused(why).hint(stop)));
        }
        // Before the daemon ends, so that nobody starts it in between.
        daemon::stay_down(paths).map_err(|error| not_written(requester, &error))?;
    }
    let Some(mut connection) = connect(requester, deadline)? else {
        let text = if stay { format!("not running · {STAYS}") } else { "not running".to_owned() };
        return Ok(requester.print_own(&text, &json!({ "running": false, "stays_down": stay })));
    };
    let lock = lock_identity(&paths.lock);
    let answer = match requester.request_on(&mut connection, Verb::Down) {
        Ok(answer) => Some(answer),
        // The daemon may end before its answer is out; the checks below tell whether it has ended.
        Err(ClientError::OutcomeUnknown(_)) => None,
        Err(error) => return Err(error),
    };
    if let Some(refusal) = answer.as_ref().filter(|answer| answer.exit != 0) {
        return Ok(requester.print_and_confirm(&mut connection, refusal));
    }
    connection.wait_closed(deadline.saturating_duration_since(Instant::now()));
    // The daemon releases its lock last. A service manager may have started another one for a
    // client that came meanwhile.
    let gone = || !daemon::is_running(paths) || lock_identity(&paths.lock) != lock;
    if !wait_until(deadline, gone) {
        return Err(still_running(requester));
    }
    // What was ended leads nowhere any more, and is missed by nobody: it may have been the daemon
    // of this machine whose state directory somebody removed.
    let _ = std::fs::remove_file(paths.elsewhere_file());
    if requester.global.json
        && let Some(answer) = answer
    {
        return Ok(print_data(&answer));
    }
    let next = match stay {
        true => STAYS,
        false => "the next call starts it again; to keep it down: pipemux down --stay",
    };
    let data = json!({ "running": false, "stays_down": stay });
    Ok(requester.print_own(&format!("down · {next}"), &data))
}

/// Has clients start the daemon again.
///
/// # Errors
/// The state directory can't be written to.
pub fn start_again(requester: &Requester) -> Result<(), ClientError> {
    daemon::start_again(&requester.options.paths).map_err(|error| not_written(requester, &error))
}

fn not_written(requester: &Requester, error: &std::io::Error) -> ClientError {
    let file = requester.options.paths.stopped_file();
    ClientError::invalid(format!("can't write {}: {error}", file.display()))
}

/// Returns what tells a daemon's lock from the next daemon's: each makes the file itself.
fn lock_identity(lock: &Path) -> Option<(u64, i64, i64)> {
    let found = lock.metadata().ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec()))
}

/// Connects to the daemon; returns `None` when no daemon runs.
fn connect(requester: &Requester, deadline: Instant) -> Result<Option<Connection>, ClientError> {
    let mut found = Ok(None);
    let settled = wait_until(deadline, || {
        found = Connection::open_existing(&requester.options);
        // A daemon that holds the lock and doesn't listen is about to listen, or about to end.
        !matches!(found, Ok(None)) || !daemon::is_running(&requester.options.paths)
    });
    if settled { found } else { Err(still_running(requester)) }
}

fn wait_until(deadline: Instant, mut condition: impl FnMut() -> bool) -> bool {
    let mut pause = Duration::from_millis(1);
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

fn print_data(answer: &Answer) -> u8 {
    match output::write_stdout(&output::format_answer(answer, true)) {
        Ok(_) => answer.exit,
        Err(error) => {
            output::report_write_error(&error);
            1
        }
    }
}

fn time_limit(requester: &Requester) -> Duration {
    requester.global.timeout.unwrap_or(TIMEOUT)
}

fn still_running(requester: &Requester) -> ClientError {
    let paths = &requester.options.paths;
    let seconds = time_limit(requester).as_secs_f64();
    let message = format!("the daemon is still running after {seconds} s");
    let fault = Fault::unavailable(message)
        .hint(log_hint(paths))
        .hint(format!("find the process that holds its lock: fuser {}", paths.lock.display()));
    ClientError::Unreachable(fault)
}
