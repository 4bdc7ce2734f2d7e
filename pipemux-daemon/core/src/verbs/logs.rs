//! `logs`: what a session printed, once or as it is printed.

use pipemux_proto::client::{Answer, Body};
use pipemux_proto::limits::WAIT_MAX_MS;
use pipemux_proto::watch::LogPart;
use pipemux_proto::{Fault, SessionAddr, Value};

use crate::Core;
use crate::event::{Effect, LogText};
use crate::keys::RequestId;
use crate::limits::{LOG_LINES_MAX, PROJECT_MS};
use crate::timers::Timer;
use crate::verbs::tasks::Task;

/// A log that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogRead {
    /// Its last lines, as text.
    Once,
    /// A part of it, by who follows it.
    Part,
    /// What will be printed after that position, until that time.
    Watched {
        /// The position.
        after: u64,
        /// The time.
        until: u64,
    },
}

impl Core {
    pub(super) fn logs(
        &mut self,
        job: RequestId,
        addr: &SessionAddr,
        lines: u32,
        after: Option<u64>,
        wait_ms: u32,
    ) {
        let Some(key) = self.find_session(job, addr) else { return };
        let (_, log) = self.processes.paths(&key);
        let Some(found) = self.clients.request(job) else { return };
        let now = self.turn.now.mono_ms;
        let request = job.0;
        let wanted = u64::from(wait_ms.min(WAIT_MAX_MS));
        match after.filter(|_| wanted > 0) {
            Some(after) => {
                let latest = found.deadline.saturating_sub(PROJECT_MS).max(now);
                let until = (now + wanted).min(latest);
                self.set_task(job, Task::Log(LogRead::Watched { after, until }));
                self.turn.set_timer(until, Timer::Wait(job));
                let lines = LOG_LINES_MAX;
                self.turn.effects.push(Effect::WatchLog { request, log, lines, after });
            }
            None => {
                let follows = after.is_some() || wanted > 0;
                let read = if follows { LogRead::Part } else { LogRead::Once };
                self.set_task(job, Task::Log(read));
                // Who follows may want only what is printed from now on.
                let least = u32::from(!follows);
                let lines = lines.clamp(least, LOG_LINES_MAX);
                self.turn.effects.push(Effect::ReadLog { request, log, lines, after });
            }
        }
    }

    /// A log was read.
    pub(crate) fn log_read(&mut self, job: RequestId, read: Result<LogText, String>) {
        let Some(Task::Log(reading)) = self.tasks.get(job) else {
            return;
        };
        let reading = *reading;
        if let LogRead::Watched { until, .. } = reading {
            self.turn.clear_timer(until, Timer::Wait(job));
        }
        match (reading, read) {
            (LogRead::Once, Ok(LogText { text, .. })) if text.is_empty() => {
                self.answer_data(job, "0 lines\n".into(), Value::from(""));
            }
            (LogRead::Once, Ok(LogText { mut text, .. })) => {
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                self.answer_data(job, text.clone(), Value::from(text));
            }
            (_, Ok(LogText { text, next, missed })) => {
                self.answer_log(job, LogPart { text, next, missed });
            }
            (_, Err(why)) => self.fail_request(job, Fault::not_found(format!("no log: {why}"))),
        }
    }

    /// Nothing was printed in time. False when no log is waited for.
    pub(super) fn log_quiet(&mut self, job: RequestId) -> bool {
        let Some(Task::Log(LogRead::Watched { after, until })) = self.tasks.get(job) else {
            return false;
        };
        let (next, until) = (*after, *until);
        self.turn.clear_timer(until, Timer::Wait(job));
        self.turn.effects.push(Effect::UnwatchLog { request: job.0 });
        self.answer_log(job, LogPart { next, ..LogPart::default() });
        true
    }

    fn answer_log(&mut self, job: RequestId, part: LogPart) {
        self.answer(job, Answer { exit: 0, body: Body::Log(part), delivery: 0 });
    }
}
