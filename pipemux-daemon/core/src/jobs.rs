//! Client requests that are being worked on, and their one answer.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use pipemux_proto::app::Empty;
use pipemux_proto::client::{Answer, Body, Call, Format, Seen, Verb};
use pipemux_proto::envelope::{Envelope, Method};
use pipemux_proto::report::Report;
use pipemux_proto::{Code, Fault, Frame, Hello, Kind, Role, Value, decode};

use crate::Core;
use crate::act::Acting;
use crate::event::{ClientId, Effect};
use crate::keys::{JobId, SessionKey, WorkspaceKey};
use crate::limits::{
    CLIENT_REQUESTS_MAX, CLIENTS_MAX, GREET_MS, RECORDS_BYTES_MAX, RECORDS_MAX, REQUEST_MS,
};
use crate::requests::Purpose;
use crate::saved::Record;
use crate::session::Pending;
use crate::timers::Timer;
use crate::verbs::show::Showing;
use crate::verbs::wait::{Span, Wait};

/// A connected client.
#[derive(Debug, Clone, Copy, Default)]
pub struct Client {
    /// True once it has greeted.
    pub greeted: bool,
    /// When it must have.
    pub greet_by: u64,
    /// Its requests that have no answer yet.
    pub open: usize,
    /// Its exchanges that have no answer yet, and the bytes of their bodies.
    pub exchanges: usize,
    /// See `exchanges`.
    pub exchanged: usize,
}

/// A client's request.
#[derive(Debug)]
pub struct Job {
    /// Who asked.
    pub client: ClientId,
    /// The request's envelope.
    pub request: Envelope,
    /// What was asked; the verb is kept for how it is answered.
    pub call: Call,
    /// Where.
    pub workspace: WorkspaceKey,
    /// When it must be answered, on the monotonic clock.
    pub deadline: u64,
    /// What is said in the answer besides.
    pub remark: Option<String>,
    /// What it waits for.
    pub task: Task,
}

/// What a client's request waits for.
#[derive(Debug)]
pub enum Task {
    /// Between two steps; never seen by an event.
    Moving,
    /// An app that is being opened.
    Opening(SessionKey),
    /// Prototypes of sessions that are being started, before a run can be checked.
    Preparing(Vec<SessionKey>),
    /// A run.
    Acting(Box<Acting>),
    /// Windows that are being projected.
    Showing(Box<Showing>),
    /// A thing's value.
    Reading(Box<crate::verbs::read::Reading>),
    /// A log that is being read.
    Log(crate::verbs::logs::Reading),
    /// Manifests that are being read.
    Loading(crate::verbs::providers::Then),
    /// Something to happen.
    Waiting(Box<Wait>, Span),
    /// A session that is being started anew.
    Restarting(SessionKey),
    /// Sessions that end.
    Ending(SessionKey),
    /// Everything ends.
    Stopping,
}

/// Answers of acting requests, so that one sent again isn't carried out twice.
#[derive(Debug, Default)]
pub struct Records {
    runs: HashMap<String, Option<Answer>>,
    order: VecDeque<String>,
    bytes: usize,
}

impl Records {
    fn size(answer: &Option<Answer>) -> usize {
        match answer.as_ref().map(|answer| &answer.body) {
            Some(Body::Text(text)) => text.len(),
            Some(Body::Raw(bytes)) => bytes.len(),
            Some(Body::Report(report)) => report.windows.iter().map(|w| w.content.len()).sum(),
            Some(Body::Data(_) | Body::Events(_) | Body::Log(_)) | None => 64,
        }
    }

    /// Forgets a request that was refused before anything came of it.
    fn forget(&mut self, run_id: &str) {
        if let Some(answer) = self.runs.remove(run_id) {
            self.bytes -= Self::size(&answer);
            self.order.retain(|kept| kept != run_id);
        }
    }

    /// Takes in what an earlier daemon wrote down. Its words are gone; that nothing is carried out twice
    /// stays.
    pub(crate) fn restore(&mut self, run_id: &str, exit: Option<u8>) {
        let (exit, text) = match exit {
            Some(exit) => {
                let text = format!("this was answered before (exit {exit}) · pipemux history\n");
                (exit, text)
            }
            None => {
                let text = "unknown · the daemon was lost while this was carried out; it may or may \
                            not have taken effect\nnext: pipemux view\n";
                (Code::Unknown.exit_status(), text.to_owned())
            }
        };
        self.keep(run_id, Some(Answer { exit, body: Body::Text(text), delivery: 0 }));
    }

    /// The records that say the same again.
    pub(crate) fn to_saved(&self) -> Vec<Record> {
        let saved = |run_id: &String| {
            let begun = Record::Begun { run_id: run_id.clone() };
            let answer = self.runs.get(run_id).and_then(Option::as_ref);
            let answered = answer
                .filter(|answer| answer.exit != Code::Unknown.exit_status())
                .map(|answer| Record::Answered { run_id: run_id.clone(), exit: answer.exit });
            std::iter::once(begun).chain(answered)
        };
        self.order.iter().flat_map(saved).collect()
    }

    fn keep(&mut self, run_id: &str, answer: Option<Answer>) {
        self.bytes += Self::size(&answer);
        match self.runs.insert(run_id.to_owned(), answer) {
            Some(before) => self.bytes -= Self::size(&before),
            None => self.order.push_back(run_id.to_owned()),
        }
        while self.order.len() > RECORDS_MAX || self.bytes > RECORDS_BYTES_MAX {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(answer) = self.runs.remove(&oldest) {
                self.bytes -= Self::size(&answer);
            }
        }
    }
}

impl Core {
    pub(crate) fn client_opened(&mut self, client: ClientId) {
        self.clients.insert(client, Client::default());
        if self.clients.len() > CLIENTS_MAX {
            self.clients.remove(&client);
            let envelope = Envelope {
                kind: Kind::Fault,
                ..Envelope::event(Method::Hello, Default::default())
            };
            let fault =
                Fault::refused(format!("{CLIENTS_MAX} clients are connected, no more are taken"))
                    .hint("try again once one of them is gone");
            self.send_client(client, &envelope, &fault);
            self.out.push(Effect::CloseClient { client });
            return;
        }
        let at = self.now.mono_ms + GREET_MS;
        self.clients.insert(client, Client { greet_by: at, ..Client::default() });
        self.timers.set(at, Timer::Greet(client));
        let hello = Envelope::event(Method::Hello, Default::default());
        let greeting = Hello::new(Role::Daemon, self.config.software.clone());
        self.send_client(client, &hello, &greeting);
    }

    /// A client is gone: what it asked for goes on to the end of the step that is with an app, and
    /// no further.
    pub(crate) fn client_closed(&mut self, client: ClientId) {
        if let Some(gone) = self.clients.remove(&client).filter(|gone| !gone.greeted) {
            self.timers.clear(gone.greet_by, Timer::Greet(client));
        }
        self.orphan_exchanges(client);
        let mut jobs: Vec<JobId> =
            self.jobs.iter().filter(|(_, job)| job.client == client).map(|(id, _)| *id).collect();
        jobs.sort_unstable();
        for job in jobs {
            self.abandon(job);
        }
    }

    /// Takes back the steps of a run that were not begun.
    fn abandon(&mut self, id: JobId) {
        // A step that still waits for its app to start has not begun either.
        let waits =
            |pending: &Pending| pending.purpose == Purpose::Invoke(id) && pending.app.is_none();
        let waiting = self.pending.iter().find(|(_, pending)| waits(pending));
        if let Some(request) = waiting.map(|(request, _)| *request) {
            return self.take_back(request);
        }
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match &mut job.task {
            // The step that is with an app goes on to its end; the next one doesn't begin.
            Task::Acting(acting) => acting.cancelled = true,
            Task::Waiting(..) | Task::Log(_) => self.abandon_wait(id),
            Task::Preparing(_) => {
                self.fail_job(id, Fault::unavailable("cancelled, nothing was sent to an app"));
            }
            _ => {}
        }
    }

    /// A client that connected and said nothing makes room.
    pub(crate) fn greet_expired(&mut self, client: ClientId) {
        let Some(known) = self.clients.get(&client) else { return };
        if !known.greeted {
            let envelope = Envelope {
                kind: Kind::Fault,
                ..Envelope::event(Method::Hello, Default::default())
            };
            let fault = Fault::refused(format!("no Hello within {} s", GREET_MS / 1000));
            self.send_client(client, &envelope, &fault);
            self.out.push(Effect::CloseClient { client });
        }
    }

    pub(crate) fn client_broken(&mut self, client: ClientId, why: &str) {
        let envelope =
            Envelope { kind: Kind::Fault, ..Envelope::event(Method::Verb, Default::default()) };
        self.send_client(client, &envelope, &Fault::refused(format!("not a PipeMux frame: {why}")));
        self.out.push(Effect::CloseClient { client });
    }

    pub(crate) fn handle_client_frame(&mut self, client: ClientId, frame: &Frame) {
        let Some(greeted) = self.clients.get(&client).map(|client| client.greeted) else { return };
        let envelope = frame.envelope;
        match (envelope.kind, envelope.method) {
            (Kind::Event, Method::Hello) => self.handle_client_hello(client, frame),
            (Kind::Cancel, _) => {
                let cancelled = self
                    .jobs
                    .iter()
                    .find(|(_, job)| job.client == client && job.request.id == envelope.id);
                match cancelled.map(|(id, _)| *id) {
                    Some(id) => self.abandon(id),
                    None => self.cancel_exchange(client, envelope.id),
                }
            }
            (Kind::Request, _) if !greeted => {
                self.refuse(client, &envelope, &Fault::refused("say Hello first"));
                self.out.push(Effect::CloseClient { client });
            }
            (Kind::Request, Method::Verb) => self.handle_verb(client, frame),
            (Kind::Request, Method::Seen) => {
                match decode::<Seen>(&frame.body) {
                    Ok(seen) => self.handle_seen(seen.delivery),
                    Err(error) => {
                        let fault = Fault::refused(format!("an unreadable Seen: {error}"));
                        return self.refuse(client, &envelope, &fault);
                    }
                }
                self.send_client(client, &envelope.answer(Kind::Reply), &Empty {});
            }
            (Kind::Request, Method::Attach) => self.handle_attach(client, frame),
            (Kind::Request, Method::Ping) => {
                self.send_client(client, &envelope.answer(Kind::Reply), &Empty {});
            }
            (Kind::Request, method) => {
                let fault = Fault::refused(format!("a client can't ask for {method:?}"));
                self.refuse(client, &envelope, &fault);
            }
            _ => {}
        }
    }

    fn handle_client_hello(&mut self, client: ClientId, frame: &Frame) {
        let checked = decode::<Hello>(&frame.body)
            .map_err(|error| Fault::refused(format!("an unreadable Hello: {error}")))
            .and_then(|hello| hello.check());
        match checked {
            Ok(()) => {
                if let Some(known) = self.clients.get_mut(&client)
                    && !std::mem::replace(&mut known.greeted, true)
                {
                    self.timers.clear(known.greet_by, Timer::Greet(client));
                }
            }
            Err(fault) => {
                self.refuse(client, &frame.envelope, &fault);
                self.out.push(Effect::CloseClient { client });
            }
        }
    }

    fn handle_verb(&mut self, client: ClientId, frame: &Frame) {
        let request = frame.envelope;
        let call = match decode::<Call>(&frame.body) {
            Ok(call) => call,
            Err(error) => {
                let ours = &self.config.software;
                let fault = Fault::refused(format!("an unreadable request: {error}")).hint(
                    format!("is the client newer than {ours}? pipemux down, then run it again"),
                );
                return self.refuse(client, &request, &fault);
            }
        };
        let open = self.clients.get(&client).map_or(0, |client| client.open);
        if open >= CLIENT_REQUESTS_MAX {
            let fault = Fault::refused(format!("{open} requests are open, no more are taken"));
            return self.refuse(client, &request, &fault);
        }
        if acts(&call.verb) {
            if let Some(record) = self.records.runs.get(&call.run_id) {
                let answer = record.clone().unwrap_or_else(|| Answer {
                    exit: Code::Unknown.exit_status(),
                    body: Body::Text("unknown · this request is still being carried out\n".into()),
                    delivery: 0,
                });
                return self.send_client(client, &request.answer(Kind::Reply), &answer);
            }
            self.records.keep(&call.run_id, None);
        }
        let (workspace, id) = match self.enter(&call) {
            Ok(workspace) => (workspace, JobId(self.next_local())),
            Err(fault) => {
                // It may be sent again once there is room.
                self.records.forget(&call.run_id);
                return self.refuse(client, &request, &fault);
            }
        };
        let deadline = self.now.mono_ms + patience(request.deadline_ms, REQUEST_MS);
        self.timers.set(deadline, Timer::Job(id));
        let verb = call.verb.clone();
        let job =
            Job { client, request, call, workspace, deadline, remark: None, task: Task::Moving };
        self.jobs.insert(id, job);
        if let Some(known) = self.clients.get_mut(&client) {
            known.open += 1;
        }
        if let Some(why) = self.disk.clone().filter(|_| acts(&verb)) {
            let run_id = self.jobs.get(&id).map(|job| job.call.run_id.clone());
            let fault = Fault::refused(format!("the daemon can't write its state down ({why})"))
                .hint("make room, then send it again; reads and views go on");
            self.fail_job(id, fault);
            // Nothing came of it: it may be sent again under the same id.
            self.records.forget(&run_id.unwrap_or_default());
            return;
        }
        if acts(&verb)
            && let Some(job) = self.jobs.get(&id)
        {
            let run_id = job.call.run_id.clone();
            self.out.push(Effect::Persist(Record::Begun { run_id }));
        }
        self.begin(id, verb);
    }

    /// Ends a client's request whose deadline has come.
    pub(crate) fn job_expired(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match std::mem::replace(&mut job.task, Task::Moving) {
            Task::Showing(showing) => {
                job.task = Task::Showing(showing);
                self.show_what_there_is(id);
            }
            // The step's own request expires in the same turn and says how it ended.
            Task::Acting(acting) => job.task = Task::Acting(acting),
            Task::Opening(session) | Task::Restarting(session) => {
                self.close_opening(&session, id);
                let fault = Fault::unavailable(format!("{session} was not ready in time"))
                    .hint(format!("pipemux logs {session}"));
                self.fail_job(id, fault);
            }
            _ => self.fail_job(id, Fault::unavailable("no answer in time")),
        }
    }

    /// Answers a request with an error before anything was carried out.
    pub(crate) fn fail_job(&mut self, id: JobId, fault: Fault) {
        let Some(job) = self.jobs.get(&id) else { return };
        let exit = fault.code.exit_status();
        let body = match job.call.format {
            Format::Markdown => Body::Text(crate::render::answer::refusal(&fault)),
            Format::Json => Body::Report(Box::new(Report {
                workspace: job.call.workspace.name.clone(),
                epoch: self.workspaces.get(&job.workspace).map_or(0, |w| w.epoch),
                error: Some(fault),
                ..Report::default()
            })),
        };
        self.answer(id, Answer { exit, body, delivery: 0 });
    }

    /// Answers a request with data: as a table of text or as JSON.
    pub(crate) fn answer_data(&mut self, id: JobId, text: String, data: Value) {
        let Some(job) = self.jobs.get(&id) else { return };
        let body = match job.call.format {
            Format::Markdown => Body::Text(text),
            Format::Json => Body::Data(data),
        };
        self.answer(id, Answer { exit: 0, body, delivery: 0 });
    }

    /// Gives a request its one answer.
    pub(crate) fn answer(&mut self, id: JobId, answer: Answer) {
        let Some(job) = self.jobs.remove(&id) else { return };
        self.timers.clear(job.deadline, Timer::Job(id));
        if acts(&job.call.verb) {
            self.records.keep(&job.call.run_id, Some(Answer { delivery: 0, ..answer.clone() }));
            let (run_id, exit) = (job.call.run_id.clone(), answer.exit);
            self.out.push(Effect::Persist(Record::Answered { run_id, exit }));
        }
        if let Some(client) = self.clients.get_mut(&job.client) {
            client.open = client.open.saturating_sub(1);
            self.send_client(job.client, &job.request.answer(Kind::Reply), &answer);
        }
    }

    pub(crate) fn refuse(&mut self, client: ClientId, request: &Envelope, fault: &Fault) {
        self.send_client(client, &request.answer(Kind::Fault), fault);
    }

    pub(crate) fn send_client<T: serde::Serialize>(
        &mut self,
        client: ClientId,
        envelope: &Envelope,
        body: &T,
    ) {
        let bytes = Frame::encode(envelope, body).unwrap_or_else(|error| {
            let fault =
                Fault::refused(error.to_string()).hint("a smaller --budget fits one answer");
            Frame::fault(envelope, &fault).unwrap_or_else(|_| Bytes::new())
        });
        self.out.push(Effect::ToClient { client, bytes });
    }
}

/// How long a request may take, in milliseconds: the answer has to be there before the client gives up,
/// which it does after `deadline_ms`; 0: it named none.
pub(crate) fn patience(deadline_ms: u32, otherwise: u64) -> u64 {
    match deadline_ms {
        0 => otherwise,
        given => u64::from(given).saturating_sub(u64::from(given / 10).min(500)).max(1),
    }
}

/// True for verbs that may change something.
fn acts(verb: &Verb) -> bool {
    matches!(verb, Verb::Click { .. } | Verb::Run { .. } | Verb::Answer { .. })
}
