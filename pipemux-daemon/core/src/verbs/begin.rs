//! A client's request, from its arrival to its one answer.

use pipemux_proto::client::{Answer, Body, Format, Verb, VerbEffect, VerbRequest};
use pipemux_proto::command::with_options;
use pipemux_proto::envelope::Envelope;
use pipemux_proto::report::Report;
use pipemux_proto::{Fault, Frame, SessionAddr, Value};

use crate::Core;
use crate::answers::delivery::confirm_delivery;
use crate::answers::kept_rest::kept_line;
use crate::audit::AuditEntry;
use crate::clients::connection::ClientInput;
use crate::clients::idempotency::ActKey;
use crate::event::ClientId;
use crate::keys::{RequestId, SessionKey, plain_address};
use crate::limits::ANSWER_BUDGET_MIN;
use crate::peer::PeerProcess;
use crate::persist::DiskFailure;
use crate::processes::reply::ReplyTo;
use crate::providers::find_manifest;
use crate::usage::{Usage, UsageReport};
use crate::verbs::bounds::limits;
use crate::verbs::consent::consent;
use crate::verbs::find_session::find_session;
use crate::verbs::help::help;
use crate::verbs::history::history;
use crate::verbs::logs::{Lines, logs};
use crate::verbs::next::Next;
use crate::verbs::pause::{act_refusal, pause};
use crate::verbs::providers::load_providers;
use crate::verbs::require;
use crate::verbs::set::set;
use crate::verbs::tasks::{AfterLoading, AfterOpen, Task};
use crate::verbs::trace::trace;
use crate::verbs::usage::{DaemonCounts, daemon_notes, list_sessions, read_usage, status};
use crate::views::answer::{fault_with_options, refusal};
use crate::views::context::unopened;
use crate::views::truncate::{cut_lines, cut_older_lines};

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
    pub(super) fn begin_acting(&mut self, id: RequestId) -> bool {
        let may = self.may_act(id);
        if may {
            self.clients.record_begun(&mut self.turn, id, None);
        }
        may
    }

    /// True if a request acts already, or may begin to, which is to be written down then. Otherwise nobody lets it, or
    /// the disk doesn't take it: it is answered with that, nothing of it took effect, and the client may send it again
    /// under the same id.
    pub(super) fn may_act(&mut self, id: RequestId) -> bool {
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

    /// Hands a request to the function of its verb.
    fn begin_verb(&mut self, id: RequestId, verb: Verb) {
        self.turn_windows_for(id);
        let result = match verb {
            Verb::Open(open) => self.open(id, open),
            Verb::View(view) => self.view(id, view),
            Verb::Click { link } => self.click_written(id, &link),
            Verb::Run { code, stdin, only_queries } => self.run(id, &code, stdin, only_queries),
            Verb::Answer { text, to, stdin } => self.answer_question(id, &text, to, stdin),
            Verb::Read { target } => match target.strip_prefix("job:") {
                Some(number) => self.read_job(id, number),
                None => self.read(id, &target),
            },
            Verb::Resolve { text, run } => self.resolve(id, &text, run),
            Verb::Close { session, end } => self.close(id, &session, end),
            Verb::Restart { session } => self.restart(id, &session),
            Verb::End { session } => self.end(id, &session),
            Verb::Undo { round } => self.undo(id, round, true),
            Verb::Watch(watch) => self.watch(id, watch),
            Verb::Down => return self.down(id),
            verb => {
                let next = self.begin_report(id, verb);
                return self.follow(id, next);
            }
        };
        self.fail_on_error(id, result);
    }

    /// Begins a verb that reports on the daemon, or changes its settings: none of them concerns an app's windows.
    fn begin_report(&mut self, id: RequestId, verb: Verb) -> Result<Next, Fault> {
        let request = require::request(&self.clients, id)?;
        let (turn, asked, at) = (&mut self.turn, (id, request.deadline), &request.workspace);
        let (processes, providers) = (&self.processes, &self.providers);
        let rounds = self.config.history_rounds();
        match verb {
            Verb::Help { provider, aliases, action } => {
                let lod = request.call.lod;
                help(providers, processes, lod, &provider, aliases, action.as_deref())
            }
            Verb::Apps => Ok(load_providers(turn, id, Default::default(), AfterLoading::List)),
            Verb::Providers(change) => Ok(load_providers(turn, id, change, AfterLoading::Report)),
            Verb::Sessions | Verb::Status => Ok(read_usage(turn, processes, id)),
            Verb::Logs { session, lines, after, wait_ms } => {
                let session = find_session(processes, providers, at, &session)?;
                Ok(logs(turn, processes, asked, &session, Lines { lines, after, wait_ms }))
            }
            Verb::Trace { session: addr, lines, after, wait_ms } => {
                let session = find_session(processes, providers, at, &addr)?;
                let apps = (&mut self.authoring, processes);
                Ok(trace(turn, apps, asked, (session, &addr), Lines { lines, after, wait_ms }))
            }
            Verb::History(args) => {
                history(&self.workspaces, &self.runs, request, &args, turn.now.unix_ms)
            }
            Verb::Set { option, value } => {
                set(turn, &mut self.workspaces, request, option.as_deref(), value.as_deref())
            }
            Verb::Limits => {
                let parts = (&self.clients, processes);
                Ok(limits(&self.config, parts, (&self.workspaces, &self.runs), request))
            }
            Verb::Consent(args) => consent(turn, &mut self.consents, at, args),
            Verb::Pause(args) => {
                pause(turn, &mut self.pauses, (&mut self.workspaces, at), rounds, args)
            }
            Verb::Open(_)
            | Verb::View(_)
            | Verb::Click { .. }
            | Verb::Run { .. }
            | Verb::Answer { .. }
            | Verb::Read { .. }
            | Verb::Resolve { .. }
            | Verb::Close { .. }
            | Verb::Restart { .. }
            | Verb::End { .. }
            | Verb::Undo { .. }
            | Verb::Watch(_)
            | Verb::Down => Err(require::missing_task(&self.clients, id)),
        }
    }

    /// Answers `sessions` or `status` with what was read.
    pub(crate) fn usage_read(&mut self, id: RequestId, report: &UsageReport) {
        let is_it = |task: &Task| matches!(task, Task::ReadingUsage(_));
        let (Some(Task::ReadingUsage(keys)), Some(request)) =
            (self.tasks.take_if(id, is_it), self.clients.request(id))
        else {
            // The request has its answer already.
            return;
        };
        let rows: Vec<(SessionKey, Usage)> =
            keys.into_iter().zip(report.sessions.iter().copied()).collect();
        let (processes, workspaces, now) = (&self.processes, &self.workspaces, self.turn.now);
        let next = match request.call.verb {
            Verb::Sessions => {
                list_sessions(processes, workspaces, &request.workspace, now.mono_ms, &rows)
            }
            _ => {
                let counts = DaemonCounts {
                    apps: self.providers.len(),
                    workspaces: workspaces.len(),
                    clients: self.clients.len(),
                    up_s: now.mono_ms.saturating_sub(self.turn.began.mono_ms) / 1000,
                };
                let paused = self.pauses.listed(now.unix_ms);
                let notes = daemon_notes(&self.config, &self.rules, &self.persist, paused);
                let config = (&self.config, self.rules.file.as_str());
                status(config, processes, &counts, notes, report.own, &rows)
            }
        };
        self.follow(id, Ok(next));
    }

    /// Carries out what a verb leaves to be done for its request.
    pub(crate) fn follow(&mut self, id: RequestId, next: Result<Next, Fault>) {
        match next {
            Ok(Next::Data(text, data)) => self.answer_data(id, text, data),
            Ok(Next::Body(body)) => {
                self.answer(id, Answer { exit: 0, body, delivery: 0, error: false });
            }
            Ok(Next::Wait(task)) => self.set_task(id, task),
            Ok(Next::Open(open)) => {
                let result = self.open_registered(id, *open, AfterOpen::Show);
                self.fail_on_error(id, result);
            }
            Err(fault) => self.fail_request(id, fault),
        }
    }

    /// Returns why a request may not act, if the settings forbid it or a pause holds its reader.
    pub(super) fn act_refusal(&self, id: RequestId) -> Option<Fault> {
        let request = self.clients.request(id)?;
        act_refusal(&self.rules, &self.pauses, request, self.turn.now.unix_ms)
    }

    /// Cancels a request whose client doesn't wait for the answer: takes back the steps of a run that were not
    /// begun, and ends a wait.
    fn cancel_request(&mut self, id: RequestId) {
        // A step that still waits for its app to start has not begun either.
        if self.processes.take_back_unsent(&mut self.turn, &ReplyTo::Invoke(id)) {
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

    /// Answers a request with an error. A request that has its answer already gets no other.
    pub(crate) fn fail_request(&mut self, id: RequestId, fault: Fault) {
        self.fail_keeping(id, fault, None);
    }

    /// Answers a request with an error, and with what is kept under a number.
    pub(super) fn fail_keeping(&mut self, id: RequestId, fault: Fault, kept: Option<u64>) {
        // Only an action asks for a consent.
        let fault = Fault { consent: None, ..fault };
        let Some(request) = self.clients.request(id) else { return };
        let options = &request.call.hint_options;
        let fault = fault_with_options(fault, options);
        let message = fault.message.clone();
        let exit = fault.code.exit_status();
        let kept = kept.and_then(|n| Some((n, self.runs.rest(&request.workspace, n)?)));
        let line = kept.map_or(String::new(), |(number, rest)| kept_line(number, rest));
        let body = match request.call.format {
            Format::Markdown => {
                Body::Text(format!("{}{}", refusal(&fault), with_options(&line, options)))
            }
            Format::Json => Body::Report(Box::new(Report {
                workspace: request.call.workspace.name.clone(),
                epoch: self.workspaces.get(&request.workspace).map_or(0, |found| found.epoch),
                // A window that was never opened has its error, too.
                windows: match self.tasks.get(id) {
                    Some(Task::Opening(opening)) if fault.code.context_error().is_some() => {
                        let at = (&request.workspace, self.turn.now);
                        vec![unopened(at, &opening.session, &fault)]
                    }
                    _ => Vec::new(),
                },
                error: Some(fault),
                kept: kept.map(|(number, rest)| rest.report(number)),
                ..Report::default()
            })),
        };
        if let Some(notes) = self.clients.audit_notes(id) {
            notes.set_result(&message);
        }
        self.answer(id, Answer { exit, body, delivery: 0, error: true });
    }

    /// Answers a request with data, as a table of text or as JSON. A request that has its answer already gets no
    /// other.
    pub(crate) fn answer_data(&mut self, id: RequestId, text: String, data: Value) {
        let Some(request) = self.clients.request(id) else { return };
        let text = match request.call.budget.map(|budget| budget.max(ANSWER_BUDGET_MIN).into()) {
            None => text,
            Some(budget) => match request.call.verb {
                // The newest lines come last.
                Verb::History(_) | Verb::Logs { .. } | Verb::Trace { .. } => {
                    cut_older_lines(&text, budget)
                }
                _ => cut_lines(&text, budget),
            },
        };
        let body = match request.call.format {
            Format::Markdown => Body::Text(text),
            Format::Json => Body::Data(data),
        };
        self.answer(id, Answer { exit: 0, body, delivery: 0, error: false });
    }

    /// Returns the options that commands in the answer of a request repeat.
    pub(super) fn hint_options(&self, id: RequestId) -> &str {
        self.clients.request(id).map_or("", |request| &request.call.hint_options)
    }

    /// Gives a request its one answer.
    pub(crate) fn answer(&mut self, id: RequestId, answer: Answer) {
        self.end_task(id);
        self.clients.answer(&mut self.turn, id, answer);
    }

    /// Gives a request a task, unless the request has its answer already.
    pub(crate) fn set_task(&mut self, id: RequestId, task: Task) {
        if self.clients.request(id).is_some() {
            self.tasks.set(id, task);
        }
    }

    /// Drops the task of a request that is about to be answered, and its prefetched window.
    pub(super) fn end_task(&mut self, id: RequestId) {
        self.tasks.remove(id);
        self.drop_job_wait(id);
        self.tasks.prefetches.cancel(id, &mut self.processes, &mut self.turn);
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
