//! Hands each request to the function of its verb, and carries out what that leaves to be done.

use pipemux_proto::Fault;
use pipemux_proto::client::{Answer, Verb};

use crate::Core;
use crate::answers::per_reader::turn_windows_for;
use crate::core::answers::{data_body, failed};
use crate::keys::{RequestId, SessionKey};
use crate::usage::{Usage, UsageReport};
use crate::verbs::bounds::limits;
use crate::verbs::click::{click, click_written};
use crate::verbs::consent::consent;
use crate::verbs::find_session::find_session;
use crate::verbs::help::help;
use crate::verbs::hidden_link::find_hidden_link;
use crate::verbs::history::history;
use crate::verbs::jobs::{cancel_job, read_job};
use crate::verbs::logs::{Lines, logs};
use crate::verbs::next::{Next, SessionStart, Work};
use crate::verbs::open::open;
use crate::verbs::pause::pause;
use crate::verbs::providers::load_providers;
use crate::verbs::read::read;
use crate::verbs::require;
use crate::verbs::resolve::{refs_in, resolve_refs};
use crate::verbs::run::{RunArgs, run, start_sessions};
use crate::verbs::set::set;
use crate::verbs::stop::{end_session, restart, retry_attaching, session_settled};
use crate::verbs::tasks::{AfterLoading, Task};
use crate::verbs::trace::trace;
use crate::verbs::undo::{UndosInProgress, undo};
use crate::verbs::usage::{DaemonCounts, daemon_notes, list_sessions, read_usage, status};
use crate::verbs::view::view;
use crate::verbs::watch::{life, watch};

impl Core {
    /// Hands a request to the function of its verb.
    pub(super) fn begin_verb(&mut self, id: RequestId, verb: Verb) -> Result<Next, Fault> {
        let request = require::request(&self.clients, id)?;
        let (turn, at) = (&mut self.turn, &request.workspace);
        let (processes, providers) = (&mut self.processes, &self.providers);
        match verb {
            Verb::Open(args) => Ok(open(turn, providers, id, args)),
            Verb::View(args) => Ok(Next::Work(Work::View(Box::new(args)))),
            Verb::Click { link } => click_written(&link),
            Verb::Run { code, stdin, only_queries } => {
                run(&mut questions!(self), id, RunArgs { code, stdin, only_queries })
            }
            Verb::Answer { text, to, stdin } => {
                questions!(self).answer(&self.processes, id, &text, to, stdin)
            }
            Verb::Read { target } => match target.strip_prefix("job:") {
                Some(number) => {
                    let (tasks, workspaces) = (&mut self.tasks, &mut self.workspaces);
                    read_job(turn, tasks, workspaces, &self.jobs, request, number)
                }
                None => {
                    let workspace = require::workspace(&self.workspaces, request)?;
                    read(turn, processes, workspace, request, &target)
                }
            },
            Verb::Resolve { text, run } => refs_in(&text, run)
                .map(|lookup| Next::Work(Work::LookUp(lookup, SessionStart::Allowed))),
            Verb::Close { session, end: false } => window_closer!(self).close(request, &session),
            Verb::Close { session, end: true } | Verb::End { session } => {
                find_session(processes, providers, at, &session)
                    .map(|key| Next::Work(Work::EndSession(key)))
            }
            Verb::Restart { session } => {
                restart(turn, &mut self.tasks, processes, providers, request, &session)
            }
            Verb::Undo { round } => Ok(Next::Work(Work::Undo(round, SessionStart::Allowed))),
            Verb::Down => Ok(Next::Work(Work::StopDaemon)),
            verb => self.report(id, verb),
        }
    }

    /// Begins a verb that reports on the daemon, or changes its settings: none of them concerns an
    /// app's windows.
    fn report(&mut self, id: RequestId, verb: Verb) -> Result<Next, Fault> {
        let request = require::request(&self.clients, id)?;
        let (turn, at) = (&mut self.turn, &request.workspace);
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
                Ok(logs(turn, processes, request, &session, Lines { lines, after, wait_ms }))
            }
            Verb::Trace { session: addr, lines, after, wait_ms } => {
                let session = find_session(processes, providers, at, &addr)?;
                let apps = (&mut self.authoring, processes);
                Ok(trace(turn, apps, request, (session, &addr), Lines { lines, after, wait_ms }))
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
            | Verb::Down => Ok(Next::Nothing),
        }
    }

    /// Carries out what a verb leaves to be done for its request, until the request waits or is
    /// answered. A fault becomes the answer. A request that is already answered isn't answered
    /// again.
    pub(super) fn follow(&mut self, id: RequestId, next: Result<Next, Fault>) {
        turn_windows_for(&self.clients, &mut self.workspaces, &self.processes, id);
        let mut next = next.unwrap_or_else(|fault| Next::Fail(fault, None));
        loop {
            let Some(request) = self.clients.request(id) else { return };
            let (body, exit, delivery, error) = match next {
                Next::Nothing => return,
                Next::Data(text, data) => (data_body(&request.call, text, data), 0, 0, false),
                Next::Body(body) => (body, 0, 0, false),
                Next::Deliver(body, delivery) => (body, 0, delivery, false),
                Next::Refusal(exit, body) => (body, exit, 0, true),
                Next::Fail(fault, kept) => {
                    let requests = (&mut self.clients, &self.tasks);
                    let (workspaces, runs, now) = (&self.workspaces, &self.runs, self.turn.now);
                    let (body, exit) = failed(requests, workspaces, runs, now, id, fault, kept);
                    (body, exit, 0, true)
                }
                Next::Wait(task) => return self.tasks.set(id, task),
                Next::Work(work) => {
                    let following = self.carry_on(id, work);
                    next = following.unwrap_or_else(|fault| Next::Fail(fault, None));
                    continue;
                }
                Next::Run(work) => {
                    let following = self.carry_on_run(id, work);
                    next = following.unwrap_or_else(|fault| Next::Fail(fault, None));
                    continue;
                }
            };
            self.tasks.end(&mut self.turn, &mut self.processes, id);
            let answer = Answer { exit, body, delivery, error };
            return self.clients.answer(&mut self.turn, id, answer);
        }
    }

    /// Does work that a request needs before it can be answered. Returns what is left then.
    fn carry_on(&mut self, id: RequestId, work: Work) -> Result<Next, Fault> {
        let request = require::request(&self.clients, id)?;
        let (turn, processes) = (&mut self.turn, &mut self.processes);
        match work {
            Work::Open(args, then) => {
                return opens!(self).open((&self.rules, &self.providers), id, *args, then);
            }
            Work::FinishOpen(notes) => return opens!(self).finish(id, notes),
            Work::Show(windows, kind) => window_answers!(self).show(id, windows, kind)?,
            Work::View(args) => {
                let workspace = require::workspace(&self.workspaces, request)?;
                let (providers, jobs) = (&self.providers, &self.jobs);
                return view(turn, processes, providers, jobs, (request, workspace), *args);
            }
            Work::Await { wait, wait_ms, pause_ms } => {
                waits!(self).begin(id, *wait, wait_ms, pause_ms)?;
            }
            Work::Start(sessions, then) => {
                start_sessions(turn, processes, id, &sessions);
                self.tasks.set(id, Task::Preparing { sessions, then });
                // None of them may be left to wait for.
                return session_settled(&mut self.tasks, processes, request, Ok(()));
            }
            Work::Undo(round, start) => {
                let in_progress = UndosInProgress { asking: &self.runs, tasks: &self.tasks };
                let workspaces = &mut self.workspaces;
                return undo(turn, workspaces, processes, &in_progress, request, round, start);
            }
            Work::LookUp(lookup, start) => {
                let workspace = require::workspace(&self.workspaces, request)?;
                return resolve_refs(turn, processes, workspace, request, lookup, start);
            }
            Work::Click(link) => {
                let workspace = require::workspace(&self.workspaces, request)?;
                return click(workspace, processes, request, link);
            }
            Work::FindLink(link, session) => {
                let workspace = require::workspace(&self.workspaces, request)?;
                return find_hidden_link(turn, processes, workspace, request, link, session);
            }
            Work::CancelJob(number) => {
                let (tasks, workspaces) = (&mut self.tasks, &mut self.workspaces);
                let apps = (tasks, processes);
                return cancel_job(turn, apps, workspaces, &self.jobs, request, number);
            }
            Work::EndSession(key) => {
                window_closer!(self).close_all(&key, &request.call.reader);
                self.tasks.set(id, Task::Ending(key.clone()));
                let (turn, processes) = (&mut self.turn, &mut self.processes);
                if let Some(why) = end_session(turn, processes, &key) {
                    retry_attaching(turn, &mut self.clients, processes, &key, (true, &why));
                }
                self.session_ended(&key);
            }
            Work::StopDaemon => {
                self.tasks.set(id, Task::Stopping);
                self.stop();
            }
        }
        Ok(Next::Nothing)
    }

    /// Answers `sessions` or `status` with what was read.
    pub(super) fn usage_read(&mut self, id: RequestId, report: &UsageReport) {
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
                    clients: self.clients.connections.len(),
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
}
