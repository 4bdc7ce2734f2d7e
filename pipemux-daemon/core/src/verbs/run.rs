//! `run`: checked as a whole, then carried out.

use bytes::Bytes;
use pipemux_proto::call::{self, Script};
use pipemux_proto::limits::STDIN_MAX;
use pipemux_proto::refs::RefKind;
use pipemux_proto::{Code, Fault, ProviderId};

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::runs::plan::Planner;
use crate::runs::{Run, RunInput, Step};
use crate::verbs::show::{AnswerKind, WantedWindow};
use crate::verbs::tasks::Task;

impl Core {
    pub(super) fn run(&mut self, job: RequestId, code: &str, stdin: Option<Bytes>) {
        match parse(code, stdin.as_deref()) {
            Err(fault) => self.fail_request(job, fault),
            Ok(script) => match script.steps.as_slice() {
                [call::Step::Ref(of, _)] if of.kind == RefKind::Link => {
                    let link = of.to_string();
                    self.click(job, &link);
                }
                [call::Step::Call(call)] => match clicked(call) {
                    Some(link) => self.click(job, &link),
                    None => self.prepare(job, &script),
                },
                _ => self.prepare(job, &script),
            },
        }
    }

    /// Starts the sessions whose prototypes the script needs and the daemon doesn't know yet.
    fn prepare(&mut self, job: RequestId, script: &Script) {
        if let Err(fault) = self.check_no_question(job) {
            return self.fail_request(job, fault);
        }
        let Some(found) = self.clients.request(job) else { return };
        let Some(workspace) = self.workspaces.get(&found.workspace) else { return };
        let unknown: Vec<SessionKey> = workspace
            .windows
            .with_unknown_actions(|provider| names(script, provider))
            .into_iter()
            .map(|window| &window.session)
            .filter(|key| self.processes.get(key).is_some_and(|s| s.failed.is_none()))
            .cloned()
            .collect();
        if unknown.is_empty() {
            return self.plan(job, script);
        }
        self.set_task(job, Task::Preparing(unknown.clone()));
        for session in unknown {
            // One that can't start has no prototypes, which the plan will say.
            let woken = self.processes.wake(&mut self.turn, &session).is_ok();
            if woken && self.processes.is_starting(&session) {
                self.processes.wait_until_ready(&session, job);
            }
        }
        // Once all of them are waited for: none may be left to wait for.
        self.session_settled(job, Ok(()));
    }

    /// A session that a request waits for is ready, or won't be.
    pub(crate) fn session_settled(&mut self, job: RequestId, settled: Result<(), Fault>) {
        let Some(found) = self.clients.request(job) else { return };
        match self.tasks.get(job) {
            Some(Task::Preparing(sessions)) => {
                let waiting = sessions.iter().any(|key| {
                    self.processes
                        .get(key)
                        .is_some_and(|session| session.ready_waiters.contains(&job))
                });
                if waiting {
                    return;
                }
                let pipemux_proto::client::Verb::Run { code, stdin } = &found.call.verb else {
                    return;
                };
                let parsed = parse(code, stdin.as_deref());
                match parsed {
                    Ok(script) => self.plan(job, &script),
                    Err(fault) => self.fail_request(job, fault),
                }
            }
            Some(Task::Restarting(session)) => {
                let session = session.clone();
                self.restarted(job, &session, settled);
            }
            _ => {}
        }
    }

    fn plan(&mut self, job: RequestId, script: &Script) {
        let Some(found) = self.clients.request(job) else { return };
        let pipemux_proto::client::Verb::Run { code, .. } = &found.call.verb else { return };
        let Some(workspace) = self.workspaces.get(&found.workspace) else { return };
        match Planner::new(workspace, self.processes.sessions(), code).plan(script) {
            Ok(steps) => self.begin_run(job, steps),
            Err(fault) => self.fail_request(job, fault),
        }
    }

    pub(super) fn begin_run(&mut self, job: RequestId, steps: Vec<Step>) {
        let Some(found) = self.clients.request(job) else { return };
        let call = &found.call;
        let (at, reader, run_id) = (&found.workspace, call.reader.clone(), call.run_id.clone());
        let mut run = Run::new(at.clone(), reader, run_id, steps);
        run.cwd.clone_from(&call.cwd);
        if let Some(workspace) = self.workspaces.get(at) {
            run.take_baseline(workspace, call.at);
        }
        self.start_run(job, run, RunInput::Begin);
    }

    /// Refuses a second run call while this reader has a question open.
    pub(super) fn check_no_question(&self, job: RequestId) -> Result<(), Fault> {
        let Some(found) = self.clients.request(job) else { return Ok(()) };
        let open = self.runs.questions_of(&found.workspace, &found.call.reader).next();
        match open {
            None => Ok(()),
            Some((number, question)) => {
                let ways = question.ways().join(" · ");
                let message = format!("question {number} is open: {}", question.title());
                Err(Fault::refused(message).hint(format!("pipemux answer {ways}")))
            }
        }
    }

    /// A run has ended or asks: the windows that it touched are shown with it.
    pub(crate) fn finish_run(&mut self, job: RequestId, mut run: Box<Run>) {
        if run.question.is_none() {
            run.end_unreached();
            // Now, and not once its windows are there: rounds are in the order in which they took effect.
            self.record_round(&run);
        }
        let Some(workspace) = self.workspaces.get(&run.workspace) else {
            return self.run_is_lost(job);
        };
        let call = self.clients.request(job).map(|job| &job.call);
        let (lod, budget) = call.map_or((None, None), |call| (call.lod, call.budget));
        let running = |key: &&SessionKey| {
            // A session that just died is not woken only to be shown.
            let up = self.processes.get(key).is_some_and(|session| session.ready().is_some());
            up && workspace.window(key).is_some() && !run.unknown
        };
        let wants = run
            .touched
            .iter()
            .filter(running)
            .map(|key| WantedWindow { session: key.clone(), lod, budget })
            .collect();
        self.show(job, wants, AnswerKind::Run(run));
    }
}

/// The link of `click(link:42)`, the spelling of the UI-Anchor document.
fn clicked(call: &call::Call) -> Option<String> {
    match (call.owner.as_ref(), call.action.as_str(), call.args.as_slice()) {
        (None, "click", [argument]) => match &argument.value {
            call::Expr::Ref(of) => Some(of.to_string()),
            call::Expr::Value(pipemux_proto::Value::Str(text)) => Some(text.clone()),
            call::Expr::Value(pipemux_proto::Value::Int(id)) => Some(id.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// True when a script may mean an app: it names it, or something in it names none.
fn names(script: &Script, provider: &ProviderId) -> bool {
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
            call::Expr::Value(_) | call::Expr::Ref(_) => false,
        }
    }
    script.steps.iter().any(|step| match step {
        call::Step::Call(call) => call_names(call, provider),
        call::Step::Ref(..) => false,
    })
}

fn parse(code: &str, stdin: Option<&[u8]>) -> Result<Script, Fault> {
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
    call::parse(code, stdin).map_err(|error| error.to_fault(code))
}

/// The exit status of a run.
pub(crate) fn exit_status(run: &Run) -> u8 {
    let fault = run.done.iter().find_map(|ended| ended.fault.as_ref());
    match fault {
        _ if run.question.is_some() => 5,
        _ if run.unknown => Code::Unknown.exit_status(),
        Some(_) if run.took_effect() => Code::Failed.exit_status(),
        Some(fault) => fault.code.exit_status(),
        None => 0,
    }
}
