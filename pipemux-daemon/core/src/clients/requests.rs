//! Client requests that are being worked on, and their one answer.

use pipemux_proto::client::{Answer, Body, Call, Format};
use pipemux_proto::envelope::Envelope;
use pipemux_proto::report::Report;
use pipemux_proto::{Code, Fault, Frame, Kind, Value, decode};

use crate::Core;
use crate::event::{ClientId, Effect};
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::limits::{CLIENT_REQUESTS_MAX, REQUEST_MS, RUN_ID_MAX};
use crate::persist::records::Record;
use crate::runs::Run;
use crate::timers::Timer;
use crate::verbs::show::PendingView;
use crate::verbs::wait::{Wait, WaitLimits};

/// A client's request.
#[derive(Debug)]
pub struct ClientRequest {
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
    pub task: RequestState,
}

/// What a client's request waits for.
#[derive(Debug)]
pub enum RequestState {
    /// Between two steps; never seen by an event.
    Moving,
    /// An app that is being opened.
    Opening(SessionKey),
    /// Prototypes of sessions that are being started, before a run can be checked.
    Preparing(Vec<SessionKey>),
    /// A run.
    Running(Box<Run>),
    /// Windows that are being projected.
    Viewing(Box<PendingView>),
    /// A thing's value.
    Reading(Box<crate::verbs::read::Reading>),
    /// A log that is being read.
    Log(crate::verbs::logs::Reading),
    /// Manifests that are being read.
    Loading(crate::verbs::providers::AfterLoading),
    /// Something to happen.
    Waiting(Box<Wait>, WaitLimits),
    /// A session that is being started anew.
    Restarting(SessionKey),
    /// Sessions that end.
    Ending(SessionKey),
    /// Everything ends.
    Stopping,
}

impl Core {
    pub(crate) fn handle_verb(&mut self, client: ClientId, frame: &Frame) {
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
        let length = call.run_id.len();
        if call.verb.acts() && (length == 0 || length > RUN_ID_MAX) {
            let said = format!("run_id has {length} bytes, expected 1 to {RUN_ID_MAX}");
            let fault = Fault::refused(said).hint("make one that is unique for each run request");
            return self.refuse(client, &request, &fault);
        }
        let open = self.clients.get(&client).map_or(0, |client| client.open);
        if open >= CLIENT_REQUESTS_MAX {
            let fault = Fault::refused(format!("{open} requests are open, no more are taken"));
            return self.refuse(client, &request, &fault);
        }
        if call.verb.acts() {
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
            Ok(workspace) => (workspace, RequestId(self.turn.next_local())),
            Err(fault) => {
                // It may be sent again once there is room.
                self.records.forget(&call.run_id);
                return self.refuse(client, &request, &fault);
            }
        };
        let deadline = self.turn.now.mono_ms + patience(request.deadline_ms, REQUEST_MS);
        self.turn.set_timer(deadline, Timer::ClientRequest(id));
        let verb = call.verb.clone();
        let job = ClientRequest {
            client,
            request,
            call,
            workspace,
            deadline,
            remark: None,
            task: RequestState::Moving,
        };
        self.requests.insert(id, job);
        if let Some(known) = self.clients.get_mut(&client) {
            known.open += 1;
        }
        if let Some(why) = self.disk.clone().filter(|_| verb.acts()) {
            let run_id = self.requests.get(&id).map(|job| job.call.run_id.clone());
            let fault = Fault::refused(format!("the daemon can't write its state down ({why})"))
                .hint("make room, then send it again; reads and views go on");
            self.fail_job(id, fault);
            // Nothing came of it: it may be sent again under the same id.
            self.records.forget(&run_id.unwrap_or_default());
            return;
        }
        if verb.acts()
            && let Some(job) = self.requests.get(&id)
        {
            let run_id = job.call.run_id.clone();
            self.turn.effects.push(Effect::Persist(Record::Begun { run_id }));
        }
        self.begin(id, verb);
    }

    /// Ends a client's request whose deadline has come.
    pub(crate) fn job_expired(&mut self, id: RequestId) {
        let Some(job) = self.requests.get_mut(&id) else { return };
        match std::mem::replace(&mut job.task, RequestState::Moving) {
            RequestState::Viewing(showing) => {
                job.task = RequestState::Viewing(showing);
                self.show_what_there_is(id, "it did not answer in time");
            }
            // The step's own request expires in the same turn and says how it ended.
            RequestState::Running(run) => job.task = RequestState::Running(run),
            RequestState::Opening(session) | RequestState::Restarting(session) => {
                self.processes.cancel_opening(&session, id);
                let fault = Fault::unavailable(format!("{session} was not ready in time"))
                    .hint(format!("pipemux logs {session}"));
                self.fail_job(id, fault);
            }
            _ => self.fail_job(id, Fault::unavailable("no answer in time")),
        }
    }

    /// Answers a request with an error before anything was carried out.
    pub(crate) fn fail_job(&mut self, id: RequestId, fault: Fault) {
        let Some(job) = self.requests.get(&id) else { return };
        let exit = fault.code.exit_status();
        let body = match job.call.format {
            Format::Markdown => Body::Text(crate::views::answer::refusal(&fault)),
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
    pub(crate) fn answer_data(&mut self, id: RequestId, text: String, data: Value) {
        let Some(job) = self.requests.get(&id) else { return };
        let body = match job.call.format {
            Format::Markdown => Body::Text(text),
            Format::Json => Body::Data(data),
        };
        self.answer(id, Answer { exit: 0, body, delivery: 0 });
    }

    /// Gives a request its one answer.
    pub(crate) fn answer(&mut self, id: RequestId, answer: Answer) {
        let Some(job) = self.requests.remove(&id) else { return };
        self.drop_prefetch(id);
        self.turn.clear_timer(job.deadline, Timer::ClientRequest(id));
        if job.call.verb.acts() {
            self.records.keep(&job.call.run_id, Some(Answer { delivery: 0, ..answer.clone() }));
            let (run_id, exit) = (job.call.run_id.clone(), answer.exit);
            self.turn.effects.push(Effect::Persist(Record::Answered { run_id, exit }));
        }
        if let Some(client) = self.clients.get_mut(&job.client) {
            client.open = client.open.saturating_sub(1);
            self.send_client(job.client, &job.request.answer(Kind::Reply), &answer);
        }
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
