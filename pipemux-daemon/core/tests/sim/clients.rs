//! Clients: connections, and the ends of requests.
//!
//! | law | why it must hold |
//! |---|---|
//! | a request has exactly one answer | a client would otherwise wait for ever, or take a second answer for another request's |
//! | a request is answered by its deadline | the client stops waiting then |
//! | events of a closed session are dropped | a shared process may still send them |

use pipemux_core::{ClientId, Event, limits};
use pipemux_proto::client::{self, Answer, Call, Format, Verb, View};
use pipemux_proto::{Envelope, Fault, Hello, Incarnation, Method, Role, decode};

use crate::action::{Ask, Confirmation, ReaderIndex, RequestOptions, ViewOptions};
use crate::answer_content;
use crate::law::{LawResult, law};
use crate::process::frame;
use crate::sessions::{CALM_READER, READERS, WORKSPACES};
use crate::sim::Sim;

/// The connection of a client.
#[derive(Debug, Default)]
pub struct Connection {
    pub next: u64,
    /// True once the daemon knows that it ended.
    pub gone: bool,
    /// True when nobody reads its answers, though the daemon doesn't know yet.
    pub deaf: bool,
    pub closed_by_daemon: bool,
    /// True when it is closed once its request is answered.
    pub once: bool,
}

/// A request of a client.
#[derive(Debug)]
pub struct Request {
    pub daemon: u32,
    pub client: ClientId,
    pub id: u64,
    pub who: ReaderIndex,
    pub call: Call,
    pub confirm: Confirmation,
    /// The time at which it was sent.
    pub at: u64,
    /// The time by which it must be answered.
    pub until: u64,
    /// How often a window's budget had been changed when it was sent.
    pub fixed: u32,
    /// The clock of confirmations when it was sent.
    pub since: u64,
    /// The marks of its steps, in the order in which they run.
    pub marks: Vec<u64>,
    /// The label of the link that it clicks.
    pub clicked: Option<String>,
    pub exit: Option<u8>,
    /// True when it was refused with a fault instead of an answer.
    pub refused: bool,
    /// The request that it repeats.
    pub repeats: Option<usize>,
    /// True once its client vanished or cancelled it.
    pub abandoned: bool,
    /// True once its answer can no longer arrive: the client or the daemon was lost.
    pub lost: bool,
}

impl Request {
    /// True while the daemon owes its answer.
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
    pub fn ask(&mut self, who: ReaderIndex, ask: &Ask, options: RequestOptions) -> LawResult<bool> {
        if who == CALM_READER && !self.kind.calm {
            return Ok(false);
        }
        let mut marks = Vec::new();
        let mut clicked = None;
        let mut at = None;
        let mut view_options = ViewOptions::default();
        let session = |addr: &str| addr.parse().expect("a session");
        let verb = match ask {
            Ask::Open { addr, file, view_options: wanted } => {
                view_options = *wanted;
                self.windows.fixed += u32::from(view_options.budget.is_some());
                open(addr, *file, None)
            }
            Ask::Pin(addr, pin) => open(addr, false, Some(*pin)),
            Ask::View { addr, since, view_options: wanted, wait } => {
                view_options = *wanted;
                let since = since.and_then(|pick| self.knowledge.some_epoch(READERS[who].0, pick));
                Verb::View(View { session: addr.map(session), since, wait_ms: *wait })
            }
            Ask::Run { steps, at: pinned, view_options: wanted } => {
                view_options = *wanted;
                let request = self.requests.len();
                let (code, epoch) = self.write_run(who, steps, request, *pinned, &mut marks);
                at = epoch;
                Verb::Run { code, stdin: None }
            }
            Ask::Click(pick) => {
                let Some((id, label)) = self.knowledge.some_link(who, *pick) else {
                    return Ok(false);
                };
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
                Verb::Watch(client::Watch { after, wait_ms, ..client::Watch::default() })
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
        let call = self.call(who, verb, options.json, view_options, at);
        self.pins.unsure(READERS[who].0, &call.verb);
        let client = if options.kept { self.kept(who)? } else { self.connect()? };
        if let Some(conn) = self.clients.get_mut(&client) {
            conn.once = !options.kept;
        }
        self.statistics.count(format!("verb {}", crate::coverage::verb(&call.verb)));
        self.request(client, who, call, options, (marks, clicked, None))?;
        Ok(true)
    }

    /// Makes a call with a new run id.
    pub fn call(
        &mut self,
        who: ReaderIndex,
        verb: Verb,
        json: bool,
        view_options: ViewOptions,
        at: Option<u64>,
    ) -> Call {
        let (workspace, reader) = READERS[who];
        let name = WORKSPACES[workspace];
        self.next_run += 1;
        Call {
            workspace: client::Workspace { key: format!("/{name}"), name: name.into() },
            reader: reader.into(),
            run_id: format!("run-{}", self.next_run),
            format: if json { Format::Json } else { Format::Markdown },
            budget: view_options.budget,
            lod: view_options.lod,
            at,
            titles: false,
            cwd: "/work".into(),
            verb,
        }
    }

    pub fn request(
        &mut self,
        client: ClientId,
        who: ReaderIndex,
        call: Call,
        options: RequestOptions,
        (marks, clicked, repeats): (Vec<u64>, Option<String>, Option<usize>),
    ) -> LawResult {
        let Some(conn) = self.clients.get_mut(&client) else { return Ok(()) };
        conn.next += 1;
        let id = conn.next;
        let deadline = u64::from(options.deadline);
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
            confirm: options.confirm,
            at: self.time,
            until: self.time + patience,
            fixed: self.windows.fixed,
            since: self.knowledge.now(),
            marks,
            clicked,
            exit: None,
            refused: false,
            repeats,
            abandoned: false,
            lost: false,
        };
        self.requests.push(request);
        crate::play::trace(|| format!("{} of {client:?} at {} ms", call.run_id, self.time));
        let envelope = Envelope {
            deadline_ms: options.deadline,
            ..Envelope::request(Method::Verb, id, Incarnation(0))
        };
        self.handle_event(Event::ClientFrame { client, frame: frame(&envelope, &call) })
    }

    pub fn connect(&mut self) -> LawResult<ClientId> {
        self.next_client += 1;
        let client = ClientId(self.next_client);
        self.clients.insert(client, Connection::default());
        self.handle_event(Event::ClientOpened { client })?;
        let hello = Envelope::event(Method::Hello, Incarnation(0));
        let hello = frame(&hello, &Hello::new(Role::Client, "test"));
        self.handle_event(Event::ClientFrame { client, frame: hello })?;
        Ok(client)
    }

    pub fn kept(&mut self, who: ReaderIndex) -> LawResult<ClientId> {
        let open = |client: &ClientId| {
            self.clients.get(client).is_some_and(|c| !c.gone && !c.deaf && !c.closed_by_daemon)
        };
        if let Some(client) = self.kept[who].filter(open) {
            return Ok(client);
        }
        let daemon = self.daemon.nth;
        let client = self.connect()?;
        // If the daemon was lost meanwhile, the next one gives the number to another client.
        self.kept[who] = Some(client).filter(|_| self.daemon.nth == daemon);
        Ok(client)
    }

    /// Updates the models with an event that is about to be handed to the daemon.
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
                if let Ok(seen) = decode::<client::Seen>(&frame.body) {
                    self.knowledge.confirmed(seen.delivery, self.daemon.nth);
                }
            }
            Event::Exited { app, .. } | Event::StartFailed { app, .. } => {
                self.ended.insert(*app);
            }
            _ => {}
        }
    }

    /// Takes in the end of a request, and checks every law about it.
    pub fn answered(
        &mut self,
        client: ClientId,
        id: u64,
        answer: Result<Answer, Fault>,
    ) -> LawResult {
        let daemon = self.daemon.nth;
        let its = |request: &Request| {
            request.daemon == daemon
                && request.client == client
                && request.id == id
                && !request.lost
        };
        let Some(index) = self.requests.iter().rposition(its) else {
            // Clients that break the protocol keep no list of requests.
            return Ok(());
        };
        let deaf = self.clients.get(&client).is_some_and(|conn| conn.deaf);
        let request = &mut self.requests[index];
        law!(
            request.exit.is_none(),
            "a request has exactly one answer",
            "{:?} ended {:?}, then {answer:?}",
            request.call,
            request.exit
        );
        request.refused = answer.is_err();
        crate::play::trace(|| format!("→ {:?} of {}: {answer:?}", request.call.verb, request.who));
        let exit = answer.as_ref().map_or_else(|fault| fault.code.exit_status(), |a| a.exit);
        request.exit = Some(exit);
        self.statistics.count(format!("exit {exit}"));
        if request.who == CALM_READER {
            let said = match &answer {
                Ok(Answer { body: client::Body::Report(report), .. }) => {
                    // The numbers of questions depend on other workspaces.
                    let mut report = report.clone();
                    report.question.iter_mut().for_each(|question| question.id = 0);
                    format!("{exit} {report:?}")
                }
                Ok(answer) => format!("{exit} {:?}", answer.body),
                Err(fault) => format!("{exit} {fault:?}"),
            };
            self.calm.push(format!(
                "{:?}: {}",
                request.call.verb,
                answer_content::unnumbered(&said)
            ));
        }
        law!(
            !format!("{answer:?}").contains("after its close"),
            "events of a closed session are dropped",
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

    /// Checks that no open request is past its deadline.
    pub fn check_deadlines(&mut self) -> LawResult {
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

    pub fn check_all_answered(&mut self) -> LawResult {
        let open = self.requests.iter().find(|request| request.is_open());
        law!(open.is_none(), "every request is answered", "{open:?}");
        Ok(())
    }
}

fn open(addr: &str, file: bool, pin: Option<bool>) -> Verb {
    let (provider, session) = addr.split_once('/').expect("an address");
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Verb::Open(client::Open {
        provider: provider.parse().expect("a provider"),
        session: Some(session.parse().expect("a session")),
        args: if file { vec!["a.txt".into()] } else { Vec::new() },
        cwd: "/work".into(),
        pin,
        env: [variable("PATH", "/bin"), variable("SECRET", "s")].into(),
    })
}
