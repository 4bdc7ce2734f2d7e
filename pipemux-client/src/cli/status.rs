//! `pipemux status`: how the daemon is. Asking doesn't start it.

use pipemux_client::ClientError;
use pipemux_client::blocking::Connection;
use pipemux_client::daemon;
use pipemux_client::error::UNREACHABLE;
use pipemux_client::proto::client::Verb;
use serde_json::json;

use super::ask::Asker;

/// Prints the daemon's state, or its bounds; returns the exit status.
pub fn carry_out(asker: &Asker, limits: bool) -> Result<u8, ClientError> {
    let paths = &asker.options.paths;
    let verb = if limits { Verb::Limits } else { Verb::Status };
    if let Some(mut connection) = Connection::find(&asker.options)? {
        let answer = asker.answer(&mut connection, verb)?;
        return Ok(asker.deliver(&mut connection, &answer));
    }
    if !daemon::is_running(paths) {
        let data = json!({ "running": false });
        return Ok(asker.say("not running · start: pipemux up", &data));
    }
    let text = format!(
        "not listening · a daemon holds {}: it is about to listen, or about to end\nwhat it says: {}",
        paths.lock.display(),
        paths.log.display()
    );
    Ok(asker.say(&text, &json!({ "running": true, "listening": false })).max(UNREACHABLE))
}
