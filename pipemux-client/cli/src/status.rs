//! `pipemux status`. It never starts the daemon.

use pipemux_client::ClientError;
use pipemux_client::blocking::Connection;
use pipemux_client::daemon;
use pipemux_client::error::UNREACHABLE;
use pipemux_client::proto::client::Verb;
use pipemux_client::service_unit::log_hint;
use serde_json::json;

use super::requester::Requester;

/// Prints the daemon's status, or its limits. Returns the exit status.
pub fn execute(requester: &Requester, limits: bool) -> Result<u8, ClientError> {
    let paths = &requester.options.paths;
    let verb = if limits { Verb::Limits } else { Verb::Status };
    if let Some(mut connection) = Connection::open_existing(&requester.options)? {
        let answer = requester.request_on(&mut connection, verb)?;
        return Ok(requester.print_and_confirm(&mut connection, &answer));
    }
    if !daemon::is_running(paths) {
        let (stays, why) = match daemon::stays_down(paths) {
            true => (true, "not running: a person stopped it"),
            false => (false, "not running"),
        };
        let data = json!({ "running": false, "stays_down": stays });
        return Ok(requester.print_own(&format!("{why} · start: pipemux up"), &data));
    }
    let text = format!(
        "not listening · a daemon holds {}: it is about to listen, or about to end\n{}",
        paths.lock.display(),
        log_hint(paths)
    );
    let data = json!({ "running": true, "listening": false });
    Ok(requester.print_own_error(&text, &data).max(UNREACHABLE))
}
