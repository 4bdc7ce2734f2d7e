//! Hands each request to the function of its verb, and carries out what that leaves to be done.

use pipemux_proto::Fault;
use pipemux_proto::client::{Answer, Verb};

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::usage::{Usage, UsageReport};
use crate::verbs::bounds::limits;
use crate::verbs::consent::consent;
use crate::verbs::find_session::find_session;
use crate::verbs::help::help;
use crate::verbs::history::history;
use crate::verbs::logs::{Lines, logs};
use crate::verbs::next::Next;
use crate::verbs::pause::pause;
use crate::verbs::providers::load_providers;
use crate::verbs::require;
use crate::verbs::set::set;
use crate::verbs::tasks::{AfterLoading, AfterOpen, Task};
use crate::verbs::trace::trace;
use crate::verbs::usage::{DaemonCounts, daemon_notes, list_sessions, read_usage, status};

impl Core {
    /// Hands a request to the function of its verb.
    pub(super) fn begin_verb(&mut self, id: RequestId, verb: Verb) {
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
}
