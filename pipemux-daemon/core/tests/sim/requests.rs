//! Requests of clients: what is known of each, and how they are sent.

use crate::action::{Ask, Confirmation, ReaderIndex, RequestOptions, ViewOptions};
use crate::law::{LawResult, law};
use crate::process::frame;
use crate::sessions::{CALM_READER, READERS, WORKSPACES};
use crate::sim::Sim;
use pipemux_core::{ClientId, Event, Pseudonyms, limits};
use pipemux_proto::app::Invoke;
use pipemux_proto::client::{self, Format, HistoryArgs, Verb, VerbRequest, ViewArgs};
use pipemux_proto::{Envelope, Incarnation, Method, run_id};

/// A request of a client.
#[derive(Debug)]
pub struct Request {
    pub daemon: u32,
    pub client: ClientId,
    pub id: u64,
    pub who: ReaderIndex,
    pub call: VerbRequest,
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
    /// True when it was told that its steps run behind the answer to a question that an earlier run
    /// asked.
    pub waits_behind: bool,
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
        match &self.call.verb {
            // Without words it only shows the question.
            Verb::Answer { text, .. } => !text.is_empty(),
            Verb::Click { .. } => true,
            _ => false,
        }
    }

    /// True when its steps may be sent under the id of an earlier run of its reader, behind whose
    /// question they wait: it was told so, or what it was told is unknown.
    pub fn may_wait_behind(&self) -> bool {
        matches!(self.call.verb, Verb::Run { .. }) && (self.waits_behind || self.exit.is_none())
    }

    pub fn acts(&self) -> bool {
        self.may_answer() || matches!(self.call.verb, Verb::Run { .. } | Verb::Undo { .. })
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
                Verb::View(ViewArgs {
                    session: addr.map(session),
                    since,
                    wait_ms: *wait,
                    inject: None,
                    held: Vec::new(),
                    open: addr.is_some(),
                })
            }
            Ask::Run { steps, at: pinned, view_options: wanted } => {
                view_options = *wanted;
                let request = self.requests.len();
                let (code, epoch) = self.write_run(who, steps, request, *pinned, &mut marks);
                at = epoch;
                Verb::Run { code, stdin: None, only_queries: false }
            }
            Ask::Click(pick) => {
                let Some((id, label)) = self.knowledge.some_link(who, *pick) else {
                    return Ok(false);
                };
                clicked = Some(label);
                Verb::Click { link: format!("link:{id}") }
            }
            Ask::Correct(step) => {
                let request = self.requests.len();
                let steps = std::slice::from_ref(step);
                let (text, _) = self.write_run(who, steps, request, false, &mut marks);
                Verb::Answer { text, to: None, stdin: None }
            }
            Ask::Answer(text) => Verb::Answer { text: (*text).into(), to: None, stdin: None },
            Ask::Undo(pick) => Verb::Undo { round: pick.map(|pick| u64::from(pick % 12)) },
            Ask::Read(of) => Verb::Read { target: self.write_ref(who, *of).0 },
            Ask::Help(provider) => Verb::Help {
                provider: provider.parse().expect("a provider"),
                aliases: false,
                action: None,
            },
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
            Ask::History(detail) => {
                Verb::History(HistoryArgs { detail: *detail, ..HistoryArgs::default() })
            }
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
    ) -> VerbRequest {
        let (workspace, reader) = READERS[who];
        let name = WORKSPACES[workspace];
        self.next_run += 1;
        VerbRequest {
            workspace: client::Workspace { key: format!("/{name}"), name: name.into() },
            reader: reader.into(),
            reader_token: String::new(),
            run_id: run_id::new(self.now().unix_ms, self.next_run.into()),
            format: if json { Format::Json } else { Format::Markdown },
            budget: view_options.budget,
            lod: view_options.lod,
            at,
            client: String::new(),
            hint_options: String::new(),
            diff: 0,
            wait_ms: 0,
            env: std::collections::BTreeMap::new(),
            titles: false,
            cwd: "/work".into(),
            verb,
        }
    }

    /// Gives a request to an app the id that the client gave its run.
    pub fn name_run(&self, invoke: &mut Invoke) -> LawResult {
        let Some(run_id) = self.pseudonyms.get(&invoke.run_id) else {
            law!(false, "apps know a run by its pseudonym", "{}", invoke.run_id);
            return Ok(());
        };
        invoke.run_id.clone_from(run_id);
        Ok(())
    }

    pub fn request(
        &mut self,
        client: ClientId,
        who: ReaderIndex,
        call: VerbRequest,
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
            waits_behind: false,
            abandoned: false,
            lost: false,
        };
        if request.may_answer() {
            self.runs.wrong_answer = None;
        }
        self.requests.push(request);
        let pseudonym = Pseudonyms::default().of(&call.workspace.key, &call.reader, &call.run_id);
        self.pseudonyms.insert(pseudonym, call.run_id.clone());
        crate::play::trace(|| format!("{} of {client:?} at {} ms", call.run_id, self.time));
        let envelope = Envelope {
            deadline_ms: options.deadline,
            ..Envelope::request(Method::Verb, id, Incarnation(0))
        };
        self.handle_event(Event::ClientFrame { client, frame: frame(&envelope, &call) })
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
        priority: None,
        weight: None,
        env: [variable("PATH", "/bin"), variable("SECRET", "s")].into(),
    })
}
