//! One process's output: read from its pipe, and written to its log with what explains it.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use jiff::Timestamp;
use pipemux_core::{Now, tells_of_denial};
use pipemux_proto::Incarnation;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe::Receiver;

use crate::limits::{DENIAL_SEARCH_MAX, LOG_DATE_MS};
use crate::session_logs::LogWriter;

/// The pipe that a process prints into, and the log that takes what it prints.
#[derive(Debug)]
pub(super) struct OutputPipe {
    /// `None` after its end.
    pub(super) pipe: Option<Receiver>,
    waker: Waker,
    pub(super) writer: LogWriter,
    incarnation: Incarnation,
    /// When the log last said what time it is, on the monotonic clock, and how far the wall clock
    /// is ahead of that.
    dated_at: Option<u64>,
    wall_ahead: u64,
    /// The position in the log at which the process began to print.
    pub(super) since: u64,
    /// True between two turns of a flood.
    pub(super) paused: bool,
    pub(super) resume_at: Option<u64>,
    /// The note for the log if the process prints that an access was refused.
    note: Option<DenialNote>,
}

/// A log line for a confined process that prints that an access was refused.
#[derive(Debug)]
struct DenialNote {
    line: String,
    /// True if the process may use the network.
    network: bool,
    /// The number of bytes of output that are still searched for refusals.
    left: usize,
}

impl OutputPipe {
    /// The pipe of a process that begins to print; its output wakes `waker`.
    pub(super) fn new(
        incarnation: Incarnation,
        pipe: Receiver,
        waker: Waker,
        writer: LogWriter,
        now: Now,
    ) -> Self {
        Self {
            pipe: Some(pipe),
            waker,
            incarnation,
            dated_at: None,
            wall_ahead: now.unix_ms.saturating_sub(now.mono_ms),
            since: writer.end(),
            writer,
            paused: false,
            resume_at: None,
            note: None,
        }
    }

    /// Has a line added once the process prints that something was refused.
    pub(super) fn explain_denials(&mut self, line: String, network: bool) {
        self.note = Some(DenialNote { line, network, left: DENIAL_SEARCH_MAX });
    }

    /// Writes a line that says what time it is and which life of the session prints, unless the
    /// last one is recent: what follows is from then on.
    fn write_date(&mut self, now_ms: u64) {
        let is_recent = |at: u64| now_ms.saturating_sub(at) < LOG_DATE_MS;
        if self.dated_at.is_some_and(is_recent) {
            return;
        }
        let printed_nothing = self.writer.end() == self.since;
        let unix_ms = i64::try_from(self.wall_ahead + now_ms).unwrap_or(i64::MAX);
        let time = Timestamp::from_second(unix_ms / 1000).unwrap_or(Timestamp::MAX);
        let line = format!("[pipemux {time} life {}]", self.incarnation);
        if self.writer.write_line(&line, now_ms) {
            self.dated_at = Some(now_ms);
            if printed_nothing {
                // The process's own words begin after it.
                self.since = self.writer.end();
            }
        }
    }

    /// Writes what was printed, and explains the first line that tells of a refusal; returns
    /// whether the log grew.
    pub(super) fn write(&mut self, bytes: &[u8], now_ms: u64) -> bool {
        self.write_date(now_ms);
        let mut grew = self.writer.write_output(bytes, now_ms);
        let Some(note) = &mut self.note else { return grew };
        let searched = &bytes[..bytes.len().min(note.left)];
        note.left -= searched.len();
        if tells_of_denial(&String::from_utf8_lossy(searched), note.network) {
            let begin = if bytes.ends_with(b"\n") { "" } else { "\n" };
            let line = format!("{begin}pipemux: {}\n", note.line);
            grew |= self.writer.write_output(line.as_bytes(), now_ms);
            self.note = None;
        }
        grew
    }

    /// Returns how many bytes were read; 0 at the end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Poll<usize> {
        let Some(pipe) = &mut self.pipe else { return Poll::Pending };
        let mut buffer = ReadBuf::new(buffer);
        match Pin::new(pipe).poll_read(&mut Context::from_waker(&self.waker), &mut buffer) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(())) => Poll::Ready(buffer.filled().len()),
            // After an error, whatever it is, nothing more can be read.
            Poll::Ready(Err(_)) => Poll::Ready(0),
        }
    }
}
