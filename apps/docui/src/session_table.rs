//! The sessions of one process: usually one, or many when the manifest says `isolation = "provider"`.

use std::collections::HashMap;

use bytes::Bytes;
use pipemux_proto::app::Changed;
use pipemux_proto::codec::EncodeError;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Fault, Frame, Kind, Method};

use crate::app::App;
use crate::session::{Response, Session, not_open};

/// Sessions by incarnation, which each frame carries.
pub(crate) struct SessionTable<A> {
    /// The process's own incarnation, if sessions share the process. Otherwise the process has the
    /// incarnation of its one session.
    process: Option<Incarnation>,
    sessions: HashMap<Incarnation, Session<A>>,
}

impl<A: App> SessionTable<A> {
    pub(crate) fn new() -> Self {
        Self { process: None, sessions: HashMap::new() }
    }

    /// Notes the incarnation in the daemon's `Hello`.
    pub(crate) fn handle_hello(&mut self, process: Incarnation) {
        self.process = Some(process).filter(|process| process.0 != 0);
    }

    /// Hands a frame to its session.
    pub(crate) fn handle(&mut self, frame: &Frame) -> Result<Response, EncodeError> {
        let envelope = &frame.envelope;
        let incarnation = envelope.incarnation;
        match (envelope.kind, envelope.method) {
            (Kind::Request, Method::AppOpen) => {
                self.sessions.entry(incarnation).or_insert_with(Session::new).handle(frame)
            }
            (Kind::Request, Method::AppClose) => {
                let mut session = self.sessions.remove(&incarnation).unwrap_or_else(Session::new);
                Ok(match session.handle(frame)? {
                    // The process goes on, for its other sessions and those to come.
                    Response::SendAndExit(reply)
                        if self.process.is_some_and(|process| process != incarnation) =>
                    {
                        Response::Send(reply)
                    }
                    other => other,
                })
            }
            _ => match self.sessions.get_mut(&incarnation) {
                Some(session) => session.handle(frame),
                // A session without an app refuses what needs one.
                None => Session::<A>::new().handle(frame),
            },
        }
    }

    /// Hands an exchange to its session.
    pub(crate) fn exchange(
        &mut self,
        incarnation: Incarnation,
        body: Bytes,
    ) -> Result<(Bytes, Option<Changed>), Fault> {
        self.sessions.get_mut(&incarnation).ok_or_else(not_open)?.exchange(body)
    }
}
