//! `pipemux logs --follow` and `pipemux trace --follow`: print a session's output or its frames as
//! they come, across restarts and log rotation.

use pipemux_client::ClientError;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::SessionAddr;
use pipemux_client::proto::client::{Body, Verb};
use pipemux_client::proto::watch::LogPart;

use super::requester::Requester;
use super::streaming::{Chunk, LONG_POLL_MS, Source, end_with_answer, notice, stream};

/// Prints the last lines and all new output until the user ends it. Returns the exit status.
///
/// # Errors
/// No daemon can be asked, or it doesn't know the session or the verb.
pub fn execute(requester: &Requester, session: SessionAddr, lines: u32) -> Result<u8, ClientError> {
    stream(requester, LogSource { session, lines, after: None, frames: false }, None)
}

/// Prints the newest frames and all that follow until the user ends it. Returns the exit status.
///
/// # Errors
/// As [`execute`].
pub fn trace(requester: &Requester, session: SessionAddr, lines: u32) -> Result<u8, ClientError> {
    stream(requester, LogSource { session, lines, after: None, frames: true }, None)
}

struct LogSource {
    /// True for frames instead of output.
    frames: bool,
    session: SessionAddr,
    lines: u32,
    after: Option<u64>,
}

impl Source for LogSource {
    fn next(
        &mut self,
        requester: &Requester,
        connection: &mut Connection,
    ) -> Result<Chunk, ClientError> {
        let (session, lines, after) = (self.session.clone(), self.lines, self.after);
        let wait_ms = LONG_POLL_MS;
        let verb = match self.frames {
            true => Verb::Trace { session, lines, after, wait_ms },
            false => Verb::Logs { session, lines, after, wait_ms },
        };
        let answer = requester.request_on(connection, verb)?;
        let Body::Log(part) = &answer.body else {
            return end_with_answer(requester, &answer);
        };
        self.after = Some(part.next);
        Ok(Chunk::More(format_part(requester, part)))
    }
}

fn format_part(requester: &Requester, part: &LogPart) -> Vec<u8> {
    let mut out = Vec::new();
    if part.missed > 0 {
        out = notice(requester, "missed", &format!("… {} bytes left out", part.missed));
    }
    if requester.global.json {
        if !part.text.is_empty() {
            out.extend(format!("{}\n", serde_json::json!({ "text": part.text })).bytes());
        }
    } else {
        // Without a line end of our own: a line may continue in the next part.
        out.extend_from_slice(part.text.as_bytes());
    }
    out
}
