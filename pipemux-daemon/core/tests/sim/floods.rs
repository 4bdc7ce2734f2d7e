//! Clients that break the protocol, or ask for more than they may.

use pipemux_core::{ClientId, Event, limits};
use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::hello::ProtocolVersion;
use pipemux_proto::{Envelope, Hello, Incarnation, Method, Role};

use crate::action::{Confirming, How, Look, Rudeness, Who};
use crate::clients::{Conn, Request};
use crate::law::{Lawful, law};
use crate::process::{frame, garbage};
use crate::sim::{Due, Sim};

impl Sim {
    pub fn rude(&mut self, rudeness: Rudeness) -> Lawful<bool> {
        self.figures.count(format!("rude {rudeness:?}"));
        self.next_client += 1;
        let client = ClientId(self.next_client);
        self.clients.insert(client, Conn::default());
        self.feed(Event::ClientOpened { client })?;
        let hello = Envelope::event(Method::Hello, Incarnation(0));
        let mut greeting = Hello::new(Role::Client, "rude");
        if rudeness == Rudeness::WrongVersion {
            greeting.protocol = ProtocolVersion { major: 99, minor: 0 };
        }
        if rudeness != Rudeness::NoHello {
            let frame = frame(&hello, &greeting);
            self.feed(Event::ClientFrame { client, frame })?;
        }
        let verb = Envelope::request(Method::Verb, 1, Incarnation(0));
        if !self.clients.contains_key(&client) {
            // The daemon was lost meanwhile.
            return Ok(true);
        }
        match rudeness {
            Rudeness::Garbage => {
                self.feed(Event::ClientBroken { client, why: "no frames".into() })?;
            }
            Rudeness::NoHello | Rudeness::BadBody => {
                self.feed(Event::ClientFrame { client, frame: garbage(verb) })?;
                let seen = Envelope { method: Method::Seen, id: 2, ..verb };
                self.feed(Event::ClientFrame { client, frame: garbage(seen) })?;
            }
            Rudeness::AppMethods => {
                for (id, method) in Method::ALL.iter().enumerate().skip(1).take(8) {
                    let envelope = Envelope::request(*method, id as u64, Incarnation(3));
                    self.feed(Event::ClientFrame { client, frame: garbage(envelope) })?;
                }
            }
            Rudeness::Gone | Rudeness::WrongVersion => {}
        }
        if self.clients.get(&client).is_some_and(|conn| !conn.gone && !conn.closed_by_daemon) {
            self.feed(Event::ClientClosed { client })?;
        }
        Ok(true)
    }

    pub fn flood_client(&mut self, who: Who) -> Lawful<bool> {
        let client = self.kept(who)?;
        let how = How { json: false, deadline: 0, confirm: Confirming::Never, kept: true };
        for _ in 0..limits::CLIENT_REQUESTS_MAX + 8 {
            let verb = Verb::View(ViewArgs::default());
            let call = self.call(who, verb, false, Look::default(), None);
            let daemon = self.daemon.nth;
            self.request(client, who, call, how, Default::default())?;
            if self.daemon.nth != daemon {
                break;
            }
        }
        let mine = |request: &&Request| request.client == client && request.is_open();
        let open = self.requests.iter().filter(mine).count();
        law!(open <= limits::CLIENT_REQUESTS_MAX, "a client's requests have a bound", "{open}");
        Ok(true)
    }

    pub fn flood_app(&mut self, who: Who, addr: &'static str) -> Lawful<bool> {
        let how = How { json: false, deadline: 0, confirm: Confirming::Never, kept: true };
        for _ in 0..limits::APP_REQUESTS_MAX.div_ceil(limits::CLIENT_REQUESTS_MAX) + 1 {
            let client = self.connect()?;
            for _ in 0..limits::CLIENT_REQUESTS_MAX {
                let session = addr.parse().ok();
                let verb = Verb::View(ViewArgs { session, ..ViewArgs::default() });
                let call = self.call(who, verb, false, Look::default(), None);
                let daemon = self.daemon.nth;
                self.request(client, who, call, how, Default::default())?;
                if self.daemon.nth != daemon {
                    return Ok(true);
                }
            }
            self.send(5_000, Due::ClientGone(client));
            if let Some(conn) = self.clients.get_mut(&client) {
                conn.deaf = true;
            }
        }
        Ok(true)
    }
}
