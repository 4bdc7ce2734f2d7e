//! A client's request from its arrival: it is refused, begun, cancelled, or ends at its deadline.

use pipemux_proto::client::{Verb, VerbEffect, VerbRequest};
use pipemux_proto::envelope::Envelope;
use pipemux_proto::{Fault, SessionAddr};

use crate::Core;
use crate::answers::delivery::confirm_delivery;
use crate::answers::per_reader::turn_windows_for;
use crate::audit::AuditEntry;
use crate::authoring::Authoring;
use crate::clients::Clients;
use crate::clients::connection::ClientInput;
use crate::core::enter_workspace::enter_workspace;
use crate::event::ClientId;
use crate::keys::{RequestId, SessionKey, plain_address};
use crate::processes::Processes;
use crate::processes::reply::ReplyTo;
use crate::processes::requests::take_back_unsent;
use crate::providers::find_manifest;
use crate::turn::Turn;
use crate::verbs::logs::finish_log_watch;
use crate::verbs::next::Next;
use crate::verbs::require;
use crate::verbs::tasks::{Task, Tasks};
use crate::verbs::trace::finish_trace_wait;

impl Core {
    /// Handles what a client asked for, if its process may.
    pub(super) fn handle_input(&mut self, client: ClientId, input: ClientInput) {
        let refusal =
            self.clients.connections.refusal(client, &input, &self.processes, self.config.pid);
        if let ClientInput::Attach(_, attach) = &input {
            let why = refusal.as_ref().map(|fault| fault.message.clone());
            let entry = AuditEntry::of_attach(&attach.workspace.key, &attach.session, why);
            self.turn.audit(AuditEntry { peer: self.clients.connections.peer(client), ..entry });
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
                    self.clients.connections.refuse(turn, client, &envelope, &fault);
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
                self.clients.connections.seen(&mut self.turn, client, &envelope);
            }
            ClientInput::Attach(envelope, mut attach) => {
                attach.session = plain_address(&attach.workspace.key, &attach.session);
                let scope = find_manifest(&self.providers, &attach.session.provider)
                    .map(|found| found.scope);
                let Clients { connections, exchanges, .. } = &mut self.clients;
                let apps = (&mut self.turn, &mut self.processes);
                exchanges.attach(connections, apps, client, (envelope, attach), scope);
            }
            ClientInput::Cancel(request) => self.cancel_request(request),
        }
    }

    /// Begins a request. The record of one that acts is written before any action of it reaches an
    /// app.
    fn begin(
        &mut self,
        client: ClientId,
        envelope: Envelope,
        (mut call, length): (VerbRequest, usize),
    ) {
        name_plainly(&call.workspace.key, &mut call.verb);
        let (runs, turn) = (&mut self.runs, &mut self.turn);
        let entered = enter_workspace(turn, &mut self.workspaces, runs, &mut self.persist, &call);
        let entered = entered.and_then(|key| {
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
        let permission = permission!(self);
        // What runs calls begins to act at its first call that is no query.
        if verb.kind().effect() == VerbEffect::RunsActions {
            if let Err(fault) = permission.check(&mut self.clients, id) {
                return self.follow(id, Err(fault));
            }
            self.clients.record_begun(&mut self.turn, id, None);
        }
        // A program that is added runs with the rights that its manifest asks for, outside of all
        // that holds a reader.
        if matches!(verb, Verb::Providers(_))
            && let Some(request) = self.clients.request(id)
            && let Some(fault) = permission.refusal(request)
        {
            return self.follow(id, Err(fault));
        }
        turn_windows_for(&self.clients, &mut self.workspaces, &self.processes, id);
        let next = self.begin_verb(id, verb);
        self.follow(id, next);
    }

    /// Cancels a request whose client no longer waits for the answer: drops the steps of a run that
    /// haven't begun, and ends a wait.
    pub(super) fn cancel_request(&mut self, id: RequestId) {
        // A step that still waits for its app to start has not begun either.
        if take_back_unsent(&mut self.turn, &mut self.processes, &ReplyTo::Invoke(id)) {
            return;
        }
        let runs_steps = self.clients.request(id).is_some_and(|request| request.call.verb.acts());
        let begins = match self.tasks.get_mut(id) {
            // The step that is with an app goes on to its end; the next one doesn't begin.
            Some(Task::Running(run)) => {
                run.cancelled = true;
                self.end_job_wait(id);
                return;
            }
            Some(Task::ReadingJob | Task::CancellingJob) => {
                self.end_job_wait(id);
                return;
            }
            Some(Task::Log(_) | Task::Tracing(_)) => {
                let next = followed_so_far(&mut self.turn, &self.authoring, &self.tasks, id);
                return self.follow(id, Ok(next));
            }
            Some(Task::Waiting(..)) => {
                self.tasks.take_wait(&mut self.turn, id);
                return self.follow(id, Err(Fault::unavailable("cancelled")));
            }
            Some(Task::Opening(opening)) if runs_steps => {
                if let Some(found) = self.processes.get_mut(&opening.session) {
                    found.opens.cancel_request(id);
                }
                true
            }
            // What a run or a click waits for before it begins would begin it.
            Some(Task::Preparing { .. } | Task::Finding(_)) => true,
            Some(Task::Widening(_) | Task::Reopening(_)) => runs_steps,
            Some(
                Task::Opening(_)
                | Task::Loading(_)
                | Task::ReadingUsage(_)
                | Task::Viewing(_)
                | Task::Reading(_)
                | Task::Resolving(_)
                | Task::Restarting(_)
                | Task::Ending(_)
                | Task::Stopping,
            )
            | None => false,
        };
        if begins {
            let fault = Fault::unavailable("cancelled, nothing was sent to an app");
            self.follow(id, Err(fault));
        }
    }

    /// Ends a client's request at its deadline.
    pub(super) fn request_expired(&mut self, id: RequestId) {
        let fault = match self.tasks.get(id) {
            Some(Task::Viewing(_)) => {
                let why = "it did not answer in time";
                let shown = window_answers!(self).finish_early(id, why);
                return self.follow(id, shown.map(|()| Next::Nothing));
            }
            // The step's own request to its app expires in the same turn, and its reply says how
            // the step ended.
            Some(Task::Running(_)) => return,
            Some(Task::Opening(opening)) => slow_start(&mut self.processes, id, &opening.session),
            Some(Task::Restarting(session)) => slow_start(&mut self.processes, id, session),
            Some(_) => Fault::unavailable("no answer in time"),
            None => match self.clients.request(id) {
                Some(request) => require::lost_request(request),
                None => return,
            },
        };
        self.follow(id, Err(fault));
    }

    /// Ends a wait whose timer fired, whether something has happened or not.
    pub(super) fn wait_expired(&mut self, id: RequestId) {
        if self.end_job_wait(id) {
            return;
        }
        match self.tasks.get(id) {
            Some(Task::Log(_) | Task::Tracing(_)) => {
                let next = followed_so_far(&mut self.turn, &self.authoring, &self.tasks, id);
                self.follow(id, Ok(next));
            }
            Some(Task::Waiting(..)) => {
                let next = waits!(self).expire(id);
                self.follow(id, next);
            }
            _ => {}
        }
    }
}

/// Returns the answer of a request that follows a log or frames: what there is.
fn followed_so_far(turn: &mut Turn, authoring: &Authoring, tasks: &Tasks, id: RequestId) -> Next {
    let log = finish_log_watch(turn, tasks, id);
    let next = log.or_else(|| finish_trace_wait(turn, authoring, tasks, id, true));
    next.unwrap_or(Next::Nothing)
}

/// Gives up on a session that isn't ready at the deadline of a request.
fn slow_start(processes: &mut Processes, id: RequestId, session: &SessionKey) -> Fault {
    if let Some(found) = processes.get_mut(session) {
        found.opens.cancel_request(id);
    }
    Fault::unavailable(format!("{session} was not ready in time"))
        .hint(format!("pipemux logs {session}"))
}

/// Replaces a session's unique name, as Contexts give it, by the session's own name. Unique names
/// inside code and refs are resolved later, with the code and refs.
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
