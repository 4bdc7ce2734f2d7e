//! Clients that break the protocol, or ask for more than they may.

use pipemux_core::{ClientId, Event, limits};
use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::hello::ProtocolVersion;
use pipemux_proto::{Envelope, Hello, Incarnation, Method, Role};

use crate::action::{Confirmation, ProtocolBreach, ReaderIndex, RequestOptions, ViewOptions};
use crate::clients::Connection;
use crate::law::{LawResult, law};
use crate::process::{frame, garbage};
use crate::requests::Request;
use crate::sim::{InFlight, Sim};

/// Where a process below an app works. Nobody else repeats its requests.
pub const BELOW_APP: &str = "/below-an-app";

impl Sim {
    pub fn break_protocol(&mut self, breach: ProtocolBreach) -> LawResult<bool> {
        self.statistics.count(format!("breach {breach:?}"));
        self.next_client += 1;
        let client = ClientId(self.next_client);
        if breach == ProtocolBreach::BelowApp {
            return self.act_below_app(client);
        }
        self.clients.insert(client, Connection::default());
        self.handle_event(Event::ClientOpened { client })?;
        let hello = Envelope::event(Method::Hello, Incarnation(0));
        let mut greeting = Hello::new(Role::Client, "rude");
        if breach == ProtocolBreach::WrongVersion {
            greeting.protocol = ProtocolVersion { major: 99, minor: 0 };
        }
        if breach != ProtocolBreach::NoHello {
            let frame = frame(&hello, &greeting);
            self.handle_event(Event::ClientFrame { client, frame })?;
        }
        let verb = Envelope::request(Method::Verb, 1, Incarnation(0));
        if !self.clients.contains_key(&client) {
            // The daemon was lost meanwhile, and the connection with it.
            return Ok(true);
        }
        match breach {
            ProtocolBreach::Garbage => {
                self.handle_event(Event::ClientBroken { client, why: "no frames".into() })?;
            }
            ProtocolBreach::NoHello | ProtocolBreach::BadBody => {
                self.handle_event(Event::ClientFrame { client, frame: garbage(verb) })?;
                let seen = Envelope { method: Method::Seen, id: 2, ..verb };
                self.handle_event(Event::ClientFrame { client, frame: garbage(seen) })?;
            }
            ProtocolBreach::AppMethods => {
                for (id, method) in Method::ALL.iter().enumerate().skip(1).take(8) {
                    let envelope = Envelope::request(*method, id as u64, Incarnation(3));
                    self.handle_event(Event::ClientFrame { client, frame: garbage(envelope) })?;
                }
            }
            ProtocolBreach::Gone | ProtocolBreach::WrongVersion | ProtocolBreach::BelowApp => {}
        }
        if self.clients.get(&client).is_some_and(|conn| !conn.gone && !conn.closed_by_daemon) {
            self.handle_event(Event::ClientClosed { client })?;
        }
        Ok(true)
    }

    /// Has a process that an app started act as the user: `bounds.rs` checks what comes of it.
    fn act_below_app(&mut self, client: ClientId) -> LawResult<bool> {
        self.greet(client, Connection { below_app: true, ..Connection::default() })?;
        let options =
            RequestOptions { json: false, deadline: 0, confirm: Confirmation::Now, kept: true };
        let code = "notes.add(mark='below an app')".to_owned();
        let session = || "notes/main".parse().expect("an address");
        for verb in [
            Verb::Run { code, stdin: None, only_queries: false },
            Verb::Undo { round: None },
            Verb::Answer { text: "yes".into(), to: None, stdin: None },
            Verb::Restart { session: session() },
            Verb::End { session: session() },
        ] {
            let mut call = self.call(0, verb, false, ViewOptions::default(), None);
            call.cwd = BELOW_APP.into();
            let daemon = self.daemon.nth;
            self.request(client, 0, call, options, Default::default())?;
            if self.daemon.nth != daemon {
                return Ok(true);
            }
        }
        self.send(5_000, InFlight::ClientGone(client));
        Ok(true)
    }

    pub fn flood_client(&mut self, who: ReaderIndex) -> LawResult<bool> {
        let client = self.kept(who)?;
        let options =
            RequestOptions { json: false, deadline: 0, confirm: Confirmation::Never, kept: true };
        for _ in 0..limits::CLIENT_REQUESTS_MAX + 8 {
            let verb = Verb::View(ViewArgs::default());
            let call = self.call(who, verb, false, ViewOptions::default(), None);
            let daemon = self.daemon.nth;
            self.request(client, who, call, options, Default::default())?;
            if self.daemon.nth != daemon {
                break;
            }
        }
        let mine = |request: &&Request| request.client == client && request.is_open();
        let open = self.requests.iter().filter(mine).count();
        law!(open <= limits::CLIENT_REQUESTS_MAX, "a client's open requests are bounded", "{open}");
        Ok(true)
    }

    pub fn flood_app(&mut self, who: ReaderIndex, addr: &'static str) -> LawResult<bool> {
        self.jobs.note_flood();
        let options =
            RequestOptions { json: false, deadline: 0, confirm: Confirmation::Never, kept: true };
        for _ in 0..limits::APP_REQUESTS_MAX.div_ceil(limits::CLIENT_REQUESTS_MAX) + 1 {
            let client = self.connect()?;
            for _ in 0..limits::CLIENT_REQUESTS_MAX {
                let session = addr.parse().ok();
                let verb = Verb::View(ViewArgs { session, ..ViewArgs::default() });
                let call = self.call(who, verb, false, ViewOptions::default(), None);
                let daemon = self.daemon.nth;
                self.request(client, who, call, options, Default::default())?;
                if self.daemon.nth != daemon {
                    return Ok(true);
                }
            }
            self.send(5_000, InFlight::ClientGone(client));
            if let Some(conn) = self.clients.get_mut(&client) {
                conn.deaf = true;
            }
        }
        Ok(true)
    }
}
