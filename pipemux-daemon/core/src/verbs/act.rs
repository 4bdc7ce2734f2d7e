//! `run`, `click` and `answer`.

use std::rc::Rc;

use bytes::Bytes;
use pipemux_proto::call::{self, Script};
use pipemux_proto::limits::STDIN_MAX;
use pipemux_proto::refs::{Local, Ref, RefKind};
use pipemux_proto::{Code, Fault, ProviderId};

use super::show::{Head, Want};
use crate::Core;
use crate::act::plan::Planner;
use crate::act::question::{Answering, From};
use crate::act::{Acting, Argument, Ended, Gap, Prototypes, Step, fixed, gap, soft};
use crate::anchors::{Miss, Target};
use crate::event::Effect;
use crate::jobs::Task;
use crate::keys::{JobId, SessionKey};
use crate::render::window::open_params;
use crate::saved::Record;
use crate::session::Life;
use pipemux_proto::app::Choice;
use pipemux_proto::report::Status;

impl Core {
    pub(super) fn run(&mut self, job: JobId, code: &str, stdin: Option<Bytes>) {
        match parse(code, stdin.as_deref()) {
            Err(fault) => self.fail_job(job, fault),
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
    fn prepare(&mut self, job: JobId, script: &Script) {
        if let Err(fault) = self.check_no_question(job) {
            return self.fail_job(job, fault);
        }
        let Some(found) = self.jobs.get(&job) else { return };
        let Some(workspace) = self.workspaces.get(&found.workspace) else { return };
        let unknown: Vec<SessionKey> = workspace
            .windows
            .iter()
            .map(|window| &window.session)
            .filter(|key| self.sessions.get(key).is_some_and(|s| s.prototypes.is_empty()))
            .filter(|key| self.sessions.get(key).is_some_and(|s| s.failed.is_none()))
            .filter(|key| names(script, &key.addr.provider))
            .cloned()
            .collect();
        if unknown.is_empty() {
            return self.plan(job, script);
        }
        if let Some(job) = self.jobs.get_mut(&job) {
            job.task = Task::Preparing(unknown.clone());
        }
        for session in unknown {
            // One that can't start has no prototypes, which the plan will say.
            let woken = self.wake(&session).is_ok();
            if let Some(live) = self.sessions.get_mut(&session).filter(|_| woken)
                && !matches!(live.life, Life::Ready { .. })
            {
                live.watchers.push(job);
            }
        }
        // Once all of them are waited for: none may be left to wait for.
        self.session_settled(job, Ok(()));
    }

    /// A session that a request waits for is ready, or won't be.
    pub(crate) fn session_settled(&mut self, job: JobId, settled: Result<(), Fault>) {
        let Some(found) = self.jobs.get(&job) else { return };
        match &found.task {
            Task::Preparing(sessions) => {
                let waiting = sessions.iter().any(|key| {
                    self.sessions.get(key).is_some_and(|session| session.watchers.contains(&job))
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
                    Err(fault) => self.fail_job(job, fault),
                }
            }
            Task::Restarting(session) => {
                let session = session.clone();
                self.restarted(job, &session, settled);
            }
            _ => {}
        }
    }

    fn plan(&mut self, job: JobId, script: &Script) {
        let Some(found) = self.jobs.get(&job) else { return };
        let pipemux_proto::client::Verb::Run { code, .. } = &found.call.verb else { return };
        let Some(workspace) = self.workspaces.get(&found.workspace) else { return };
        let windows: Vec<(SessionKey, Prototypes)> = workspace
            .windows
            .iter()
            .filter_map(|window| {
                let session = self.sessions.get(&window.session)?;
                let held = window.projection.as_ref().map(|held| &held.projection);
                let visible = held.and_then(|projection| projection.actions.as_ref());
                let prototypes = match visible {
                    None => session.prototypes.clone(),
                    Some(names) => Rc::new(
                        session
                            .prototypes
                            .iter()
                            .filter(|p| names.contains(&p.name))
                            .cloned()
                            .collect(),
                    ),
                };
                Some((window.session.clone(), prototypes))
            })
            .collect();
        match Planner::new(workspace, windows, code).plan(script) {
            Ok(steps) => self.begin_acting(job, steps),
            Err(fault) => self.fail_job(job, fault),
        }
    }

    fn begin_acting(&mut self, job: JobId, steps: Vec<Step>) {
        let Some(found) = self.jobs.get(&job) else { return };
        let call = &found.call;
        let acting =
            Acting::begin(self, &found.workspace, &call.reader, &call.run_id, steps, call.at);
        let acting = Acting { cwd: call.cwd.clone(), ..acting };
        self.put_acting(job, acting);
        self.advance(job);
    }

    pub(super) fn click(&mut self, job: JobId, link: &str) {
        let of = match Ref::parse_loose(link, RefKind::Link) {
            Ok(of) if of.kind == RefKind::Link => of,
            Ok(of) => {
                let fault = Fault::usage(format!("{of} is a thing, not a link"))
                    .hint(format!("its value: pipemux read {of}"));
                return self.fail_job(job, fault);
            }
            Err(error) => return self.fail_job(job, Fault::usage(error.to_string())),
        };
        match self.linked(job, &of) {
            Ok(Clicked::Step(step)) => match self.check_no_question(job) {
                Ok(()) => self.begin_acting(job, vec![*step]),
                Err(fault) => self.fail_job(job, fault),
            },
            Ok(Clicked::Answer(question, answer)) => {
                self.answer_question(job, &answer, Some(question));
            }
            Err(fault) => self.fail_job(job, fault),
        }
    }

    /// What a link does for the reader who clicks it.
    fn linked(&self, job: JobId, of: &Ref) -> Result<Clicked, Fault> {
        let shown = soft::name(of);
        let missing = || soft::not_found(&shown, None);
        let found = self.jobs.get(&job).ok_or_else(missing)?;
        let workspace = self.workspaces.get(&found.workspace).ok_or_else(missing)?;
        let Local::Id(id) = of.local else {
            return Err(Fault::usage(format!("{shown}: a link is named by its number: link:15")));
        };
        let anchor = workspace.anchors.get(RefKind::Link, id).ok_or_else(missing)?;
        let session = &anchor.session;
        let reader = &found.call.reader;
        let seen = of.epoch.or(found.call.at).unwrap_or_else(|| workspace.known_epoch(reader, id));
        let strict = workspace.options.strict && seen < workspace.epoch;
        let checked = workspace.anchors.check(RefKind::Link, id, seen, workspace.epoch);
        if let Err(why) = checked.and(if strict { Err(Miss::Stale) } else { Ok(()) }) {
            return Err(match why {
                Miss::NotFound => missing(),
                Miss::Stale => soft::stale(&shown),
            });
        }
        let (action, args) = match &anchor.target {
            Target::Answer { question, answer } => {
                return Ok(Clicked::Answer(*question, answer.clone()));
            }
            Target::Action { action, args } => (action, args),
            Target::Object { .. } => return Err(missing()),
        };
        if workspace.window(session).is_none() {
            return Err(soft::out_of_view(&shown, Some(format!("pipemux open {session}"))));
        }
        // Another reader's look at less of the window takes nothing away from this one.
        if !anchor.shown && !workspace.in_view(reader, session, id) {
            return Err(soft::out_of_view(&shown, Some(format!("pipemux view {session}"))));
        }
        let prototypes = self.sessions.get(session).map(|session| &session.prototypes);
        let prototype = prototypes
            .and_then(|all| all.iter().find(|prototype| prototype.name == *action))
            .ok_or_else(|| soft::out_of_view(&shown, Some(format!("pipemux view {session}"))))?;
        // What the link leaves open is asked for.
        let mut bound = fixed(args);
        for param in open_params(prototype, args) {
            let gap = Gap { ty: param.ty.clone(), meant: None };
            bound.push((param.name.clone(), Argument::Gap(gap)));
        }
        Ok(Clicked::Step(Box::new(Step {
            session: session.clone(),
            prototype: prototype.clone(),
            owners: Vec::new(),
            args: bound,
            call: shown,
            nested: false,
        })))
    }

    /// Refuses a second acting call while this reader has a question open.
    fn check_no_question(&self, job: JobId) -> Result<(), Fault> {
        let Some(found) = self.jobs.get(&job) else { return Ok(()) };
        let open = self
            .workspaces
            .get(&found.workspace)
            .and_then(|workspace| workspace.question_of(&found.call.reader));
        match open {
            None => Ok(()),
            Some((number, question)) => {
                let ways = question.ways().join(" · ");
                let message = format!("question {number} is open: {}", question.title());
                Err(Fault::refused(message).hint(format!("pipemux answer {ways}")))
            }
        }
    }

    pub(super) fn answer_question(&mut self, job: JobId, text: &str, to: Option<u64>) {
        // A link that answers may be given as the answer.
        if let Ok(of) = text.trim().parse::<Ref>()
            && of.kind == RefKind::Link
        {
            return match self.linked(job, &of) {
                Ok(Clicked::Answer(question, answer)) => {
                    self.answer_question(job, &answer, Some(question));
                }
                Ok(Clicked::Step(_)) => {
                    let fault = Fault::usage(format!("{of} is no answer"))
                        .hint(format!("pipemux click {of}"));
                    self.fail_job(job, fault);
                }
                Err(fault) => self.fail_job(job, fault),
            };
        }
        let Some(found) = self.jobs.get(&job) else { return };
        let reader = found.call.reader.clone();
        if let Some(kept) = self.kept(job, text, to) {
            return self.resume_kept(job, kept);
        }
        let Some(found) = self.jobs.get(&job) else { return };
        let Some(workspace) = self.workspaces.get_mut(&found.workspace) else { return };
        let open = workspace.questions_of(&reader);
        if let (None, [_, _, ..]) = (to, open.as_slice()) {
            let ways = open.iter().map(|number| format!("pipemux answer --to {number} …"));
            let fault = Fault::usage(format!("{} questions are open: say which", open.len()));
            return self.fail_job(job, ways.fold(fault, Fault::hint));
        }
        let number = to.or_else(|| open.first().copied());
        let question = number.and_then(|number| workspace.questions.get(&number));
        let Some((number, question)) = number.zip(question) else {
            let message = match to {
                Some(number) => format!("question {number} was answered, or has expired"),
                None => "no question is open".to_owned(),
            };
            return self.fail_job(job, Fault::not_found(message).hint("pipemux view"));
        };
        if question.reader() != reader {
            let fault = Fault::refused(format!(
                "question {number} was asked of {}, not of {reader}",
                question.reader()
            ));
            return self.fail_job(job, fault);
        }
        let answering = match question.read(text) {
            Ok(answering) => answering,
            Err(fault) => return self.fail_job(job, fault),
        };
        let filled = match (&question.from, &answering) {
            (From::Gap(asked), Answering::Choice(choice)) => {
                let of = &question.acting.steps[asked.step];
                let Argument::Gap(gap) = &of.args[asked.index].1 else { return };
                match gap::fill(gap, &asked.options, choice) {
                    Ok(argument) => Some((asked.step, asked.index, argument)),
                    Err(fault) => return self.fail_job(job, fault),
                }
            }
            _ => None,
        };
        let Some(question) = workspace.questions.remove(&number) else { return };
        let at = question.acting.workspace.to_string();
        self.out.push(Effect::Persist(Record::QuestionClosed { workspace: at, number }));
        let mut acting = question.acting;
        acting.answers += 1;
        match answering {
            Answering::Choice(choice) => {
                match (question.from, filled) {
                    (_, Some((step, index, argument))) => {
                        acting.steps[step].args[index].1 = argument;
                    }
                    (From::App(invoke), None) => {
                        acting.answered = Some((*invoke, question.needs.token, choice));
                    }
                    (From::Owner(step), None) => {
                        let of = &mut acting.steps[step];
                        let owners = std::mem::take(&mut of.owners);
                        let picked = match &choice {
                            Choice::Picked(picked) => picked.first().map(|n| *n as usize - 1),
                            _ => None,
                        };
                        if let Some(owner) = picked.and_then(|index| owners.get(index)) {
                            of.session = owner.clone();
                        }
                    }
                    (From::Gap(_), None) => {}
                }
                self.put_acting(job, acting);
                self.advance(job);
            }
            Answering::Cancel => {
                acting.done.push(Ended {
                    status: Status::Skipped,
                    brief: "cancelled, nothing was changed by it".into(),
                    detail: None,
                    value: None,
                    label: None,
                    fault: None,
                    links: Vec::new(),
                });
                self.acted(job, acting);
            }
        }
    }

    /// The run that `answer go` sends again, when no question is open.
    fn kept(&mut self, job: JobId, text: &str, to: Option<u64>) -> Option<Acting> {
        if to.is_some() || text.trim() != "go" {
            return None;
        }
        let found = self.jobs.get(&job)?;
        let workspace = self.workspaces.get_mut(&found.workspace)?;
        if workspace.question_of(&found.call.reader).is_some() {
            return None;
        }
        let mut kept = *workspace.readers.get_mut(&found.call.reader)?.kept.take()?;
        kept.run_id = found.call.run_id.clone();
        Some(kept)
    }

    /// A run has ended or asks: the windows that it touched are shown with it.
    pub(crate) fn acted(&mut self, job: JobId, acting: Acting) {
        let Some(workspace) = self.workspaces.get(&acting.workspace) else { return };
        let call = self.jobs.get(&job).map(|job| &job.call);
        let (lod, budget) = call.map_or((None, None), |call| (call.lod, call.budget));
        let running = |key: &&SessionKey| {
            // A session that just died is not woken only to be shown.
            let up = self.sessions.get(*key).is_some_and(|session| session.ready().is_some());
            up && workspace.window(key).is_some() && !acting.unknown
        };
        let wants = acting
            .touched
            .iter()
            .filter(running)
            .map(|key| Want { session: key.clone(), lod, budget })
            .collect();
        self.show(job, wants, Head::Act(Box::new(acting)));
    }
}

enum Clicked {
    Step(Box<Step>),
    Answer(u64, String),
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
pub(crate) fn exit_status(acting: &Acting) -> u8 {
    let fault = acting.done.iter().find_map(|ended| ended.fault.as_ref());
    match fault {
        _ if acting.question.is_some() => 5,
        _ if acting.unknown => Code::Unknown.exit_status(),
        Some(_) if acting.took_effect() => Code::Failed.exit_status(),
        Some(fault) => fault.code.exit_status(),
        None => 0,
    }
}
