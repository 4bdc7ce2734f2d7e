//! Exchanges: bytes from a client to an app and back that the daemon doesn't read.
//!
//! For programs: a bulk transfer, a page, a plotter. The client attaches to a session, which wakes it,
//! and then names that life of it in each envelope. It means nothing to the desk: no window changes by it
//! unless the app says so, and it isn't written down.
//!
//! **The one way around `Event` and `Effect`:** a body stays with the driver. The core is told the envelope
//! and how long the body is, and says where it goes under which envelope ([`Forward`]); so nothing is
//! copied, decoded or queued here.
//!
//! **Exactly one answer** here too: an exchange leaves the table only by an answer, a deadline or the end
//! of its process, and each of these answers it.

mod table;

use pipemux_proto::app::Empty;
use pipemux_proto::client::{Attach, Attached};
use pipemux_proto::envelope::{Envelope, Kind, Method};
use pipemux_proto::ids::Incarnation;
use pipemux_proto::limits::EXCHANGE_MAX;
use pipemux_proto::{Fault, Frame, decode};

use crate::Core;
use crate::event::{ClientId, Effect, Now};
use crate::keys::SessionKey;
use crate::limits::{
    APP_EXCHANGE_BYTES, APP_EXCHANGES_MAX, CLIENT_EXCHANGE_BYTES, CLIENT_EXCHANGES_MAX,
    CLIENT_REQUESTS_MAX, REQUEST_MS,
};
use crate::manifest::Scope;
use crate::processes::session::ProcessState;
pub use table::{Exchanges, OpenExchange};

/// Where a body goes, and under which envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forward {
    /// To whom.
    pub to: End,
    /// What stands before it.
    pub envelope: Envelope,
}

/// One end of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A client.
    Client(ClientId),
    /// An app's process.
    App(Incarnation),
}

/// A client that waits for its session to become ready.
#[derive(Debug)]
pub(crate) struct PendingAttach {
    client: ClientId,
    request: Envelope,
    session: SessionKey,
    deadline: u64,
}

impl Core {
    /// Takes the envelope of an exchange that a client or an app sent, with a body of that many bytes.
    /// Returns where the body goes; none when it goes nowhere: what is to be said then is appended.
    pub fn exchange(
        &mut self,
        from: End,
        envelope: &Envelope,
        length: usize,
        now: Now,
        out: &mut Vec<Effect>,
    ) -> Option<Forward> {
        self.tick(now);
        let forward = match (from, envelope.kind) {
            (End::Client(client), Kind::Request) => self.exchange_asked(client, envelope, length),
            (End::App(app), Kind::Reply | Kind::Fault) => {
                self.exchange_answered(app, envelope, length)
            }
            (End::App(app), Kind::Request) => {
                let fault = Fault::refused("an app can't ask for an exchange");
                self.fault_to_app(app, envelope, &fault);
                None
            }
            _ => None,
        };
        if !self.turn.effects.is_empty() {
            out.append(&mut self.turn.effects);
        }
        forward
    }

    /// An answer could not be queued: its client leaves too much unread. It gets a word instead.
    pub fn exchange_unread(&mut self, forward: &Forward, out: &mut Vec<Effect>) {
        if let End::Client(client) = forward.to {
            let fault = Fault::unknown("answered, but this connection leaves too much unread")
                .hint("read what is there; ask for less at once");
            self.refuse(client, &forward.envelope, &fault);
            out.append(&mut self.turn.effects);
        }
    }

    fn exchange_asked(
        &mut self,
        client: ClientId,
        request: &Envelope,
        length: usize,
    ) -> Option<Forward> {
        let app = request.incarnation;
        let quota = self.exchanges.quota(app);
        let fault = match (self.clients.get_mut(&client)?, quota) {
            (known, _) if !known.greeted => {
                self.refuse(client, request, &Fault::refused("say Hello first"));
                self.turn.effects.push(Effect::CloseClient { client });
                return None;
            }
            _ if length > EXCHANGE_MAX => Fault::refused(format!(
                "{length} bytes are sent, one exchange takes {EXCHANGE_MAX}"
            ))
            .hint("send it in several"),
            (known, _)
                if known.exchanges >= CLIENT_EXCHANGES_MAX
                    || known.exchanged + length > CLIENT_EXCHANGE_BYTES =>
            {
                let (open, bytes) = (known.exchanges, known.exchanged);
                Fault::refused(format!(
                    "{open} exchanges of {bytes} bytes are open, no more are taken"
                ))
                .hint("wait for some of their answers")
            }
            (_, None) => {
                Fault::unavailable(format!("not delivered: no session runs as life {app}"))
                    .hint("it ended since: attach to it again")
            }
            (_, Some(quota))
                if quota.open >= APP_EXCHANGES_MAX || quota.bytes + length > APP_EXCHANGE_BYTES =>
            {
                Fault::unavailable(format!("not delivered: the app has {} open", quota.open))
                    .hint("wait for some of their answers")
            }
            (known, Some(_)) => {
                known.exchanges += 1;
                known.exchanged += length;
                let wanted = crate::clients::requests::patience(request.deadline_ms, REQUEST_MS);
                let deadline = self.turn.now.mono_ms + wanted;
                let open = OpenExchange {
                    client: Some(client),
                    request: request.id,
                    app,
                    deadline,
                    length,
                };
                let id = self.exchanges.add(open, self.turn.now.mono_ms);
                let deadline_ms = u32::try_from(wanted).unwrap_or(u32::MAX);
                let envelope = Envelope { id, deadline_ms, ..*request };
                return Some(Forward { to: End::App(app), envelope });
            }
        };
        self.refuse(client, request, &fault);
        None
    }

    fn exchange_answered(
        &mut self,
        app: Incarnation,
        answer: &Envelope,
        length: usize,
    ) -> Option<Forward> {
        // One that was given up, or that another life owes, is dropped.
        let open = self.exchanges.take(answer.id, app)?;
        let client = open.client?;
        self.exchange_closed(client, open.length);
        let envelope = Envelope { id: open.request, deadline_ms: 0, ..*answer };
        if length > EXCHANGE_MAX {
            let fault = Fault::failed(format!(
                "the app answered with {length} bytes, one exchange takes {EXCHANGE_MAX}"
            ));
            self.refuse(client, &envelope, &fault);
            return None;
        }
        Some(Forward { to: End::Client(client), envelope })
    }

    fn exchange_closed(&mut self, client: ClientId, length: usize) {
        if let Some(known) = self.clients.get_mut(&client) {
            known.exchanges = known.exchanges.saturating_sub(1);
            known.exchanged = known.exchanged.saturating_sub(length);
        }
    }

    /// A client no longer wants an exchange: its app is told, and its answer comes all the same.
    pub(crate) fn cancel_exchange(&mut self, client: ClientId, request: u64) {
        if self.clients.get(&client).is_none_or(|known| known.exchanges == 0) {
            return;
        }
        let wanted = |open: &OpenExchange| open.client == Some(client) && open.request == request;
        for (number, open) in self.exchanges.find(wanted) {
            self.send_cancel(open.app, number);
        }
    }

    /// A client is gone: its apps are told, and their answers go nowhere. What they hold of it counts
    /// until then.
    pub(crate) fn orphan_exchanges(&mut self, client: ClientId) {
        self.attaching.retain(|waiting| waiting.client != client);
        for (number, open) in self.exchanges.find(|open| open.client == Some(client)) {
            self.send_cancel(open.app, number);
        }
        self.exchanges.orphan(client);
    }

    /// A process takes requests: those who waited for it are told its number.
    pub(crate) fn exchange_ready(&mut self, session: &SessionKey, app: Incarnation) {
        self.exchanges.admit(app);
        for waiting in self.take_attaching(|waiting| waiting.session == *session) {
            let attached = Attached { incarnation: app };
            self.send_client(waiting.client, &waiting.request.answer(Kind::Reply), &attached);
        }
    }

    /// A process ended: what it had has no other end than this.
    pub(crate) fn exchanges_lost(&mut self, app: Incarnation, why: &str, hints: &[String]) {
        self.exchanges.dismiss(app);
        let mut fault = Fault::unknown(format!("{why}; it may or may not have acted"));
        fault.hints = hints.to_vec();
        for (number, _) in self.exchanges.find(|open| open.app == app) {
            self.give_up(number, app, &fault);
        }
    }

    /// A session has no process: those who wait for one get another, or hear why there is none.
    pub(crate) fn attach_lost(&mut self, session: &SessionKey, gone: bool, why: &str) {
        let here = |waiting: &PendingAttach| waiting.session == *session;
        if !self.attaching.iter().any(here) {
            return;
        }
        let refused = match gone {
            true => Fault::unavailable(why),
            false => match self.processes.wake(&mut self.turn, session) {
                Ok(()) => return,
                Err(fault) => fault,
            },
        };
        for waiting in self.take_attaching(here) {
            self.refuse(waiting.client, &waiting.request, &refused);
        }
    }

    /// Gives up what is due.
    pub(crate) fn exchanges_due(&mut self) {
        let now = self.turn.now.mono_ms;
        for (number, open) in self.exchanges.due(now) {
            self.send_cancel(open.app, number);
            self.processes.note_missed_exchange(&mut self.turn, open.app);
            let fault =
                Fault::unknown("the app did not answer in time; it may or may not have acted");
            self.give_up(number, open.app, &fault);
        }
        for waiting in self.take_attaching(|waiting| waiting.deadline <= now) {
            let why = format!("{} was not ready in time", waiting.session);
            let fault = Fault::unavailable(why).hint(format!("pipemux logs {}", waiting.session));
            self.refuse(waiting.client, &waiting.request, &fault);
        }
    }

    /// When [`Core::exchanges_due`] is next to be called.
    pub(crate) fn next_exchange_timeout(&self) -> Option<u64> {
        let attaching = self.attaching.iter().map(|waiting| waiting.deadline);
        self.exchanges.next_timeout().into_iter().chain(attaching).min()
    }

    /// Takes a client's wish to attach to a session.
    pub(crate) fn handle_attach(&mut self, client: ClientId, frame: &Frame) {
        let request = frame.envelope;
        match self.attach(client, frame) {
            Ok(Some(incarnation)) => {
                let attached = Attached { incarnation };
                self.send_client(client, &request.answer(Kind::Reply), &attached);
            }
            Ok(None) => {}
            Err(fault) => self.refuse(client, &request, &fault),
        }
    }

    /// The life that the session has; none when it is waited for.
    fn attach(&mut self, client: ClientId, frame: &Frame) -> Result<Option<Incarnation>, Fault> {
        let wish = decode::<Attach>(&frame.body)
            .map_err(|error| Fault::refused(format!("an unreadable Attach: {error}")))?;
        let scope = self.manifest(&wish.session.provider)?.scope;
        let workspace = (scope == Scope::Workspace).then(|| wish.workspace.key.as_str().into());
        let session = SessionKey { workspace, addr: wish.session };
        self.processes.wake(&mut self.turn, &session)?;
        if let Some(ProcessState::Ready { app }) =
            self.processes.get(&session).map(|found| &found.process)
        {
            return Ok(Some(*app));
        }
        let waiting = self.attaching.iter().filter(|waiting| waiting.client == client).count();
        if waiting >= CLIENT_REQUESTS_MAX {
            return Err(Fault::refused(format!("{waiting} requests are open, no more are taken")));
        }
        let wanted = crate::clients::requests::patience(frame.envelope.deadline_ms, REQUEST_MS);
        let deadline = self.turn.now.mono_ms + wanted;
        self.attaching.push(PendingAttach { client, request: frame.envelope, session, deadline });
        Ok(None)
    }

    fn take_attaching(&mut self, wanted: impl Fn(&PendingAttach) -> bool) -> Vec<PendingAttach> {
        if self.attaching.is_empty() {
            return Vec::new();
        }
        let (taken, left) = std::mem::take(&mut self.attaching).into_iter().partition(wanted);
        self.attaching = left;
        taken
    }

    fn give_up(&mut self, number: u64, app: Incarnation, fault: &Fault) {
        let Some(open) = self.exchanges.take(number, app) else { return };
        let Some(client) = open.client else { return };
        self.exchange_closed(client, open.length);
        let request = Envelope::request(Method::Exchange, open.request, app);
        self.refuse(client, &request, fault);
    }

    fn send_cancel(&mut self, app: Incarnation, number: u64) {
        let request = Envelope::request(Method::Exchange, number, app);
        let envelope = request.answer(Kind::Cancel);
        if let Ok(bytes) = Frame::encode(&envelope, &Empty {}) {
            self.turn.effects.push(Effect::ToApp { app, bytes });
        }
    }

    fn fault_to_app(&mut self, app: Incarnation, request: &Envelope, fault: &Fault) {
        if let Ok(bytes) = Frame::fault(request, fault) {
            self.turn.effects.push(Effect::ToApp { app, bytes });
        }
    }
}
