//! `pipemux logs --follow`: what a session prints, as it prints it, across restarts and rotation.

use pipemux_client::ClientError;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::SessionAddr;
use pipemux_client::proto::client::{Body, Verb};
use pipemux_client::proto::watch::LogPart;

use super::ask::Asker;
use super::follow::{Follow, Step, TURN_MS, follow, note, otherwise};

/// Prints the last lines and what follows until somebody ends it; returns the exit status.
///
/// # Errors
/// There is no daemon to ask, or it doesn't know what is asked.
pub fn carry_out(asker: &Asker, session: SessionAddr, lines: u32) -> Result<u8, ClientError> {
    follow(asker, Following { session, lines, after: None })
}

struct Following {
    session: SessionAddr,
    lines: u32,
    after: Option<u64>,
}

impl Follow for Following {
    fn next(&mut self, asker: &Asker, connection: &mut Connection) -> Result<Step, ClientError> {
        let (session, lines, after) = (self.session.clone(), self.lines, self.after);
        let logs = Verb::Logs { session, lines, after, wait_ms: TURN_MS };
        let answer = asker.answer(connection, logs)?;
        let Body::Log(part) = &answer.body else {
            return otherwise(asker, &answer);
        };
        self.after = Some(part.next);
        Ok(Step::Print(shown(asker, part)))
    }
}

fn shown(asker: &Asker, part: &LogPart) -> Vec<u8> {
    let mut out = Vec::new();
    if part.missed > 0 {
        out = note(asker, "missed", &format!("… {} bytes left out", part.missed));
    }
    if asker.global.json {
        if !part.text.is_empty() {
            out.extend(format!("{}\n", serde_json::json!({ "text": part.text })).bytes());
        }
    } else {
        // As it is: a line may go on in the next part.
        out.extend_from_slice(part.text.as_bytes());
    }
    out
}
