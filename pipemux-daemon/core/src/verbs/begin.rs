//! A client's request from its arrival to its one answer.

use pipemux_proto::client::{Answer, Body, Format, Verb, VerbRequest};
use pipemux_proto::envelope::Envelope;
use pipemux_proto::report::Report;
use pipemux_proto::{Fault, Frame, Value};

use crate::Core;
use crate::clients::connection::ClientInput;
use crate::event::ClientId;
use crate::keys::RequestId;
use crate::persist::records::Record;
use crate::processes::reply::ReplyTo;
use crate::verbs::tasks::Task;

impl Core {
    /// Takes a frame of a client.
    pub(crate) fn handle_client_frame(&mut self, client: ClientId, frame: &Frame) {
        let Some(input) = self.clients.handle_frame(&mut self.turn, client, frame) else { return };
        match input {
            ClientInput::Verb(envelope, call) => self.begin(client, envelope, *call),
            ClientInput::Seen(delivery) => self.handle_seen(delivery),
            ClientInput::Attach(envelope, attach) => {
                let scope = self.manifest(&attach.session.provider).map(|found| found.scope);
                let (turn, processes) = (&mut self.turn, &mut self.processes);
                self.clients.attach(turn, processes, client, (envelope, attach), scope);
            }
            ClientInput::Cancel(request) => self.abandon(request),
        }
    }

    /// A client is gone: what it asked for goes on to the end of the step that is with an app, and
    /// no further.
    pub(crate) fn client_closed(&mut self, client: ClientId) {
        for request in self.clients.closed(&mut self.turn, client) {
            self.abandon(request);
            self.drain_events();
        }
    }

    /// Begins what a request asks for. Its record is written before anything of it reaches an app.
    fn begin(&mut self, client: ClientId, envelope: Envelope, call: VerbRequest) {
        let workspace = match self.enter(&call) {
            Ok(workspace) => workspace,
            Err(fault) => {
                // It may be sent again once there is room.
                let turn = &mut self.turn;
                return self.clients.refuse_admitted(turn, client, (&envelope, &call), &fault);
            }
        };
        let (verb, run_id) = (call.verb.clone(), call.run_id.clone());
        let id = self.clients.begin(&mut self.turn, client, envelope, call, workspace);
        if verb.acts() {
            if let Some(why) = &self.persist.failing {
                let fault =
                    Fault::refused(format!("the daemon can't write its state down ({why})"))
                        .hint("make room, then send it again; reads and views go on");
                self.fail_request(id, fault);
                // Nothing came of it: it may be sent again under the same id.
                return self.clients.forget_record(&run_id);
            }
            self.turn.persist(Record::Begun { run_id });
        }
        self.begin_verb(id, verb);
    }

    fn begin_verb(&mut self, request: RequestId, verb: Verb) {
        match verb {
            Verb::Open(open) => self.open(request, open),
            Verb::View(view) => self.view_or_wait(request, view),
            Verb::Click { link } => self.click(request, &link),
            Verb::Run { code, stdin } => self.run(request, &code, stdin),
            Verb::Answer { text, to } => self.answer_question(request, &text, to),
            Verb::Read { target } => self.read(request, &target),
            Verb::Help { provider } => self.help(request, &provider),
            Verb::Close { session, end } => self.close(request, &session, end),
            Verb::Apps => self.apps(request),
            Verb::Sessions => self.list_sessions(request),
            Verb::Logs { session, lines, after, wait_ms } => {
                self.logs(request, &session, lines, after, wait_ms);
            }
            Verb::Restart { session } => self.restart(request, &session),
            Verb::End { session } => self.end(request, &session),
            Verb::History { detail, rounds } => self.history(request, detail, rounds),
            Verb::Set { option, value } => {
                self.set(request, option.as_deref(), value.as_deref());
            }
            Verb::Status => self.status(request),
            Verb::Limits => self.limits(request),
            Verb::Watch(watch) => self.watch(request, watch),
            Verb::Providers(change) => self.change_providers(request, change),
            Verb::Down => self.down(request),
        }
    }

    /// Takes back the steps of a run that were not begun, and what else nobody waits for.
    fn abandon(&mut self, id: RequestId) {
        // A step that still waits for its app to start has not begun either.
        if self.processes.take_back_unsent(&mut self.turn, &ReplyTo::Invoke(id)) {
            return;
        }
        match self.tasks.get_mut(id) {
            // The step that is with an app goes on to its end; the next one doesn't begin.
            Some(Task::Running(run)) => run.cancel(),
            Some(Task::Waiting(..) | Task::Log(_)) => self.abandon_wait(id),
            Some(Task::Preparing(_)) => {
                self.fail_request(id, Fault::unavailable("cancelled, nothing was sent to an app"));
            }
            _ => {}
        }
    }

    /// Ends a client's request whose deadline has come.
    pub(crate) fn request_expired(&mut self, id: RequestId) {
        match self.tasks.get(id) {
            Some(Task::Viewing(_)) => self.show_what_there_is(id, "it did not answer in time"),
            // The step's own request expires in the same turn and says how it ended.
            Some(Task::Running(_)) => {}
            Some(Task::Opening(session) | Task::Restarting(session)) => {
                let session = session.clone();
                self.processes.cancel_opening(&session, id);
                let fault = Fault::unavailable(format!("{session} was not ready in time"))
                    .hint(format!("pipemux logs {session}"));
                self.fail_request(id, fault);
            }
            _ => self.fail_request(id, Fault::unavailable("no answer in time")),
        }
    }

    /// Answers a request with an error before anything was carried out.
    pub(crate) fn fail_request(&mut self, id: RequestId, fault: Fault) {
        let Some(request) = self.clients.request(id) else { return };
        let exit = fault.code.exit_status();
        let body = match request.call.format {
            Format::Markdown => Body::Text(crate::views::answer::refusal(&fault)),
            Format::Json => Body::Report(Box::new(Report {
                workspace: request.call.workspace.name.clone(),
                epoch: self.workspaces.get(&request.workspace).map_or(0, |found| found.epoch),
                error: Some(fault),
                ..Report::default()
            })),
        };
        self.answer(id, Answer { exit, body, delivery: 0 });
    }

    /// Answers a request with data: as a table of text or as JSON.
    pub(crate) fn answer_data(&mut self, id: RequestId, text: String, data: Value) {
        let Some(request) = self.clients.request(id) else { return };
        let body = match request.call.format {
            Format::Markdown => Body::Text(text),
            Format::Json => Body::Data(data),
        };
        self.answer(id, Answer { exit: 0, body, delivery: 0 });
    }

    /// Gives a request its one answer.
    pub(crate) fn answer(&mut self, id: RequestId, answer: Answer) {
        self.end_task(id);
        self.clients.answer(&mut self.turn, id, answer);
    }

    /// A request waits for this from now on, unless it has its answer already.
    pub(crate) fn set_task(&mut self, id: RequestId, task: Task) {
        if self.clients.request(id).is_some() {
            self.tasks.set(id, task);
        }
    }

    /// A request is about to be answered: it waits for nothing any more.
    pub(super) fn end_task(&mut self, id: RequestId) {
        self.tasks.remove(id);
        self.drop_prefetch(id);
    }
}
