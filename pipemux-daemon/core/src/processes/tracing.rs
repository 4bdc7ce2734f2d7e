//! Which sessions are traced, and what is recorded of them.

use pipemux_proto::watch::LogPart;
use pipemux_proto::{Frame, Incarnation};

use crate::event::Effect;
use crate::keys::SessionKey;
use crate::processes::Processes;
use crate::processes::author_aid::AuthorAid;
use crate::processes::trace::{Direction, Trace};
use crate::turn::Turn;

/// Bytes of a frame before its envelope.
const PREFIX: usize = 4;

impl Processes {
    /// Traces a session from now on, or for longer. Returns true if it wasn't traced.
    pub fn begin_trace(&mut self, turn: &Turn, key: &SessionKey) -> bool {
        let Some(session) = self.sessions.get_mut(key) else { return false };
        let begins = session.trace.is_none();
        let trace = session.trace.get_or_insert_with(Box::<Trace>::default);
        trace.prolong(turn.now, session.manifest.dev);
        self.traced.insert(key.clone());
        begins
    }

    /// A process of an app that its author works on is about to start.
    pub(super) fn begin_aid(&mut self, turn: &Turn, key: &SessionKey) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        if !session.manifest.dev {
            session.author_aid = None;
            return;
        }
        session.author_aid = Some(Box::<AuthorAid>::default());
        self.begin_trace(turn, key);
    }

    /// Returns the newest frames of a session, or those after a position; none when it isn't traced.
    pub fn trace_part(&self, key: &SessionKey, after: Option<u64>, most: usize) -> Option<LogPart> {
        let trace = self.sessions.get(key)?.trace.as_ref()?;
        Some(trace.part(after, most))
    }

    /// Returns whether frames were recorded since this was asked last.
    pub fn take_trace_grew(&mut self) -> bool {
        std::mem::take(&mut self.trace_grew)
    }

    /// Records a frame of a session that is traced.
    pub(super) fn trace_frame(
        &mut self,
        turn: &Turn,
        key: &SessionKey,
        direction: Direction,
        frame: &Frame,
        dropped: Option<&str>,
    ) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        let Some(trace) = &mut session.trace else { return };
        if trace.is_over(turn.now) {
            session.trace = None;
            self.traced.remove(key);
            return;
        }
        trace.record(turn.now, direction, frame, &session.prototypes, dropped);
        self.trace_grew = true;
    }

    /// Records what this turn sends to apps, while each frame still names its session.
    pub fn trace_sent(&mut self, turn: &Turn) {
        if self.traced.is_empty() {
            return;
        }
        for effect in &turn.effects {
            let Effect::ToApp { app, bytes } = effect else { continue };
            let Some(key) = self.traced_session(*app) else { continue };
            let Ok(frame) = Frame::from_payload(bytes.slice(PREFIX.min(bytes.len())..)) else {
                continue;
            };
            let session = self.sessions.get_mut(&key);
            if let Some(aid) = session.and_then(|session| session.author_aid.as_mut()) {
                aid.sent(turn.mono_ms(), &frame);
            }
            self.trace_frame(turn, &key, Direction::ToApp, &frame, None);
        }
    }

    fn traced_session(&self, app: Incarnation) -> Option<SessionKey> {
        let key = self.session_by_incarnation.get(&app)?;
        self.traced.contains(key).then(|| key.clone())
    }

    /// The program of an app that its author works on changed: its process ends, and the next use starts the new one.
    pub fn program_changed(&mut self, turn: &mut Turn, process: Incarnation) {
        let in_it =
            |(app, _): &(&Incarnation, &SessionKey)| self.shared.process_of(**app) == process;
        let mut keys: Vec<SessionKey> =
            self.session_by_incarnation.iter().filter(in_it).map(|(_, key)| key.clone()).collect();
        keys.sort();
        for key in keys {
            let text = "(dev) its program changed, so it is started again";
            self.note_notice(turn, key.clone(), text.into());
            // Crashes of the old program don't count against the new one.
            self.forgive(&key);
            self.close(turn, &key);
        }
    }
}
