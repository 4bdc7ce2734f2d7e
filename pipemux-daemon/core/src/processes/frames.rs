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
    pub(super) fn handle_session_frame(&mut self, turn: &mut Turn, app: Incarnation, frame: Frame) {
        let Some(key) = self.session_by_incarnation.get(&app).cloned() else { return };
        let envelope = frame.envelope;
        if let Some(session) = self.sessions.get_mut(&key) {
            let answers = matches!(envelope.kind, Kind::Reply | Kind::Fault);
            session.health.heard_from(turn.mono_ms(), answers);
        }
        match (envelope.kind, envelope.method) {
            (Kind::Event, Method::Hello) => self.handle_hello(turn, &key, app, &frame),
            // Frames of another incarnation.
            _ if envelope.incarnation != app => {}
            (Kind::Reply | Kind::Fault, _) => self.handle_reply(turn, app, frame),
            (Kind::Event, Method::Changed) => {
                if let Ok(changed) = intake::read::<Changed>(&frame.body)
                    && self.set_version(&key, changed.version)
                {
                    self.events.push_back(ProcessEvent::Changed { session: key });
                }
            }
            (Kind::Event, Method::Busy) => {
                if let Ok(busy) = intake::read(&frame.body) {
                    self.note_busy(turn, &key, busy);
                }
            }
            (Kind::Event, Method::JobReport) => {
                if let Ok(report) = intake::read::<JobReport>(&frame.body) {
                    self.events.push_back(ProcessEvent::JobReported { session: key, report });
                }
            }
            (Kind::Event, Method::Progress) => {
                if let Some(to) = self.client_of(app, envelope.id)
                    && let Ok(progress) = intake::read::<Progress>(&frame.body)
                {
                    self.events.push_back(ProcessEvent::Progress { to, progress });
                }
            }
            (Kind::Event, Method::Notify) => {
                if let Ok(notify) = intake::read::<Notify>(&frame.body) {
                    self.note_notice(turn, key, notify.text);
                }
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
    }

    /// Passes an app's notice on, unless it says too much.
    fn note_notice(&mut self, turn: &mut Turn, key: SessionKey, mut text: ForeignText) {
        let Some(session) = self.sessions.get_mut(&key) else { return };
        let Some(left_out) = session.notices.admit(turn.mono_ms()) else { return };
        if left_out > 0 {
            bounds::append(&mut text, &format!(" ({left_out} notices before it were left out)"));
        }
        self.events.push_back(ProcessEvent::Notice { session: key, text });
    }
}
