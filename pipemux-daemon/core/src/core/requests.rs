//! A client's request from its arrival: it is refused, begun, cancelled, or ends at its deadline.

use pipemux_proto::client::{Verb, VerbEffect, VerbRequest};
use pipemux_proto::envelope::Envelope;
use pipemux_proto::{Fault, Frame, SessionAddr};

use crate::Core;
use crate::answers::delivery::confirm_delivery;
use crate::audit::AuditEntry;
use crate::clients::connection::ClientInput;
use crate::clients::idempotency::ActKey;
use crate::event::ClientId;
use crate::keys::{RequestId, SessionKey, plain_address};
use crate::peer::PeerProcess;
use crate::persist::DiskFailure;
use crate::processes::reply::ReplyTo;
use crate::processes::requests::take_back_unsent;
use crate::providers::find_manifest;
use crate::verbs::pause::act_refusal;
use crate::verbs::require;
use crate::verbs::tasks::Task;

impl Core {
    /// Handles a frame that a client sent.
    pub(crate) fn handle_client_frame(&mut self, client: ClientId, frame: &Frame) {
        let Some(input) = self.clients.handle_frame(&mut self.turn, client, frame) else {
            // `Clients` dealt with it: a greeting, or a frame that it refused or answered itself.
            return;
        };
        if let Some(input) = self.clients.hold_until_identified(&mut self.turn, client, input) {
            self.handle_input(client, input);
        }
    }

    /// Takes in which process a client is, and goes on with what it has asked for meanwhile.
    pub(crate) fn client_identified(&mut self, client: ClientId, peer: PeerProcess) {
        for input in self.clients.identified(client, peer) {
            self.handle_input(client, input);
            self.drain_events();
        }
    }

    fn handle_input(&mut self, client: ClientId, input: ClientInput) {
        let refusal = self.clients.refusal(client, &input, &self.processes, self.config.pid);
        if let ClientInput::Attach(_, attach) = &input {
            let why = refusal.as_ref().map(|fault| fault.message.clone());
            let entry = AuditEntry::of_attach(&attach.workspace.key, &attach.session, why);
            self.turn.audit(AuditEntry { peer: self.clients.peer(client), ..entry });
        }
        let refusal = refusal.or_else(|| match &input {
            ClientInput::Attach(_, attach) => self
                .rules
                .forbids(&attach.session.provider)
                .or_else(|| self.rules.broken.is_some().then(|| self.rules.refusal("")).flatten()),
            _ => None,
        });
        if let Some(fault) = refusal {
            let turn = &mut self.turn;
            return match input {
                ClientInput::Verb(envelope, call, _) => {
                    self.clients.refuse_admitted(turn, client, (&envelope, &call), &fault);
                }
                ClientInput::Attach(envelope, _) => {
                    self.clients.refuse(turn, client, &envelope, &fault);
                }
                ClientInput::Seen(..) | ClientInput::Cancel(_) => {}
            };
        }
        match input {
            ClientInput::Verb(envelope, call, length) => {
                self.begin(client, envelope, (*call, length));
            }
            ClientInput::Seen(envelope, delivery) => {
                let (runs, turn) = (&mut self.runs, &mut self.turn);
                confirm_delivery(delivery, &mut self.workspaces, &mut self.jobs, runs, turn);
                self.clients.seen(&mut self.turn, client, &envelope);
            }
            ClientInput::Attach(envelope, mut attach) => {
                attach.session = plain_address(&attach.workspace.key, &attach.session);
                let scope = find_manifest(&self.providers, &attach.session.provider)
                    .map(|found| found.scope);
                let (turn, processes) = (&mut self.turn, &mut self.processes);
                self.clients.attach(turn, processes, client, (envelope, attach), scope);
            }
            ClientInput::Cancel(request) => self.cancel_request(request),
        }
    }

    /// Cancels the requests of a client that has left. A step that is with an app goes on to its end; no further
    /// step begins.
    pub(crate) fn client_closed(&mut self, client: ClientId) {
        for request in self.clients.closed(&mut self.turn, client) {
            self.cancel_request(request);
            self.drain_events();
        }
    }

    /// Begins a request. The record of one that acts is written before any action of it reaches an app.
    fn begin(
        &mut self,
        client: ClientId,
        envelope: Envelope,
        (mut call, length): (VerbRequest, usize),
    ) {
        name_plainly(&call.workspace.key, &mut call.verb);
        let entered = self.enter_workspace(&call).and_then(|key| {
            let workspace = self.workspaces.get_mut(&key);
            let workspace = workspace.filter(|_| call.verb.kind().speaks_as_reader());
            workspace.map_or(Ok(()), |workspace| {
                workspace.readers.check_token(&call.reader, &call.reader_token)
            })?;
            Ok(key)
        });
        let workspace = match entered {
            Ok(workspace) => workspace,
            Err(fault) => {
                // The client may send it again once there is room.
                let turn = &mut self.turn;
                return self.clients.refuse_admitted(turn, client, (&envelope, &call), &fault);
            }
        };
        let verb = call.verb.clone();
        let id = self.clients.begin(&mut self.turn, client, envelope, (call, length), workspace);
        // What runs calls begins to act at its first call that is no query.
        if verb.kind().effect() == VerbEffect::RunsActions && !self.begin_acting(id) {
            return;
        }
        // A program that is added runs with the rights that its manifest asks for, outside of all that holds a reader.
        if matches!(verb, Verb::Providers(_))
            && let Some(fault) = self.act_refusal(id)
        {
            return self.fail_request(id, fault);
        }
        self.begin_verb(id, verb);
    }

    /// Writes down that a request begins to act, if it may.
    pub(crate) fn begin_acting(&mut self, id: RequestId) -> bool {
        let may = self.may_act(id);
        if may {
            self.clients.record_begun(&mut self.turn, id, None);
        }
        may
    }

    /// True if a request acts already, or may begin to, which is to be written down then. Otherwise nobody lets it, or
    /// the disk doesn't take it: it is answered with that, nothing of it took effect, and the client may send it again
    /// under the same id.
    pub(crate) fn may_act(&mut self, id: RequestId) -> bool {
        let first = self.clients.request(id).filter(|request| !request.recorded);
        if let Some(request) = first
            && let Some(fault) = self.act_refusal(id)
        {
            let key = ActKey::of(&request.call);
            self.clients.forget_act(&key);
            self.fail_request(id, fault);
            return false;
        }
        let Some(DiskFailure { why, next }) = &self.persist.failing else { return true };
        let Some(request) = self.clients.request(id) else { return false };
        if request.recorded {
            return true;
        }
        let key = ActKey::of(&request.call);
        let fault =
            Fault::refused(format!("the daemon can't write its state down ({why})")).hint(next);
        self.clients.forget_act(&key);
        self.fail_request(id, fault);
        false
    }

    /// Returns why a request may not act, if the settings forbid it or a pause holds its reader.
    pub(crate) fn act_refusal(&self, id: RequestId) -> Option<Fault> {
        let request = self.clients.request(id)?;
        act_refusal(&self.rules, &self.pauses, request, self.turn.now.unix_ms)
    }

    /// Cancels a request whose client doesn't wait for the answer: takes back the steps of a run that were not
    /// begun, and ends a wait.
    pub(super) fn cancel_request(&mut self, id: RequestId) {
        // A step that still waits for its app to start has not begun either.
        if take_back_unsent(&mut self.turn, &mut self.processes, &ReplyTo::Invoke(id)) {
            return;
        }
        let runs_steps = self.clients.request(id).is_some_and(|request| request.call.verb.acts());
        match self.tasks.get_mut(id) {
            // The step that is with an app goes on to its end; the next one doesn't begin.
            Some(Task::Running(run)) => {
                run.cancelled = true;
                self.end_job_wait(id);
            }
            Some(Task::ReadingJob | Task::CancellingJob) => {
                self.end_job_wait(id);
            }
            Some(Task::Waiting(..) | Task::Log(_) | Task::Tracing(_)) => self.cancel_wait(id),
            Some(Task::Opening(opening)) if runs_steps => {
                let session = opening.session.clone();
                if let Some(found) = self.processes.get_mut(&session) {
                    found.opens.cancel_request(id);
                }
                self.fail_request(id, Fault::unavailable("cancelled, nothing was sent to an app"));
            }
            // What a run or a click waits for before it begins would begin it.
            Some(Task::Preparing { .. } | Task::Finding(_)) => {
                self.fail_request(id, Fault::unavailable("cancelled, nothing was sent to an app"));
            }
            Some(Task::Widening(_) | Task::Reopening(_)) if runs_steps => {
                self.fail_request(id, Fault::unavailable("cancelled, nothing was sent to an app"));
            }
            Some(
                Task::Opening(_)
                | Task::Widening(_)
                | Task::Reopening(_)
                | Task::Loading(_)
                | Task::ReadingUsage(_)
                | Task::Viewing(_)
                | Task::Reading(_)
                | Task::Resolving(_)
                | Task::Restarting(_)
                | Task::Ending(_)
                | Task::Stopping,
            )
            | None => {}
        }
    }

    /// Ends a client's request at its deadline.
    pub(crate) fn request_expired(&mut self, id: RequestId) {
        match self.tasks.get(id) {
            Some(Task::Viewing(_)) => self.finish_view_early(id, "it did not answer in time"),
            // The step's own request to its app expires in the same turn, and its reply says how the step ended.
            Some(Task::Running(_)) => {}
            Some(Task::Opening(opening)) => self.fail_slow_start(id, &opening.session.clone()),
            Some(Task::Restarting(session)) => self.fail_slow_start(id, &session.clone()),
            Some(_) => self.fail_request(id, Fault::unavailable("no answer in time")),
            None => self.fail_request(id, require::missing_task(&self.clients, id)),
        }
    }

    fn fail_slow_start(&mut self, id: RequestId, session: &SessionKey) {
        if let Some(found) = self.processes.get_mut(session) {
            found.opens.cancel_request(id);
        }
        let fault = Fault::unavailable(format!("{session} was not ready in time"))
            .hint(format!("pipemux logs {session}"));
        self.fail_request(id, fault);
    }
}

/// Replaces the unique name of a session, which Contexts have, by the session's own name. Inside of code and refs it is
/// understood where these are resolved.
fn name_plainly(workspace: &str, verb: &mut Verb) {
    if let Some(addr) = verb.session_mut() {
        *addr = plain_address(workspace, addr);
    } else if let Verb::Open(open) = verb
        && let Some(session) = open.session.take()
    {
        let written = SessionAddr { provider: open.provider.clone(), session };
        open.session = Some(plain_address(workspace, &written).session);
    }
}
