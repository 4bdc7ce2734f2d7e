//! Exchanges between clients and apps, without the bodies, which the core never sees.

use pipemux_core::exchange::{End, Forward};
use pipemux_core::{ClientId, Event};
use pipemux_proto::client::{Attach, Workspace};
use pipemux_proto::{Envelope, Incarnation, Kind, Method};

use super::{World, frame};

impl World {
    /// Sends a request to attach to a session of the workspace `demo`.
    pub fn attach(&mut self, client: ClientId, id: u64, session: &str) {
        let workspace = Workspace { key: "/demo".into(), name: "demo".into() };
        let session = session.parse().expect("a session");
        let envelope = Envelope::request(Method::Attach, id, Incarnation(0));
        let frame = frame(&envelope, &Attach { workspace, session });
        self.event(Event::ClientFrame { client, frame });
    }

    /// Returns the incarnation to which a request attached its client.
    pub fn attached(&self, client: ClientId, id: u64) -> Option<Incarnation> {
        let told = self.attached.iter().find(|(to, of, _)| (*to, *of) == (client, id));
        told.map(|(.., incarnation)| *incarnation)
    }

    /// Sends a client's exchange with a body of that length. Returns where it is forwarded.
    pub fn exchange(
        &mut self,
        client: ClientId,
        id: u64,
        incarnation: Incarnation,
        length: usize,
    ) -> Option<Forward> {
        let envelope = Envelope {
            deadline_ms: 10_000,
            ..Envelope::request(Method::Exchange, id, incarnation)
        };
        self.pass_on(End::Client(client), &envelope, length)
    }

    /// Answers a forwarded exchange. Returns where the answer is forwarded.
    pub fn answer_exchange(&mut self, asked: &Forward, length: usize) -> Option<Forward> {
        let End::App(app) = asked.to else { panic!("{asked:?}") };
        self.pass_on(End::App(app), &asked.envelope.answer(Kind::Reply), length)
    }

    pub fn pass_on(&mut self, from: End, envelope: &Envelope, length: usize) -> Option<Forward> {
        let mut out = Vec::new();
        let forward = self.core.exchange(from, envelope, length, self.now, &mut out);
        self.carry_out(out);
        self.settle();
        forward
    }
}
