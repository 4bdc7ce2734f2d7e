//! `logs`: the output of a session, either as it is now or as it grows.

use pipemux_proto::client::Body;
use pipemux_proto::limits::WAIT_MAX_MS;
use pipemux_proto::watch::LogPart;
use pipemux_proto::{Fault, Value};

use crate::clients::client_request::ClientRequest;
use crate::event::{Effect, LogText};
use crate::keys::{RequestId, SessionKey};
use crate::limits::{LOG_LINES_MAX, PROJECT_MS};
use crate::processes::Processes;
use crate::timers::Timer;
use crate::turn::Turn;
use crate::verbs::next::Next;
use crate::verbs::tasks::{LogRead, Task, Tasks};

/// The log lines that `logs` and `trace` request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines {
    /// The maximum number of lines.
    pub lines: u32,
    /// The position after which the lines begin.
    pub after: Option<u64>,
    /// The time to wait for lines, in milliseconds.
    pub wait_ms: u32,
}

/// Has a log read: its last lines, the part after a position, or the part that will be printed
/// next.
pub(crate) fn logs(
    turn: &mut Turn,
    processes: &Processes,
    request: &ClientRequest,
    session: &SessionKey,
    Lines { lines, after, wait_ms }: Lines,
) -> Next {
    let log = processes.log_of(session);
    let now = turn.now.mono_ms;
    let id = request.id;
    let wait_ms = u64::from(wait_ms.min(WAIT_MAX_MS));
    match after.filter(|_| wait_ms > 0) {
        Some(after) => {
            let latest = request.deadline.saturating_sub(PROJECT_MS).max(now);
            let until = (now + wait_ms).min(latest);
            turn.set_timer(until, Timer::Wait(id));
            let lines = LOG_LINES_MAX;
            turn.effects.push(Effect::WatchLog { request: id.0, log, lines, after });
            Next::Wait(Task::Log(LogRead::Watched { after, until }))
        }
        None => {
            let follows = after.is_some() || wait_ms > 0;
            // A client that follows the log may want none of the lines that are there already.
            let min_lines = u32::from(!follows);
            let lines = lines.clamp(min_lines, LOG_LINES_MAX);
            turn.effects.push(Effect::ReadLog { request: id.0, log, lines, after });
            Next::Wait(Task::Log(if follows { LogRead::Part } else { LogRead::Once }))
        }
    }
}

/// Answers with the part of a log that was read.
pub(crate) fn log_read(
    turn: &mut Turn,
    tasks: &Tasks,
    id: RequestId,
    read: Result<LogText, String>,
) -> Option<Result<Next, Fault>> {
    // None: the watch ended, or the request was cancelled, while the text was on its way.
    let Some(Task::Log(log_read)) = tasks.get(id) else { return None };
    if let LogRead::Watched { until, .. } = log_read {
        turn.clear_timer(*until, Timer::Wait(id));
    }
    Some(match (log_read, read) {
        (LogRead::Once, Ok(LogText { text, .. })) if text.is_empty() => {
            Ok(Next::Data("0 lines\n".into(), Value::from("")))
        }
        (LogRead::Once, Ok(LogText { mut text, .. })) => {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            Ok(Next::Data(text.clone(), Value::from(text)))
        }
        (_, Ok(LogText { text, next, missed })) => {
            Ok(Next::Body(Body::Log(LogPart { text, next, missed })))
        }
        (_, Err(why)) => Err(Fault::not_found(format!("no log: {why}"))),
    })
}

/// Ends the watch of a log in which nothing was printed. None when the request watches no log.
pub(crate) fn finish_log_watch(turn: &mut Turn, tasks: &Tasks, id: RequestId) -> Option<Next> {
    let Some(Task::Log(LogRead::Watched { after, until })) = tasks.get(id) else { return None };
    turn.clear_timer(*until, Timer::Wait(id));
    turn.effects.push(Effect::UnwatchLog { request: id.0 });
    Some(Next::Body(Body::Log(LogPart { next: *after, ..LogPart::default() })))
}
