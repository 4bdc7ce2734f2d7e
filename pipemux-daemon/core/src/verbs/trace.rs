//! `trace`: the frames of a session, as they were and as they come.

use pipemux_proto::client::{Answer, Body};
use pipemux_proto::limits::WAIT_MAX_MS;
use pipemux_proto::watch::LogPart;
use pipemux_proto::{Fault, SessionAddr, Value};

use crate::Core;
use crate::keys::RequestId;
use crate::limits::{PROJECT_MS, TRACE_LINES};
use crate::timers::Timer;
use crate::verbs::require;
use crate::verbs::tasks::{Task, TraceWait};

impl Core {
    /// Answers with the newest frames of a session, those after a position, or those that come next.
    pub(super) fn trace(
        &mut self,
        id: RequestId,
        addr: &SessionAddr,
        lines: u32,
        after: Option<u64>,
        wait_ms: u32,
    ) -> Result<(), Fault> {
        let session = self.resolve_session(id, addr)?;
        let dev = self.processes.get(&session).is_some_and(|session| session.manifest.dev);
        let begins = self.authoring.begin_trace(&self.turn, &session, dev);
        let most = usize::try_from(lines).unwrap_or(usize::MAX).min(TRACE_LINES);
        let part = self.authoring.trace_part(&session, after, most).unwrap_or_default();
        if after.is_none() && wait_ms == 0 {
            let text = match part.text.is_empty() {
                true if begins => format!(
                    "{session} is traced from now on; use it, then: pipemux trace {addr} (or watch: pipemux trace {addr} --follow)\n"
                ),
                true => "0 frames\n".to_owned(),
                false => part.text.clone(),
            };
            self.answer_data(id, text, Value::from(part.text));
            return Ok(());
        }
        let Some(after) = after.filter(|_| wait_ms > 0 && part.text.is_empty()) else {
            self.answer_trace(id, part);
            return Ok(());
        };
        let deadline = require::request(&self.clients, id)?.deadline;
        let now = self.turn.now.mono_ms;
        let latest = deadline.saturating_sub(PROJECT_MS).max(now);
        let until = (now + u64::from(wait_ms.min(WAIT_MAX_MS))).min(latest);
        self.set_task(id, Task::Tracing(TraceWait { session, after, until }));
        self.turn.set_timer(until, Timer::Wait(id));
        Ok(())
    }

    /// Answers those who wait for frames that were recorded in this turn.
    pub(crate) fn settle_traces(&mut self) {
        if !self.authoring.take_trace_grew() {
            return;
        }
        for id in self.tasks.requests_with(|task| matches!(task, Task::Tracing(_))) {
            self.finish_trace_wait(id, false);
        }
    }

    /// Ends a wait for frames; while nothing came, only if it is `over`. Returns false when the request waits for none.
    pub(super) fn finish_trace_wait(&mut self, id: RequestId, over: bool) -> bool {
        let Some(Task::Tracing(wait)) = self.tasks.get(id) else { return false };
        let part = self.authoring.trace_part(&wait.session, Some(wait.after), TRACE_LINES);
        let part = part.unwrap_or_default();
        if part.text.is_empty() && !over {
            return true;
        }
        self.turn.clear_timer(wait.until, Timer::Wait(id));
        self.answer_trace(id, part);
        true
    }

    fn answer_trace(&mut self, id: RequestId, part: LogPart) {
        self.answer(id, Answer { exit: 0, body: Body::Log(part), delivery: 0, error: false });
    }
}
