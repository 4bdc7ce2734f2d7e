//! Tools for authors of apps: the frames of a session (`pipemux trace`), and what is wrong with
//! them.
//!
//! | module | what it does |
//! |---|---|
//! | [`trace`] | keeps the newest frames of a session, decoded and without secrets |
//! | [`author_aid`] | finds what an author who works on an app (`dev = true`) should mend |
//! | [`lint`] | the rules that single messages are checked against, also by `pipemux app check` |
//!
//! [`Authoring`] observes sessions from outside. **Invariant: a session lives the same life whether
//! it is observed or not**, apart from the notices that its author gets.

pub mod author_aid;
pub mod lint;
pub mod trace;

use std::collections::BTreeMap;

use pipemux_proto::watch::LogPart;
use pipemux_proto::{Frame, Incarnation};

use crate::event::Effect;
use crate::keys::SessionKey;
use crate::processes::Processes;
use crate::processes::frames::{handle_frame, handle_session_frame, receivers};
use crate::turn::Turn;
use author_aid::AuthorAid;
use trace::{Direction, Trace, time_of_day};

/// Bytes of a frame before its envelope.
const PREFIX: usize = 4;

/// The state of the sessions that somebody observes.
#[derive(Debug, Default)]
pub struct Authoring {
    traces: BTreeMap<SessionKey, Trace>,
    /// Consulted only while the session is traced, which one with `dev = true` always is.
    aids: BTreeMap<SessionKey, AuthorAid>,
    /// True when frames were recorded since [`Authoring::take_trace_grew`] was called last.
    trace_grew: bool,
}

impl Authoring {
    /// Starts or extends the trace of a session; with `dev`, when the author works on the app, the
    /// trace has no end. Returns true if the session wasn't traced before.
    pub fn begin_trace(&mut self, turn: &Turn, key: &SessionKey, dev: bool) -> bool {
        let begins = !self.traces.contains_key(key);
        self.traces.entry(key.clone()).or_default().prolong(turn.now, dev);
        begins
    }

    /// Handles the start of a session's process; `dev` is true if the author works on the app.
    pub fn process_starting(&mut self, turn: &Turn, key: &SessionKey, dev: bool) {
        self.aids.remove(key);
        if dev {
            self.aids.insert(key.clone(), AuthorAid::default());
            self.begin_trace(turn, key, dev);
        }
    }

    /// Forgets a session that was removed.
    pub fn forget(&mut self, key: &SessionKey) {
        self.traces.remove(key);
        self.aids.remove(key);
    }

    /// Returns the newest frames of a session, or those after a position; none when it isn't
    /// traced.
    pub fn trace_part(&self, key: &SessionKey, after: Option<u64>, most: usize) -> Option<LogPart> {
        Some(self.traces.get(key)?.part(after, most))
    }

    /// Returns whether frames were recorded since this was asked last.
    pub fn take_trace_grew(&mut self) -> bool {
        std::mem::take(&mut self.trace_grew)
    }

    /// Has a frame of a process handled by the sessions that it is for, and observes it.
    pub fn receive(
        &mut self,
        turn: &mut Turn,
        processes: &mut Processes,
        process: Incarnation,
        frame: Frame,
    ) {
        if self.traces.is_empty() {
            return handle_frame(turn, processes, process, frame);
        }
        for app in receivers(processes, process, &frame) {
            let traced = processes
                .incarnations()
                .session_of(app)
                .filter(|key| self.traces.contains_key(*key));
            let Some(key) = traced.cloned() else {
                let _ = handle_session_frame(turn, processes, app, frame.clone());
                continue;
            };
            // Before the frame is handled, so that the answer that follows from it brings the
            // notice.
            self.check_frame(turn, processes, &key, &frame);
            let dropped = handle_session_frame(turn, processes, app, frame.clone()).err();
            if let Some(why) = &dropped {
                let text = format!("{:?} was dropped: {why}", frame.envelope.method);
                if self.aids.get_mut(&key).is_some_and(|aid| aid.is_new(&text)) {
                    tell_author(turn, processes, &key, app, &text);
                }
            }
            let direction = Direction::FromApp;
            self.record(turn, processes, &key, direction, &frame, dropped.as_deref());
        }
    }

    /// Observes what this turn sends to apps, while each frame still names its session.
    pub fn observe_sent(&mut self, turn: &Turn, processes: &Processes) {
        if self.traces.is_empty() {
            return;
        }
        for effect in &turn.effects {
            let Effect::ToApp { app, bytes } = effect else { continue };
            let key = processes
                .incarnations()
                .session_of(*app)
                .filter(|key| self.traces.contains_key(*key));
            let Some(key) = key else { continue };
            let Ok(frame) = Frame::from_payload(bytes.slice(PREFIX.min(bytes.len())..)) else {
                continue;
            };
            if let Some(aid) = self.aids.get_mut(key) {
                aid.sent(turn.mono_ms(), &frame);
            }
            self.record(turn, processes, key, Direction::ToApp, &frame, None);
        }
    }

    /// Tells the author of an app what is wrong with a frame that it sent, if somebody works on it.
    fn check_frame(
        &mut self,
        turn: &mut Turn,
        processes: &mut Processes,
        key: &SessionKey,
        frame: &Frame,
    ) {
        let Some(aid) = self.aids.get_mut(key) else { return };
        let Some(prototypes) = processes.actions_of(key) else { return };
        for text in aid.received(turn.mono_ms(), frame, &prototypes) {
            tell_author(turn, processes, key, frame.envelope.incarnation, &text);
        }
    }

    /// Records a frame of a traced session, and why it was `dropped` if it was.
    fn record(
        &mut self,
        turn: &Turn,
        processes: &Processes,
        key: &SessionKey,
        direction: Direction,
        frame: &Frame,
        dropped: Option<&str>,
    ) {
        let Some(trace) = self.traces.get_mut(key) else { return };
        let Some(session) = processes.get(key) else { return };
        if trace.is_over(turn.now) {
            self.traces.remove(key);
            return;
        }
        trace.record(turn.now, direction, frame, &session.prototypes, dropped);
        self.trace_grew = true;
    }
}

/// Tells the author of an app something: at once in a notice, and in the log of its process.
fn tell_author(
    turn: &mut Turn,
    processes: &mut Processes,
    key: &SessionKey,
    app: Incarnation,
    text: &str,
) {
    let time = time_of_day(turn.now.unix_ms);
    turn.note_log(app, format!("[pipemux {time} life {app}] {text}"));
    processes.note_notice(turn, key.clone(), format!("(dev) {text}").into());
}
