//! What a session's process sends: its greeting, replies, and what it says unasked.

use pipemux_proto::app::{Changed, Empty};
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Fault, Frame, Kind};

use crate::event::Effect;
use crate::foreign::{ForeignText, JobReport, Notify, Progress, bounds};
use crate::intake;
use crate::keys::SessionKey;
use crate::processes::{ProcessEvent, Processes};
use crate::turn::Turn;

impl Processes {
    /// Takes a frame that a session's process sent.
    ///
    /// # Errors
    /// Why it is dropped.
    pub fn handle_session_frame(
        &mut self,
        turn: &mut Turn,
        app: Incarnation,
        frame: Frame,
    ) -> Result<(), String> {
        let Some(key) = self.incarnations.session_of(app).cloned() else { return Ok(()) };
        if let Some(session) = self.sessions.get_mut(&key) {
            let answers = matches!(frame.envelope.kind, Kind::Reply | Kind::Fault);
            session.health.heard_from(turn.mono_ms(), answers);
        }
        self.take_session_frame(turn, &key, app, frame)
    }

    /// Handles a frame of a session's process.
    ///
    /// # Errors
    /// Why it is dropped.
    fn take_session_frame(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        app: Incarnation,
        frame: Frame,
    ) -> Result<(), String> {
        let envelope = frame.envelope;
        match (envelope.kind, envelope.method) {
            (Kind::Event, Method::Hello) => self.handle_hello(turn, key, app, &frame),
            _ if envelope.incarnation != app => {
                return Err(format!(
                    "it has the incarnation {}, expected {app}",
                    envelope.incarnation
                ));
            }
            (Kind::Reply | Kind::Fault, _) => return self.handle_reply(turn, app, frame),
            (Kind::Event, Method::Changed) => {
                let changed = intake::read::<Changed>(&frame.body)?;
                let session = self.sessions.get_mut(key);
                if !session.is_some_and(|session| session.set_version(changed.version)) {
                    return Err(format!("the version {} is known already", changed.version));
                }
                self.events.push_back(ProcessEvent::Changed { session: key.clone() });
            }
            (Kind::Event, Method::Busy) => {
                let busy = intake::read(&frame.body)?;
                if let Some(session) = self.sessions.get_mut(key) {
                    session.hibernation.note_busy(turn.mono_ms(), busy);
                }
            }
            (Kind::Event, Method::JobReport) => {
                let report = intake::read::<JobReport>(&frame.body)?;
                self.events.push_back(ProcessEvent::JobReported { session: key.clone(), report });
            }
            (Kind::Event, Method::Progress) => {
                if let Some(to) = self.client_of(app, envelope.id) {
                    let progress = intake::read::<Progress>(&frame.body)?;
                    self.events.push_back(ProcessEvent::Progress { to, progress });
                }
            }
            (Kind::Event, Method::Notify) => {
                let notify = intake::read::<Notify>(&frame.body)?;
                self.note_notice(turn, key.clone(), notify.text);
            }
            (Kind::Request, method) => {
                let answer = match method {
                    Method::Ping => Frame::encode(&envelope.answer(Kind::Reply), &Empty {}),
                    _ => Frame::fault(&envelope, &Fault::refused("an app can't ask for this")),
                };
                if let Ok(bytes) = answer {
                    turn.effects.push(Effect::ToApp { app, bytes });
                }
            }
            // What a later version may send.
            _ => {}
        }
        Ok(())
    }

    /// Passes an app's notice on, unless it says too much.
    pub fn note_notice(&mut self, turn: &mut Turn, key: SessionKey, mut text: ForeignText) {
        let Some(session) = self.sessions.get_mut(&key) else { return };
        let Some(left_out) = session.notices.admit(turn.mono_ms()) else { return };
        if left_out > 0 {
            bounds::append(&mut text, &format!(" ({left_out} notices before it were left out)"));
        }
        self.events.push_back(ProcessEvent::Notice { session: key, text });
    }
}
