//! Hands each request to the function of its verb, and carries out what that leaves to be done.

use pipemux_proto::Fault;
use pipemux_proto::client::{Answer, Verb, ViewArgs};

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::processes::reply::AppReply;
use crate::usage::{Usage, UsageReport};
use crate::verbs::bounds::limits;
use crate::verbs::consent::consent;
use crate::verbs::find_session::find_session;
use crate::verbs::help::help;
use crate::verbs::history::history;
use crate::verbs::logs::{Lines, logs};
use crate::verbs::next::Next;
use crate::verbs::open::open;
use crate::verbs::pause::pause;
use crate::verbs::providers::load_providers;
use crate::verbs::require;
use crate::verbs::resolve::{refs_in, resolve_refs, resolved, take_locations};
use crate::verbs::set::set;
use crate::verbs::tasks::{AfterLoading, AfterOpen, RefLookup, Task};
use crate::verbs::trace::trace;
use crate::verbs::undo::{UndosInProgress, undo};
use crate::verbs::usage::{DaemonCounts, daemon_notes, list_sessions, read_usage, status};
use crate::verbs::view::view;
use crate::verbs::watch::{life, watch};

impl Core {
    /// Hands a request to the function of its verb.
    pub(super) fn begin_verb(&mut self, id: RequestId, verb: Verb) {
        self.turn_windows_for(id);
        let result = match verb {
            Verb::Open(args) => {
                let next = open(&mut self.turn, &self.providers, id, args);
                self.carry_out(id, next)
            }
            Verb::View(view) => self.begin_view(id, view),
            Verb::Click { link } => self.click_written(id, &link),
            Verb::Run { code, stdin, only_queries } => self.run(id, &code, stdin, only_queries),
            Verb::Answer { text, to, stdin } => self.answer_question(id, &text, to, stdin),
            Verb::Read { target } => match target.strip_prefix("job:") {
                Some(number) => self.read_job(id, number),
                None => self.read(id, &target),
            },
            Verb::Resolve { text, run } => {
                refs_in(&text, run).and_then(|lookup| self.look_up_refs(id, lookup, true))
            }
            Verb::Close { session, end } => self.close(id, &session, end),
            Verb::Restart { session } => self.restart(id, &session),
            Verb::End { session } => self.end(id, &session),
            Verb::Undo { round } => self.undo_round(id, round, true),
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
            Verb::Watch(args) => Ok(watch(&self.feed, &self.workspaces, life(turn), request, args)),
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

    /// Shows the workspace or one of its windows, at once or when it has changed.
    pub(crate) fn begin_view(&mut self, id: RequestId, args: ViewArgs) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let (turn, processes, jobs) = (&mut self.turn, &mut self.processes, &self.jobs);
        let next = view(turn, processes, &self.providers, jobs, (request, workspace), args)?;
        self.carry_out(id, next)
    }

    /// Undoes a round. Called again with `may_start` false, once the sessions have started that it needs.
    pub(crate) fn undo_round(
        &mut self,
        id: RequestId,
        round: Option<u64>,
        may_start: bool,
    ) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let (turn, workspaces, processes) = (&mut self.turn, &mut self.workspaces, &self.processes);
        let in_progress = UndosInProgress { asking: &self.runs, tasks: &self.tasks };
        let next = undo(turn, workspaces, processes, &in_progress, request, round, may_start)?;
        self.carry_out(id, next)
    }

    /// Looks refs up. Called again with `may_start` false, once the apps have started whose tokens weren't known.
    pub(crate) fn look_up_refs(
        &mut self,
        id: RequestId,
        lookup: RefLookup,
        may_start: bool,
    ) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let (turn, processes) = (&mut self.turn, &mut self.processes);
        let next = resolve_refs(turn, processes, workspace, (id, request), lookup, may_start)?;
        self.carry_out(id, next)
    }

    /// Takes what an app says of the refs and tokens that it was asked about.
    pub(crate) fn resolve_replied(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        reply: AppReply,
    ) -> Result<(), Fault> {
        if let Some(Task::Resolving(resolving)) = self.tasks.get_mut(id) {
            take_locations(resolving, &self.processes, session, reply);
            if !resolving.asked.is_empty() {
                return Ok(());
            }
        }
        let is_it = |task: &Task| matches!(task, Task::Resolving(_));
        let Some(Task::Resolving(resolving)) = self.tasks.take_if(id, is_it) else {
            // The request has its answer already.
            return Ok(());
        };
        let next = resolved(&require::request(&self.clients, id)?.call, *resolving)?;
        self.carry_out(id, next)
    }

    /// Carries out what a verb leaves to be done for its request, or answers it with the verb's fault.
    pub(crate) fn follow(&mut self, id: RequestId, next: Result<Next, Fault>) {
        let result = next.and_then(|next| self.carry_out(id, next));
        self.fail_on_error(id, result);
    }

    /// Carries out what a verb leaves to be done for its request.
    fn carry_out(&mut self, id: RequestId, next: Next) -> Result<(), Fault> {
        match next {
            Next::Data(text, data) => self.answer_data(id, text, data),
            Next::Body(body) => {
                self.answer(id, Answer { exit: 0, body, delivery: 0, error: false });
            }
            Next::Refusal(exit, body) => {
                self.answer(id, Answer { exit, body, delivery: 0, error: true });
            }
            Next::Wait(task) => self.set_task(id, task),
            Next::Open(open) => return self.open_registered(id, *open, AfterOpen::Show),
            Next::OpenFor(provider, then) => return self.open_for(id, provider, then),
            Next::Show(windows, kind) => return self.show_windows(id, windows, kind),
            Next::Await { wait, wait_ms, pause_ms } => {
                return self.begin_wait(id, *wait, wait_ms, pause_ms);
            }
            Next::Start(sessions, then) => return self.wait_for_sessions(id, sessions, then),
            Next::Steps(steps, origin) => return self.run_steps(id, steps, origin),
            Next::Script(script) => return self.run_script(id, script, false),
            Next::Click(link) => return self.click(id, link),
        }
        Ok(())
    }
}
