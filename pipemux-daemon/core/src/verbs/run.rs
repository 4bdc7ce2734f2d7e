//! `run`: checks a script as a whole, then carries it out.

use std::rc::Rc;

use bytes::Bytes;
use pipemux_proto::call;
use pipemux_proto::refs::RefKind;
use pipemux_proto::{Code, Fault};

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::limits::{ANSWER_BUDGET_MIN, LAST_LINE_TOKENS, RUN_BUDGET};
use crate::pipeline::closed_apps::ClosedApps;
use crate::pipeline::grants::grant_for_steps;
use crate::pipeline::parsed_script::{ParsedScript, PlannedScript, ScriptOrigin, source_of};
use crate::processes::starting::wake;
use crate::runs::caller::Caller;
use crate::runs::origin::Origin;
use crate::runs::{Run, RunInput, Step};
use crate::scripts::link::clicked_link;
use crate::scripts::ref_errors;
use crate::scripts::secrets::SecretActions;
use crate::verbs::kept_rests::without_code;
use crate::verbs::require;
use crate::verbs::tasks::{AfterOpen, AfterStart, RefLookup, Task};
use crate::views::requested_window::{AnswerKind, WantedWindow};

impl Core {
    /// Runs a script. A script that is only a link clicks it.
    pub(crate) fn run(
        &mut self,
        id: RequestId,
        code: &str,
        stdin: Option<Bytes>,
        only_queries: bool,
    ) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let shown = SecretActions::in_code(workspace, code).hidden_in_place(code);
        let shown = shown.as_deref().unwrap_or(code);
        let script = match ParsedScript::typed(code, stdin.clone(), shown, only_queries) {
            Ok(script) => script,
            Err(fault) => {
                let source = source_of(code.to_owned(), stdin);
                return self.refuse_and_keep(id, fault, &source, 0);
            }
        };
        // A link alone may answer a question.
        let link = match script.first_steps() {
            [call::Step::Ref(link, _)] if link.kind == RefKind::Link => Some(link.clone()),
            // What a click on a token means may be a query.
            [call::Step::Ref(token, _)] if token.prefix.is_some() => {
                let token = token.clone();
                return self.look_up_refs(id, RefLookup::click(token), true);
            }
            [call::Step::Call(call)] => clicked_link(call).transpose()?,
            _ => None,
        };
        match link {
            Some(link) if only_queries => {
                Err(Fault::refused(format!("{link} is clicked, and only queries may run here"))
                    .hint(format!("pipemux click {link}")))
            }
            Some(link) => self.click(id, link),
            None => self.run_script(id, Box::new(script), true),
        }
    }

    /// Brings a script to its run: opens the built-in apps that it calls and that aren't open, starts the sessions
    /// whose prototypes it needs and the daemon doesn't know yet, plans it, and grants the folders that it names.
    /// Called again after each wait; once sessions were started for it, `may_start` is false.
    pub(crate) fn run_script(
        &mut self,
        id: RequestId,
        script: Box<ParsedScript>,
        may_start: bool,
    ) -> Result<(), Fault> {
        if let ScriptOrigin::Corrected(correction) = &script.origin
            && self.refuse_behind_question(id, correction.kept)?
        {
            return Ok(());
        }
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        if may_start {
            let closed = ClosedApps { providers: &self.providers, workspace };
            match closed.called_by(&script.parts()) {
                Ok(None) => {}
                Ok(Some(provider)) => {
                    return self.open_for(id, provider, AfterOpen::Script(script));
                }
                Err(refusal) => return self.refuse_unplanned(id, *script, refusal),
            }
            let unknown = script.unknown_sessions(workspace, &self.processes);
            if !unknown.is_empty() {
                return self.wait_for_sessions(id, unknown, AfterStart::Script(script));
            }
        }
        let (reader, at) = (&request.call.reader, request.call.at);
        let PlannedScript { told, steps } = script.plan(workspace, &self.processes, reader, at);
        if let (Some(told), Some(notes)) = (told, self.clients.audit_notes(id)) {
            notes.text = told;
        }
        let steps = match steps {
            Ok(steps) => steps,
            Err(refusal) => return self.refuse_planned(id, *script, refusal),
        };
        if let Some(step) = steps.iter().find(|step| script.only_queries() && !step.is_query()) {
            return Err(not_a_query(step));
        }
        if let ScriptOrigin::Typed { .. } = &script.origin {
            // Only here has the caller written the arguments.
            let cwd = require::request(&self.clients, id)?.call.cwd.as_str();
            let parts = (&self.clients, &mut self.processes);
            let sessions = grant_for_steps(&mut self.turn, parts, id, cwd, &steps)?;
            if !sessions.is_empty() {
                let then = AfterStart::Script(script);
                self.set_task(id, Task::Preparing { sessions, then });
                return Ok(());
            }
        }
        match &script.origin {
            ScriptOrigin::Corrected(_) => self.run_corrected(id, *script, steps),
            ScriptOrigin::Typed { .. } | ScriptOrigin::Clicked { .. } => {
                let source = script.into_source();
                let origin = source.map_or(Origin::Click, |source| Origin::Typed(Rc::new(source)));
                self.run_steps(id, steps, origin)
            }
        }
    }

    /// Refuses a script because of a call whose app isn't clear, and keeps its other steps.
    fn refuse_unplanned(
        &mut self,
        id: RequestId,
        script: ParsedScript,
        (index, fault): (usize, Fault),
    ) -> Result<(), Fault> {
        match &script.origin {
            ScriptOrigin::Corrected(correction) => {
                let number = correction.kept;
                let request = require::request(&self.clients, id)?;
                let workspace = require::workspace(&self.workspaces, request)?;
                let fault = match script.without_secrets(workspace) {
                    Some(_) => without_code(fault),
                    None => fault,
                };
                self.fail_keeping(id, fault, Some(number));
                Ok(())
            }
            _ => self.refuse_planned(id, script, (index, fault)),
        }
    }

    /// Refuses a script because of the step with this index, and keeps its other steps.
    fn refuse_planned(
        &mut self,
        id: RequestId,
        script: ParsedScript,
        (index, fault): (usize, Fault),
    ) -> Result<(), Fault> {
        if let ScriptOrigin::Corrected(_) = &script.origin {
            return self.refuse_correction(id, &script, (index, fault));
        }
        match script.into_source() {
            Some(source) => self.refuse_and_keep(id, fault, &source, index),
            None => Err(fault),
        }
    }

    /// Starts sessions, and has a request wait for them.
    pub(crate) fn wait_for_sessions(
        &mut self,
        id: RequestId,
        sessions: Vec<SessionKey>,
        then: AfterStart,
    ) -> Result<(), Fault> {
        self.set_task(id, Task::Preparing { sessions: sessions.clone(), then });
        for session in sessions {
            // A session that can't start has no prototypes, which the plan will report.
            let woken = wake(&mut self.turn, &mut self.processes, &session).is_ok();
            if let Some(found) = self.processes.get_mut(&session)
                && woken
                && found.is_starting()
            {
                found.wait_until_ready(id);
            }
        }
        // After the loop, because none of them may be left to wait for.
        self.session_settled(id, Ok(()))
    }

    /// Resumes a request that waits for a session, now that the session is ready or won't be.
    pub(crate) fn session_settled(
        &mut self,
        id: RequestId,
        settled: Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.turn_windows_for(id);
        require::request(&self.clients, id)?;
        let is_waited_for = |key: &SessionKey| {
            let session = self.processes.get(key);
            session.is_some_and(|session| session.ready_waiters.contains(&id))
        };
        match self.tasks.get(id) {
            Some(Task::Preparing { sessions, .. }) if sessions.iter().any(is_waited_for) => Ok(()),
            Some(
                Task::Preparing { .. }
                | Task::Widening(_)
                | Task::Reopening(_)
                | Task::Restarting(_),
            ) => match self.tasks.remove(id) {
                Some(Task::Preparing { then, .. }) => match then {
                    AfterStart::Script(script) => self.run_script(id, script, false),
                    AfterStart::Undo(round) => self.undo_round(id, round, false),
                    AfterStart::Resolve(lookup) => self.look_up_refs(id, lookup, false),
                },
                Some(Task::Widening(open)) => {
                    settled?;
                    self.open_registered(id, *open, AfterOpen::Show)
                }
                Some(Task::Reopening(open)) => self.open_registered(id, *open, AfterOpen::Show),
                Some(Task::Restarting(session)) => {
                    settled?;
                    self.restarted(id, &session);
                    Ok(())
                }
                _ => Err(require::missing_task(&self.clients, id)),
            },
            // The request waits for something else by now.
            Some(_) => Ok(()),
            None => Err(require::missing_task(&self.clients, id)),
        }
    }

    /// Starts a run of steps that were checked.
    pub(crate) fn run_steps(
        &mut self,
        id: RequestId,
        steps: Vec<Step>,
        origin: Origin,
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
        let (at, run_id) = (request.workspace.clone(), self.clients.pseudonym(call));
        let caller = Caller { cwd: call.cwd.clone(), ..Caller::new(at, &*call.reader, run_id) };
        let mut run = Run::new(caller, steps);
        run.budget = call.budget.map_or(RUN_BUDGET, |budget| {
            budget.max(ANSWER_BUDGET_MIN).saturating_sub(LAST_LINE_TOKENS)
        });
        run.take_baseline(workspace, call.at);
        run.origin = origin;
        run.hide_secrets(workspace);
        // While a question is open its reader may look at everything; what acts waits for the answer.
        let open = self.runs.questions_of(&run.caller.workspace, &run.caller.reader).next();
        let open = open.map(|(number, _)| number);
        if let Some(number) = open.filter(|_| !run.progress.only_looks()) {
            if self.wait_behind_question(id, number, &run)? {
                return Ok(());
            }
            let Some(question) = self.runs.question(&run.caller.workspace, number) else {
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
        if run.end.question.is_none() {
            run.end_unreached();
            // Before the windows arrive, because rounds are in the order in which they took effect.
            if !run.progress.only_queries() {
                self.record_round(id, &mut run);
            } else if let Some(notes) = self.clients.audit_notes(id) {
                notes.only_queries = true;
            }
        }
        let workspace = self.workspaces.get(&run.caller.workspace).ok_or_else(Self::lost_run)?;
        let call = self.clients.request(id).map(|request| &request.call);
        let (lod, budget) = call.map_or((None, None), |call| (call.lod, call.budget));
        let fault = run.progress.done.last().and_then(|outcome| outcome.fault.as_ref());
        let stale = fault.is_some_and(|fault| fault.code == Code::Stale);
        let is_shown = |key: &&SessionKey| {
            // A session that just died is not woken only to be shown. What was refused as stale is shown even so: its
            // session may be down since the daemon was lost, and the reader has to see the present state to go on.
            let ready = self.processes.get(key).is_some_and(|session| session.ready().is_some());
            // To a reader who hasn't seen the window the outcome says enough, unless it wants to look at it.
            let seen =
                workspace.seen(&run.caller.reader, key).is_some() || run.progress.turns_window(key);
            let untold = run.progress.leaves_untold(key);
            // A refusal may show the lines itself, as they are now.
            let excerpt = run.told_lines.iter().any(|(session, ..)| session == *key);
            let stale = stale && (seen || !excerpt);
            (ready && seen && untold || stale) && workspace.window(key).is_some() && !run.unknown
        };
        let wanted = run
            .own_changes
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
