//! The sessions of one process: usually one, many when the manifest says `isolation = "provider"`.

use std::collections::HashMap;

use bytes::Bytes;
use pipemux_proto::app::Changed;
use pipemux_proto::codec::EncodeError;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Fault, Frame, Kind, Method};

use crate::app::App;
use crate::server::{Next, Server};

/// Sessions by the number of their lives, which each frame carries.
pub(crate) struct Desk<A> {
    /// The process's own number; the same as its session's, unless sessions share the process.
    process: Option<Incarnation>,
    servers: HashMap<Incarnation, Server<A>>,
}

impl<A: App> Desk<A> {
    pub(crate) fn new() -> Self {
        Self { process: None, servers: HashMap::new() }
    }

    /// The daemon greeted.
    pub(crate) fn greeted(&mut self, process: Incarnation) {
        self.process = Some(process).filter(|process| process.0 != 0);
    }

    /// Takes one frame.
    pub(crate) fn handle(&mut self, frame: &Frame) -> Result<Next, EncodeError> {
        let envelope = &frame.envelope;
        let life = envelope.incarnation;
        match (envelope.kind, envelope.method) {
            (Kind::Request, Method::AppOpen) => {
                self.servers.entry(life).or_insert_with(Server::new).handle(frame)
            }
            (Kind::Request, Method::AppClose) => {
                let ended = match self.servers.get_mut(&life) {
                    Some(server) => server.handle(frame)?,
                    None => Server::<A>::new().handle(frame)?,
                };
                self.servers.remove(&life);
                Ok(match ended {
                    // The process goes on for its other sessions, and for those to come.
                    Next::End(reply) if self.process.is_some_and(|process| process != life) => {
                        Next::Send(reply)
                    }
                    other => other,
                })
            }
            _ => match self.servers.get_mut(&life) {
                Some(server) => server.handle(frame),
                // Asked too early: the answer says so.
                None => Server::<A>::new().handle(frame),
            },
        }
    }

    /// Takes one opaque message.
    pub(crate) fn exchange(
        &mut self,
        life: Incarnation,
        body: Bytes,
    ) -> Result<(Bytes, Option<Changed>), Fault> {
        match self.servers.get_mut(&life) {
            Some(server) => server.exchange(body),
            None => Err(Fault::refused("the session is not open yet")),
        }
    }
}
