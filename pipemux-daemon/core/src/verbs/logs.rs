//! `logs`: the output of a session, either as it is now or as it grows.

use pipemux_proto::client::{Answer, Body};
use pipemux_proto::limits::WAIT_MAX_MS;
use pipemux_proto::watch::LogPart;
use pipemux_proto::{Fault, SessionAddr, Value};

use crate::Core;
use crate::event::{Effect, LogText};
use crate::keys::RequestId;
use crate::limits::{LOG_LINES_MAX, PROJECT_MS};
use crate::timers::Timer;
use crate::verbs::require;
use crate::verbs::tasks::{LogRead, Task};

impl Core {
    /// Has a log read: its last lines, the part after a position, or the part that will be printed next.
    pub(super) fn logs(
        &mut self,
        id: RequestId,
        addr: &SessionAddr,
        lines: u32,
        after: Option<u64>,
        wait_ms: u32,
    ) -> Result<(), Fault> {
        let key = self.resolve_session(id, addr)?;
        let (_, log) = self.processes.paths(&key);
        let deadline = require::request(&self.clients, id)?.deadline;
        let now = self.turn.now.mono_ms;
        let request = id.0;
        let wait_ms = u64::from(wait_ms.min(WAIT_MAX_MS));
        match after.filter(|_| wait_ms > 0) {
            Some(after) => {
                let latest = deadline.saturating_sub(PROJECT_MS).max(now);
                let until = (now + wait_ms).min(latest);
                self.set_task(id, Task::Log(LogRead::Watched { after, until }));
                self.turn.set_timer(until, Timer::Wait(id));
                let lines = LOG_LINES_MAX;
                self.turn.effects.push(Effect::WatchLog { request, log, lines, after });
            }
            None => {
                let follows = after.is_some() || wait_ms > 0;
                self.set_task(id, Task::Log(if follows { LogRead::Part } else { LogRead::Once }));
                // A client that follows the log may want none of the lines that are there already.
                let min_lines = u32::from(!follows);
                let lines = lines.clamp(min_lines, LOG_LINES_MAX);
                self.turn.effects.push(Effect::ReadLog { request, log, lines, after });
            }
        }
        Ok(())
    }

    /// Answers with the part of a log that was read.
    pub(crate) fn log_read(&mut self, id: RequestId, read: Result<LogText, String>) {
        let Some(Task::Log(log_read)) = self.tasks.get(id) else {
            // The watch ended, or the request was cancelled, while the text was on its way.
            return;
        };
        let log_read = *log_read;
        if let LogRead::Watched { until, .. } = log_read {
            self.turn.clear_timer(until, Timer::Wait(id));
        }
        match (log_read, read) {
            (LogRead::Once, Ok(LogText { text, .. })) if text.is_empty() => {
                self.answer_data(id, "0 lines\n".into(), Value::from(""));
            }
            (LogRead::Once, Ok(LogText { mut text, .. })) => {
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                self.answer_data(id, text.clone(), Value::from(text));
            }
            (_, Ok(LogText { text, next, missed })) => {
                self.answer_log(id, LogPart { text, next, missed });
            }
            (_, Err(why)) => self.fail_request(id, Fault::not_found(format!("no log: {why}"))),
        }
    }

    /// Ends the watch of a log in which nothing was printed. Returns false when the request watches no log.
    pub(super) fn finish_log_watch(&mut self, id: RequestId) -> bool {
        let Some(Task::Log(LogRead::Watched { after, until })) = self.tasks.get(id) else {
            return false;
        };
        let (next, until) = (*after, *until);
        self.turn.clear_timer(until, Timer::Wait(id));
        self.turn.effects.push(Effect::UnwatchLog { request: id.0 });
        self.answer_log(id, LogPart { next, ..LogPart::default() });
        true
    }

    fn answer_log(&mut self, id: RequestId, part: LogPart) {
        self.answer(id, Answer { exit: 0, body: Body::Log(part), delivery: 0, error: false });
    }
}
