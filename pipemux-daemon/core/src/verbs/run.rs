//! `run`: checks a script as a whole, then carries it out.

use std::rc::Rc;

use bytes::Bytes;
use pipemux_proto::call::{self, Script};
use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::limits::STDIN_MAX;
use pipemux_proto::refs::RefKind;
use pipemux_proto::{Code, Fault, ProviderId};

use crate::Core;
use crate::audit::ToldText;
use crate::keys::{RequestId, SessionKey};
use crate::limits::{ANSWER_BUDGET_MIN, LAST_LINE_TOKENS, RUN_BUDGET};
use crate::runs::link::clicked_link;
use crate::runs::plan::Planner;
use crate::runs::ref_errors;
use crate::runs::secrets::SecretActions;
use crate::runs::source::Source;
use crate::runs::{Run, RunInput, Step};
use crate::verbs::kept_rests::source_of;
use crate::verbs::require;
use crate::verbs::tasks::Task;
use crate::verbs::view::WantedWindow;
use crate::views::requested_window::AnswerKind;
use crate::workspaces::Workspace;

impl Core {
    /// Runs a script. A script that is only a link clicks it.
    pub(super) fn run(
        &mut self,
        id: RequestId,
        code: &str,
        stdin: Option<Bytes>,
    ) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let secrets = SecretActions::in_code(workspace, code);
        let shown = secrets.hidden_in_place(code);
        let script = match parse(code, stdin.as_deref(), shown.as_deref().unwrap_or(code)) {
            Ok(script) => script,
            Err(fault) => {
                let source = source_of(code, stdin.as_ref());
                return self.refuse_and_keep(id, fault, &source, 0);
            }
        };
        // A link alone may answer a question.
        let link = match script.steps.as_slice() {
            [call::Step::Ref(link, _)] if link.kind == RefKind::Link => Some(link.clone()),
            // What a click on a token means may be a query.
            [call::Step::Ref(token, _)] if token.prefix.is_some() => {
                let token = token.clone();
                return self.click_token(id, token);
            }
            [call::Step::Call(call)] => clicked_link(call).transpose()?,
            _ => None,
        };
        let request = require::request(&self.clients, id)?;
        match link {
            Some(link) if matches!(request.call.verb, Verb::Run { only_queries: true, .. }) => {
                Err(Fault::refused(format!("{link} is clicked, and only queries may run here"))
                    .hint(format!("pipemux click {link}")))
            }
            Some(link) => self.click(id, link),
            None => self.prepare(id, &script),
        }
    }

    /// Opens the built-in apps that the script calls and that aren't open, starts the sessions whose prototypes it
    /// needs and the daemon doesn't know yet, then plans the script.
    fn prepare(&mut self, id: RequestId, script: &Script) -> Result<(), Fault> {
        let Verb::Run { code, stdin, .. } = &require::request(&self.clients, id)?.call.verb else {
            return Err(require::missing_task(&self.clients, id));
        };
        match self.closed_app(id, &[(code, script)]) {
            Ok(None) => {}
            Ok(Some(provider)) => return self.open_for_run(id, provider),
            Err((index, fault)) => {
                let source = source_of(code, stdin.as_ref());
                return self.refuse_and_keep(id, fault, &source, index);
            }
        }
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let unknown = self.unknown_sessions(workspace, |provider| may_call(script, provider));
        if unknown.is_empty() {
            return self.plan(id, script);
        }
        self.wait_for_sessions(id, unknown)
    }

    /// Returns the sessions of `wanted` apps that may start and whose prototypes the daemon doesn't know yet.
    pub(super) fn unknown_sessions(
        &self,
        workspace: &Workspace,
        wanted: impl Fn(&ProviderId) -> bool,
    ) -> Vec<SessionKey> {
        let unknown = workspace.windows.with_unknown_actions(wanted).into_iter();
        unknown
            .map(|window| &window.session)
            .filter(|key| self.processes.get(key).is_some_and(|s| s.failed.is_none()))
            .cloned()
            .collect()
    }

    /// Starts sessions, and has a request wait for their prototypes.
    pub(super) fn wait_for_sessions(
        &mut self,
        id: RequestId,
        unknown: Vec<SessionKey>,
    ) -> Result<(), Fault> {
        self.set_task(id, Task::Preparing(unknown.clone()));
        for session in unknown {
            // A session that can't start has no prototypes, which the plan will report.
            let woken = self.processes.wake(&mut self.turn, &session).is_ok();
            if woken && self.processes.is_starting(&session) {
                self.processes.wait_until_ready(&session, id);
            }
        }
        // After the loop, because none of them may be left to wait for.
        self.session_settled(id, Ok(()))
    }

    /// Goes on with a run, an answer or a view for which an app was opened.
    pub(super) fn prepare_opened(&mut self, id: RequestId) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        match &request.call.verb {
            Verb::Run { code, stdin, .. } => {
                let script = parse(code, stdin.as_deref(), code)?;
                self.prepare(id, &script)
            }
            Verb::Answer { .. } => self.prepare_answer(id, true),
            // The window is open now, so that it isn't opened again.
            Verb::View(view) => {
                let view = view.clone();
                self.view(id, ViewArgs { open: false, ..view })
            }
            _ => Err(require::missing_task(&self.clients, id)),
        }
    }

    /// Goes on with what a failed run left, if it is still kept.
    fn prepare_answer(&mut self, id: RequestId, may_wait: bool) -> Result<(), Fault> {
        let Verb::Answer { to, .. } = &require::request(&self.clients, id)?.call.verb else {
            return Err(require::missing_task(&self.clients, id));
        };
        match self.named_rest(id, *to)? {
            Some(number) => self.resume_rest(id, number, may_wait),
            None => Err(Fault::not_found("the kept steps were dropped meanwhile")),
        }
    }

    /// Goes on with a request that waits for a session, now that the session is ready or won't be.
    pub(crate) fn session_settled(
        &mut self,
        id: RequestId,
        settled: Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.turn_windows_for(id);
        let request = require::request(&self.clients, id)?;
        match self.tasks.get(id) {
            Some(Task::Preparing(sessions)) => {
                let waiting = sessions.iter().any(|key| {
                    let session = self.processes.get(key);
                    session.is_some_and(|session| session.ready_waiters.contains(&id))
                });
                if waiting {
                    return Ok(());
                }
                if self.tasks.resolving.contains_key(&id) {
                    return self.resolve_prepared(id);
                }
                match &request.call.verb {
                    Verb::Run { code, stdin, .. } => {
                        let script = parse(code, stdin.as_deref(), code)?;
                        self.plan(id, &script)
                    }
                    Verb::Answer { .. } => self.prepare_answer(id, false),
                    Verb::Undo { round } => {
                        let round = *round;
                        self.undo(id, round, false)
                    }
                    _ => Err(require::missing_task(&self.clients, id)),
                }
            }
            Some(Task::Widening) => {
                settled?;
                match request.call.verb.clone() {
                    Verb::Open(open) => self.open_registered(id, open),
                    _ => self.prepare_opened(id),
                }
            }
            Some(Task::Reopening) => match request.call.verb.clone() {
                Verb::Open(open) => self.open_registered(id, open),
                _ => Err(require::missing_task(&self.clients, id)),
            },
            Some(Task::Restarting(session)) => {
                let session = session.clone();
                settled?;
                self.restarted(id, &session);
                Ok(())
            }
            // The request waits for something else by now.
            Some(_) => Ok(()),
            None => Err(require::missing_task(&self.clients, id)),
        }
    }

    /// Runs a call that the daemon has made, for what a reader clicked.
    pub(super) fn run_checked_call(&mut self, id: RequestId, code: &str) -> Result<(), Fault> {
        let script = parse(code, None, code)?;
        let request = require::request(&self.clients, id)?;
        let only_queries = matches!(request.call.verb, Verb::Run { only_queries: true, .. });
        let workspace = require::workspace(&self.workspaces, request)?;
        let planner = Planner::new(workspace, self.processes.sessions(), code);
        let planner = planner.clicked_by(&request.call.reader, request.call.at);
        let steps = planner.plan_parts(&[(code, &script)]).map_err(|(_, fault)| fault)?;
        if let Some(step) = steps.iter().find(|step| only_queries && !step.is_query()) {
            return Err(not_a_query(step));
        }
        self.run_steps(id, steps, None)
    }

    /// Checks a script against the prototypes, and runs it.
    fn plan(&mut self, id: RequestId, script: &Script) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let Verb::Run { code, stdin, only_queries } = &request.call.verb else {
            return Err(require::missing_task(&self.clients, id));
        };
        let (source, only_queries) = (source_of(code, stdin.as_ref()), *only_queries);
        let workspace = require::workspace(&self.workspaces, request)?;
        let secrets = SecretActions::in_code(workspace, code);
        let told = secrets.hidden(code).map_or(ToldText::Whole, ToldText::Hidden);
        let are_known = SecretActions::are_known(workspace);
        let shown = secrets.hidden_in_place(code);
        let shown = shown.as_deref().unwrap_or(code);
        let planner = Planner::new(workspace, self.processes.sessions(), shown);
        let planner = planner.clicked_by(&request.call.reader, request.call.at);
        let planned = planner.plan_parts(&[(shown, script)]);
        if let Some(notes) = self.clients.audit_notes(id) {
            let is_known = planned.is_ok() || !are_known;
            notes.text = if is_known { told } else { ToldText::Unchecked };
        }
        let steps = match planned {
            Ok(steps) => steps,
            Err((index, fault)) => return self.refuse_and_keep(id, fault, &source, index),
        };
        if let Some(step) = steps.iter().find(|step| only_queries && !step.is_query()) {
            return Err(not_a_query(step));
        }
        // Only here has the caller written the arguments.
        if self.widen_for_steps(id, &steps)? {
            return Ok(());
        }
        self.run_steps(id, steps, Some(source))
    }

    /// Starts a run of steps that were checked.
    pub(super) fn run_steps(
        &mut self,
        id: RequestId,
        steps: Vec<Step>,
        source: Option<Source>,
    ) -> Result<(), Fault> {
        self.run_steps_with(id, steps, |run| run.source = source.map(Rc::new))
    }

    /// Starts a run of steps that were checked, once more is said of it.
    pub(super) fn run_steps_with(
        &mut self,
        id: RequestId,
        steps: Vec<Step>,
        complete: impl FnOnce(&mut Run),
    ) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let call = &request.call;
        if let Some(epoch) = call.at.filter(|epoch| *epoch > workspace.epoch) {
            let named = steps.iter().flat_map(|step| &step.args);
            let named = named.filter_map(|(_, argument)| argument.first_ref()).next();
            return Err(match named {
                Some(of) => ref_errors::not_found(&ref_errors::name(of), None),
                None => ref_errors::unissued_epoch(epoch, workspace.epoch)
                    .hint("leave out --at: numbers and refs then mean what you saw last"),
            });
        }
        let (at, reader) = (request.workspace.clone(), call.reader.clone());
        let mut run = Run::new(at, reader, self.clients.pseudonym(call), steps);
        run.cwd.clone_from(&call.cwd);
        run.budget = call.budget.map_or(RUN_BUDGET, |budget| {
            budget.max(ANSWER_BUDGET_MIN).saturating_sub(LAST_LINE_TOKENS)
        });
        run.take_baseline(workspace, call.at);
        complete(&mut run);
        run.hide_secrets(workspace);
        // While a question is open its reader may look at everything; what acts waits for the answer.
        let open = self.runs.questions_of(&run.workspace, &run.reader).next();
        let open = open.map(|(number, _)| number);
        if let Some(number) = open.filter(|_| !run.only_looks()) {
            if self.wait_behind_question(id, number, &run)? {
                return Ok(());
            }
            let Some(question) = self.runs.question(&run.workspace, number) else {
                return Err(Self::lost_run());
            };
            let message = format!("question {number} is open: {}", question.title());
            let ways = question.ways().join(" · ");
            let fault = Fault::refused(message).hint(format!("pipemux answer {ways}"));
            let open = self.open_questions(id)?;
            return self.refuse_with_questions(id, open, fault);
        }
        self.start_run(id, run, RunInput::Begin)
    }

    /// Shows the windows that a run touched, once it has ended or asks a question.
    pub(crate) fn finish_run(&mut self, id: RequestId, mut run: Box<Run>) -> Result<(), Fault> {
        if run.question.is_none() {
            run.end_unreached();
            // Before the windows arrive, because rounds are in the order in which they took effect.
            if !run.only_queries() {
                self.record_round(id, &mut run);
            } else if let Some(notes) = self.clients.audit_notes(id) {
                notes.only_queries = true;
            }
        }
        let workspace = self.workspaces.get(&run.workspace).ok_or_else(Self::lost_run)?;
        let call = self.clients.request(id).map(|request| &request.call);
        let (lod, budget) = call.map_or((None, None), |call| (call.lod, call.budget));
        let fault = run.done.last().and_then(|outcome| outcome.fault.as_ref());
        let stale = fault.is_some_and(|fault| fault.code == Code::Stale);
        let is_shown = |key: &&SessionKey| {
            // A session that just died is not woken only to be shown. What was refused as stale is shown even so: its
            // session may be down since the daemon was lost, and the reader has to see the present state to go on.
            let ready = self.processes.get(key).is_some_and(|session| session.ready().is_some());
            // To a reader who hasn't seen the window the outcome says enough, unless it wants to look at it.
            let seen = workspace.seen(&run.reader, key).is_some() || run.turns_window(key);
            let untold = run.leaves_untold(key);
            // A refusal may show the lines itself, as they are now.
            let excerpt = run.told_lines.iter().any(|(session, ..)| session == *key);
            let stale = stale && (seen || !excerpt);
            (ready && seen && untold || stale) && workspace.window(key).is_some() && !run.unknown
        };
        let wanted = run
            .touched
            .iter()
            .filter(is_shown)
            .map(|key| WantedWindow { session: key.clone(), lod, budget })
            .collect();
        self.show_windows(id, wanted, AnswerKind::Run(run))
    }
}

/// Returns the refusal of a step where only queries may run.
fn not_a_query(step: &Step) -> Fault {
    let name = step.prototype.written_name();
    let message = format!("{name} is no query, and only queries may run here: nothing ran");
    Fault::refused(message).hint("pipemux run carries out the same calls")
}

/// Returns true when a script may call an app: it names the app, or a call in it names none.
pub(super) fn may_call(script: &Script, provider: &ProviderId) -> bool {
    fn call_names(call: &call::Call, provider: &ProviderId) -> bool {
        let own = call.owner.as_ref().is_none_or(|owner| owner.provider == *provider);
        own || call.args.iter().any(|argument| expr_names(&argument.value, provider))
    }
    fn expr_names(expr: &call::Expr, provider: &ProviderId) -> bool {
        match expr {
            call::Expr::Call(call) => call_names(call, provider),
            call::Expr::Name { owner, .. } => {
                owner.as_ref().is_none_or(|owner| owner.provider == *provider)
            }
            call::Expr::List(items) => items.iter().any(|(item, _)| expr_names(item, provider)),
            call::Expr::Record(entries) => {
                entries.iter().any(|entry| expr_names(&entry.value, provider))
            }
            call::Expr::Value(_) | call::Expr::Quoted(_) | call::Expr::Ref(_) => false,
        }
    }
    script.steps.iter().any(|step| match step {
        call::Step::Call(call) => call_names(call, provider),
        call::Step::Ref(..) => false,
    })
}

/// Parses a script; errors show it as `shown`, in which everything has the same place.
fn parse(code: &str, stdin: Option<&[u8]>, shown: &str) -> Result<Script, Fault> {
    if stdin.is_some_and(|stdin| stdin.len() > STDIN_MAX) {
        return Err(Fault::usage(format!("standard input is longer than {STDIN_MAX} bytes")));
    }
    let stdin = stdin
        .map(|bytes| {
            std::str::from_utf8(bytes).map_err(|error| {
                let at = error.valid_up_to();
                Fault::usage(format!("standard input is not UTF-8: byte {at}"))
            })
        })
        .transpose()?;
    call::parse_undecided(code, stdin).map_err(|error| error.to_fault(shown))
}
