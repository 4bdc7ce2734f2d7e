//! `trace`: the frames of a session, as they were and as they come.

use pipemux_proto::client::Body;
use pipemux_proto::limits::WAIT_MAX_MS;
use pipemux_proto::{SessionAddr, Value};

use crate::authoring::Authoring;
use crate::clients::client_request::ClientRequest;
use crate::keys::{RequestId, SessionKey};
use crate::limits::{PROJECT_MS, TRACE_LINES};
use crate::processes::Processes;
use crate::timers::Timer;
use crate::turn::Turn;
use crate::verbs::logs::Lines;
use crate::verbs::next::Next;
use crate::verbs::tasks::{Task, Tasks, TraceWait};

/// Answers with the newest frames of a session, those after a position, or those that come next.
pub(crate) fn trace(
    turn: &mut Turn,
    (authoring, processes): (&mut Authoring, &Processes),
    request: &ClientRequest,
    (session, addr): (SessionKey, &SessionAddr),
    Lines { lines, after, wait_ms }: Lines,
) -> Next {
    let dev = processes.get(&session).is_some_and(|session| session.manifest.dev);
    let begins = authoring.begin_trace(turn, &session, dev);
    let most = usize::try_from(lines).unwrap_or(usize::MAX).min(TRACE_LINES);
    let part = authoring.trace_part(&session, after, most).unwrap_or_default();
    if after.is_none() && wait_ms == 0 {
        let text = match part.text.is_empty() {
            true if begins => format!(
                "{session} is traced from now on; use it, then: pipemux trace {addr} (or watch: pipemux trace {addr} --follow)\n"
            ),
            true => "0 frames\n".to_owned(),
            false => part.text.clone(),
        };
        return Next::Data(text, Value::from(part.text));
    }
    let Some(after) = after.filter(|_| wait_ms > 0 && part.text.is_empty()) else {
        return Next::Body(Body::Log(part));
    };
    let now = turn.now.mono_ms;
    let latest = request.deadline.saturating_sub(PROJECT_MS).max(now);
    let until = (now + u64::from(wait_ms.min(WAIT_MAX_MS))).min(latest);
    turn.set_timer(until, Timer::Wait(request.id));
    Next::Wait(Task::Tracing(TraceWait { session, after, until }))
}

/// Ends a wait for frames once some have arrived or it is `over`. Returns `None` if the request
/// keeps waiting or doesn't wait for frames.
pub(crate) fn finish_trace_wait(
    turn: &mut Turn,
    authoring: &Authoring,
    tasks: &Tasks,
    id: RequestId,
    over: bool,
) -> Option<Next> {
    let Some(Task::Tracing(wait)) = tasks.get(id) else { return None };
    let part = authoring.trace_part(&wait.session, Some(wait.after), TRACE_LINES);
    let part = part.unwrap_or_default();
    if part.text.is_empty() && !over {
        return None;
    }
    turn.clear_timer(wait.until, Timer::Wait(id));
    Some(Next::Body(Body::Log(part)))
}
