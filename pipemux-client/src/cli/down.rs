//! `pipemux down`: ends the daemon and waits until it is gone.

use std::thread;
use std::time::{Duration, Instant};

use pipemux_client::blocking::Connection;
use pipemux_client::proto::Fault;
use pipemux_client::proto::client::{Answer, Verb};
use pipemux_client::{ClientError, daemon};
use serde_json::json;

use super::ask::Asker;
use crate::output;

/// How long the daemon may take to end with all its sessions.
const DEADLINE: Duration = Duration::from_secs(15);

/// Ends the daemon, if one runs; returns the exit status.
pub fn carry_out(asker: &Asker) -> Result<u8, ClientError> {
    let deadline = Instant::now() + DEADLINE;
    let paths = &asker.options.paths;
    let recorded = daemon::recorded_socket(paths);
    let sockets = [Some(paths.socket.clone()), recorded];
    let Some(mut connection) = find(asker, deadline)? else {
        return Ok(asker.say("not running", &json!({ "running": false })));
    };
    let answer = match asker.answer(&mut connection, Verb::Down) {
        Ok(answer) => Some(answer),
        // It may end faster than it answers; whether it did is seen below.
        Err(ClientError::Unknown(_)) => None,
        Err(error) => return Err(error),
    };
    if let Some(refusal) = answer.as_ref().filter(|answer| answer.exit != 0) {
        return Ok(asker.deliver(&mut connection, refusal));
    }
    connection.wait_closed(deadline.saturating_duration_since(Instant::now()));
    let gone =
        || !daemon::is_running(paths) && !sockets.iter().flatten().any(|socket| socket.exists());
    if !eventually(deadline, gone) {
        return Err(still_there(asker));
    }
    Ok(say(asker, answer))
}

/// A connection to the daemon; none when no daemon runs.
fn find(asker: &Asker, deadline: Instant) -> Result<Option<Connection>, ClientError> {
    let mut found = Ok(None);
    let settled = eventually(deadline, || {
        found = Connection::find(&asker.options);
        // Who holds the lock but doesn't listen is about to listen, or about to end.
        !matches!(found, Ok(None)) || !daemon::is_running(&asker.options.paths)
    });
    if settled { found } else { Err(still_there(asker)) }
}

fn eventually(deadline: Instant, mut condition: impl FnMut() -> bool) -> bool {
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

fn say(asker: &Asker, answer: Option<Answer>) -> u8 {
    let Some(answer) = answer else {
        return asker.say("down", &json!({ "running": false }));
    };
    match output::out(&output::printed(&answer, asker.global.json)) {
        Ok(_) => answer.exit,
        Err(error) => {
            output::unwritable(&error);
            1
        }
    }
}

fn still_there(asker: &Asker) -> ClientError {
    let paths = &asker.options.paths;
    let message = format!("the daemon is not gone after {} s", DEADLINE.as_secs());
    let fault = Fault::unavailable(message)
        .hint(format!("what it says: {}", paths.log.display()))
        .hint(format!("who holds its lock: fuser {}", paths.lock.display()));
    ClientError::Unreachable(fault)
}
