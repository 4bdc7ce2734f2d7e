//! Clients: connections, requests, and their ends.

use pipemux_core::{ClientId, Event, limits};
use pipemux_proto::client::{self, Answer, Format, Verb, VerbRequest, ViewArgs};
use pipemux_proto::{Envelope, Fault, Hello, Incarnation, Method, Role, decode};

use crate::action::{Ask, Confirming, How, Look, Who};
use crate::law::{Lawful, law};
use crate::places::{CALM_READER, READERS, WORKSPACES};
use crate::process::frame;
use crate::reading;
use crate::sim::Sim;

/// One connection.
#[derive(Debug, Default)]
pub struct Conn {
    pub next: u64,
    /// True once the daemon was told of its end.
    pub gone: bool,
    /// True when nobody reads what comes, though the daemon doesn't know yet.
    pub deaf: bool,
    pub closed_by_daemon: bool,
    /// True for one that is closed once its request is answered.
    pub once: bool,
}

/// A request of a client.
#[derive(Debug)]
pub struct Request {
    pub daemon: u32,
    pub client: ClientId,
    pub id: u64,
    pub who: Who,
    pub call: VerbRequest,
    pub confirm: Confirming,
    /// When it was sent.
    pub at: u64,
    /// When it must have been answered.
    pub until: u64,
    /// How often its workspace's windows were given another budget until it was sent.
    pub fixed: u32,
    /// What had been confirmed until it was sent.
    pub since: u64,
    /// Its steps, by mark, in the order they run.
    pub marks: Vec<u64>,
    /// What the link stands for that it clicks.
    pub clicked: Option<String>,
    pub exit: Option<u8>,
    /// True when its answer was a refusal of the connection's.
    pub refused: bool,
    /// The request that it repeats.
    pub repeats: Option<usize>,
    /// True once its client is gone or has taken it back.
    pub abandoned: bool,
    /// True when the daemon was lost with it.
    pub lost: bool,
}

impl Request {
    /// True while it may be acted on.
    pub fn is_open(&self) -> bool {
        self.exit.is_none() && !self.lost
    }

    /// True when it may answer a question.
    pub fn may_answer(&self) -> bool {
        matches!(self.call.verb, Verb::Answer { .. } | Verb::Click { .. })
    }

    pub fn acts(&self) -> bool {
        self.may_answer() || matches!(self.call.verb, Verb::Run { .. })
    }
}

impl Sim {
    pub fn ask(&mut self, who: Who, ask: &Ask, how: How) -> Lawful<bool> {
        if who == CALM_READER && !self.kind.calm {
            return Ok(false);
        }
        let mut marks = Vec::new();
        let mut clicked = None;
        let mut at = None;
        let mut look = Look::default();
        let session = |addr: &str| addr.parse().expect("a session");
        let verb = match ask {
            Ask::Open { addr, file, look: wanted } => {
                look = *wanted;
                self.windows.fixed += u32::from(look.budget.is_some());
                open(addr, *file, None)
            }
            Ask::Pin(addr, pin) => open(addr, false, Some(*pin)),
            Ask::View { addr, since, look: wanted, wait } => {
                look = *wanted;
                let since = since.and_then(|pick| self.seen.some_epoch(READERS[who].0, pick));
                Verb::View(ViewArgs { session: addr.map(session), since, wait_ms: *wait })
            }
            Ask::Run { steps, at: pinned, look: wanted } => {
                look = *wanted;
                let request = self.requests.len();
                let (code, epoch) = self.write_run(who, steps, request, *pinned, &mut marks);
                at = epoch;
                Verb::Run { code, stdin: None }
            }
            Ask::Click(pick) => {
                let Some((id, label)) = self.seen.some_link(who, *pick) else { return Ok(false) };
                clicked = Some(label);
                Verb::Click { link: format!("link:{id}") }
            }
            Ask::Answer(text) => Verb::Answer { text: (*text).into(), to: None },
            Ask::Read(of) => Verb::Read { target: self.write_ref(who, *of).0 },
            Ask::Help(provider) => Verb::Help { provider: provider.parse().expect("a provider") },
            Ask::Close(addr, end) => {
                self.windows.fixed += 1;
                if *end {
                    self.forget(who, addr);
                }
                Verb::Close { session: session(addr), end: *end }
            }
            Ask::End(addr) => {
                self.windows.fixed += 1;
                self.forget(who, addr);
                Verb::End { session: session(addr) }
            }
            Ask::Restart(addr) => Verb::Restart { session: session(addr) },
            Ask::Logs(addr, wait) => {
                let after = (*wait > 0).then_some(0);
                Verb::Logs { session: session(addr), lines: 10, after, wait_ms: *wait }
            }
            Ask::Watch(wait) => {
                let (after, wait_ms) = ((*wait % 2 == 1).then_some(0), *wait);
                Verb::Watch(client::WatchArgs { after, wait_ms, ..client::WatchArgs::default() })
            }
            Ask::Limits => Verb::Limits,
            Ask::Set(option, value) => {
                self.runs.set(READERS[who].0, option, value);
                Verb::Set { option: Some((*option).into()), value: Some((*value).into()) }
            }
            Ask::History(detail) => Verb::History { detail: *detail, rounds: None },
            Ask::Sessions => Verb::Sessions,
            Ask::Status => Verb::Status,
            Ask::Apps => Verb::Apps,
            Ask::Down => {
                self.daemon.stopping = true;
                Verb::Down
            }
        };
        let call = self.call(who, verb, how.json, look, at);
        self.pins.unsure(READERS[who].0, &call.verb);
        let client = if how.kept { self.kept(who)? } else { self.connect()? };
        if let Some(conn) = self.clients.get_mut(&client) {
            conn.once = !how.kept;
        }
        self.figures.count(format!("verb {}", crate::names::verb(&call.verb)));
        self.request(client, who, call, how, (marks, clicked, None))?;
        Ok(true)
    }

    /// A call with an id of its own.
    pub fn call(
        &mut self,
        who: Who,
        verb: Verb,
        json: bool,
        look: Look,
        at: Option<u64>,
    ) -> VerbRequest {
        let (workspace, reader) = READERS[who];
        let name = WORKSPACES[workspace];
        self.next_run += 1;
        VerbRequest {
            workspace: client::Workspace { key: format!("/{name}"), name: name.into() },
            reader: reader.into(),
            run_id: format!("run-{}", self.next_run),
            format: if json { Format::Json } else { Format::Markdown },
            budget: look.budget,
            lod: look.lod,
            at,
            titles: false,
            cwd: "/work".into(),
            verb,
        }
    }

    pub fn request(
        &mut self,
        client: ClientId,
        who: Who,
        call: VerbRequest,
        how: How,
        (marks, clicked, repeats): (Vec<u64>, Option<String>, Option<usize>),
    ) -> Lawful {
        let Some(conn) = self.clients.get_mut(&client) else { return Ok(()) };
        conn.next += 1;
        let id = conn.next;
        let deadline = u64::from(how.deadline);
        let patience = match deadline {
            0 => limits::REQUEST_MS,
            given => given.saturating_sub((given / 10).min(500)).max(1),
        };
        if matches!(&call.verb, Verb::Answer { text, .. } if text == "go") {
            self.runs.kept.go(who, &call.run_id);
        }
        let request = Request {
            daemon: self.daemon.nth,
            client,
            id,
            who,
            call: call.clone(),
            confirm: how.confirm,
            at: self.time,
            until: self.time + patience,
            fixed: self.windows.fixed,
            since: self.seen.now(),
            marks,
            clicked,
            exit: None,
            refused: false,
            repeats,
            abandoned: false,
            lost: false,
        };
        self.requests.push(request);
        crate::play::tell(|| format!("{} of {client:?} at {} ms", call.run_id, self.time));
        let envelope = Envelope {
            deadline_ms: how.deadline,
            ..Envelope::request(Method::Verb, id, Incarnation(0))
        };
        self.feed(Event::ClientFrame { client, frame: frame(&envelope, &call) })
    }

    pub fn connect(&mut self) -> Lawful<ClientId> {
        self.next_client += 1;
        let client = ClientId(self.next_client);
        self.clients.insert(client, Conn::default());
        self.feed(Event::ClientOpened { client })?;
        let hello = Envelope::event(Method::Hello, Incarnation(0));
        let hello = frame(&hello, &Hello::new(Role::Client, "test"));
        self.feed(Event::ClientFrame { client, frame: hello })?;
        Ok(client)
    }

    pub fn kept(&mut self, who: Who) -> Lawful<ClientId> {
        let open = |client: &ClientId| {
            self.clients.get(client).is_some_and(|c| !c.gone && !c.deaf && !c.closed_by_daemon)
        };
        if let Some(client) = self.kept[who].filter(open) {
            return Ok(client);
        }
        let daemon = self.daemon.nth;
        let client = self.connect()?;
        // One that its daemon was lost with is nobody's: the next daemon gives its number to another.
        self.kept[who] = Some(client).filter(|_| self.daemon.nth == daemon);
        Ok(client)
    }

    /// Takes note of what the daemon is about to be told.
    pub fn note_event(&mut self, event: &Event) {
        self.rounds.note_event(event);
        match event {
            Event::ClientClosed { client } => {
                if let Some(conn) = self.clients.get_mut(client) {
                    conn.gone = true;
                }
                let its = |request: &Request| request.client == *client && request.is_open();
                for index in 0..self.requests.len() {
                    if its(&self.requests[index]) {
                        self.note_unheard(index);
                        self.requests[index].abandoned = true;
                        self.requests[index].lost = true;
                    }
                }
            }
            Event::ClientFrame { frame, .. } if frame.envelope.method == Method::Seen => {
                if let Ok(seen) = decode::<client::DeliveryAck>(&frame.body) {
                    self.seen.confirmed(seen.delivery, self.daemon.nth);
                }
            }
            Event::Exited { app, .. } | Event::StartFailed { app, .. } => {
                self.ended.insert(*app);
            }
            _ => {}
        }
    }

    /// A request's end has come.
    pub fn answered(&mut self, client: ClientId, id: u64, answer: Result<Answer, Fault>) -> Lawful {
        let daemon = self.daemon.nth;
        let its = |request: &Request| {
            request.daemon == daemon
                && request.client == client
                && request.id == id
                && !request.lost
        };
        let Some(index) = self.requests.iter().rposition(its) else {
            // What is no request of the table's: rude ones.
            return Ok(());
        };
        let deaf = self.clients.get(&client).is_some_and(|conn| conn.deaf);
        let request = &mut self.requests[index];
        law!(
            request.exit.is_none(),
            "a request has one answer",
            "{:?} ended {:?}, then {answer:?}",
            request.call,
            request.exit
        );
        request.refused = answer.is_err();
        crate::play::tell(|| format!("→ {:?} of {}: {answer:?}", request.call.verb, request.who));
        let exit = answer.as_ref().map_or_else(|fault| fault.code.exit_status(), |a| a.exit);
        request.exit = Some(exit);
        self.figures.count(format!("exit {exit}"));
        if request.who == CALM_READER {
            let said = match &answer {
                Ok(Answer { body: client::Body::Report(report), .. }) => {
                    // Questions are numbered over all workspaces.
                    let mut report = report.clone();
                    report.question.iter_mut().for_each(|question| question.id = 0);
                    format!("{exit} {report:?}")
                }
                Ok(answer) => format!("{exit} {:?}", answer.body),
                Err(fault) => format!("{exit} {fault:?}"),
            };
            self.calm.push(format!("{:?}: {}", request.call.verb, reading::unnumbered(&said)));
        }
        law!(
            !format!("{answer:?}").contains("from beyond"),
            "a closed session is not heard",
            "{answer:?}"
        );
        self.note_kept(index, &answer);
        self.check_end(index, &answer)?;
        self.check_rounds(index, &answer)?;
        self.check_go(index)?;
        self.check_opened(index, &answer)?;
        if let (Ok(answer), false) = (&answer, deaf) {
            self.read_answer(index, answer)?;
        }
        self.note_pin(index);
        self.note_gone(index);
        self.windows.fixed += u32::from(self.requests[index].fixes());
        if self.clients.get(&client).is_some_and(|conn| conn.once && !conn.deaf) {
            if let Some(conn) = self.clients.get_mut(&client) {
                conn.deaf = true;
            }
            self.queue.push_back(Event::ClientClosed { client });
        }
        Ok(())
    }

    /// Every request is answered by its deadline.
    pub fn check_deadlines(&mut self) -> Lawful {
        let recent = self.requests.iter().rev().take(600);
        for request in recent.filter(|request| request.is_open()) {
            law!(
                self.time <= request.until,
                "a request is answered by its deadline",
                "{:?}, due at {} ms, open at {} ms",
                request.call,
                request.until,
                self.time
            );
        }
        Ok(())
    }

    pub fn check_all_answered(&mut self) -> Lawful {
        let open = self.requests.iter().find(|request| request.is_open());
        law!(open.is_none(), "every request is answered", "{open:?}");
        Ok(())
    }
}

fn open(addr: &str, file: bool, pin: Option<bool>) -> Verb {
    let (provider, session) = addr.split_once('/').expect("an address");
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Verb::Open(client::OpenArgs {
        provider: provider.parse().expect("a provider"),
        session: Some(session.parse().expect("a session")),
        args: if file { vec!["a.txt".into()] } else { Vec::new() },
        cwd: "/work".into(),
        pin,
        env: [variable("PATH", "/bin"), variable("SECRET", "s")].into(),
    })
}
