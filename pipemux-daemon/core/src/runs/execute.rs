//! Carrying out a run: one step at a time, the first failure stops the rest.

use pipemux_proto::app::Resume;
use pipemux_proto::app::{Invoke, Outcome};
use pipemux_proto::envelope::Method;
use pipemux_proto::report::Status;
use pipemux_proto::{Code, Fault, decode};

use crate::Core;
use crate::clients::requests::RequestState;
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::limits::LINKS_MAX;
use crate::processes::requests::{AppReply, ReplyTo};
use crate::runs::arguments::Unresolved;
use crate::runs::question::{AskedArgument, Asker};
use crate::runs::{Argument, Run, Step, StepOutcome, missing_argument, ref_errors};
use pipemux_proto::Incarnation;
use rustc_hash::FxHashMap as Table;
use std::collections::BTreeMap;
use std::rc::Rc;

/// By session: the process and version that a reader has seen; and by id the epoch in which it saw it.
pub(crate) type SeenBaseline = (BTreeMap<SessionKey, (Incarnation, u64)>, Rc<Table<u64, u64>>);

impl Run {
    /// A run that begins now: numbers and refs mean what its reader has seen so far.
    pub(crate) fn begin(
        core: &Core,
        workspace: &WorkspaceKey,
        reader: &str,
        run_id: &str,
        steps: Vec<Step>,
        at: Option<u64>,
    ) -> Self {
        let (versions, known) = core.has_seen(workspace, reader, &steps, at);
        Self {
            expected: versions.iter().map(|(session, (_, n))| (session.clone(), *n)).collect(),
            seen: versions,
            known,
            at,
            ..Self::new(workspace.clone(), reader.to_owned(), run_id.to_owned(), steps)
        }
    }

    /// A run whose reader has seen nothing.
    pub(crate) fn new(
        workspace: WorkspaceKey,
        reader: String,
        run_id: String,
        steps: Vec<Step>,
    ) -> Self {
        Self {
            workspace,
            reader,
            run_id,
            steps,
            next: 0,
            done: Vec::new(),
            seen: BTreeMap::new(),
            expected: BTreeMap::new(),
            known: Rc::default(),
            at: None,
            looked_up: Default::default(),
            sent: None,
            answered: None,
            cwd: String::new(),
            touched: Vec::new(),
            only_own_changes: true,
            question: None,
            answers: 0,
            cancelled: false,
            again: Vec::new(),
            rebased: Vec::new(),
            saved_baseline: None,
            unknown: false,
        }
    }

    /// True when a later step takes a step's result.
    pub fn passes_on(&self, index: usize) -> bool {
        fn takes(argument: &Argument, index: usize) -> bool {
            match argument {
                Argument::Result(of) => *of == index,
                Argument::List(items) => items.iter().any(|item| takes(item, index)),
                _ => false,
            }
        }
        let mut all = self.steps.iter().flat_map(|step| &step.args);
        all.any(|(_, argument)| takes(argument, index))
    }

    /// True once a step took effect.
    pub fn took_effect(&self) -> bool {
        self.done.iter().any(|ended| ended.status == Status::Done)
    }

    pub(super) fn touch(&mut self, session: &SessionKey) {
        if !self.touched.contains(session) {
            self.touched.push(session.clone());
        }
    }

    /// True when the step that is next was sent before, and what came of that isn't known.
    pub fn was_sent(&self) -> bool {
        self.again.contains(&self.next)
    }

    /// Ends the run with the step that is next. One that was sent before has no known end, whatever
    /// becomes of it now.
    pub(crate) fn fail(&mut self, mut status: Status, mut fault: Fault) {
        if status == Status::Failed && self.was_sent() {
            let why = "it may have taken effect when it was sent before; now";
            let said = format!("{why}: {}", fault.message);
            (status, fault) =
                (Status::Unknown, Fault { hints: fault.hints, ..Fault::unknown(said) });
            if let Some(step) = self.steps.get(self.next) {
                fault = fault.hint(format!("pipemux view {} shows how it stands", step.session));
            }
        }
        self.unknown |= status == Status::Unknown;
        // One that was taken back while something was looked up for it has no end.
        if self.next < self.steps.len() {
            self.done.push(StepOutcome::failed(status, fault));
        }
    }

    /// Ends a step that was sent before and that is not reached now, since a call inside its arguments
    /// ended the run: what it did then isn't known still.
    pub(crate) fn end_unreached(&mut self) {
        let sent = |index: &usize| self.again.contains(index);
        let Some(last) = (self.done.len()..self.steps.len()).rfind(sent) else { return };
        self.done.resize(last, StepOutcome::skipped("cancelled, it was not run"));
        self.next = last;
        self.fail(Status::Failed, Fault::unavailable("it was not sent again"));
    }
}

impl Core {
    /// What a reader has seen of the steps' sessions, or what there was to see in an epoch that it names.
    fn has_seen(
        &self,
        at: &WorkspaceKey,
        reader: &str,
        steps: &[Step],
        epoch: Option<u64>,
    ) -> SeenBaseline {
        let Some(workspace) = self.workspaces.get(at) else { return SeenBaseline::default() };
        let of = workspace.reader(reader);
        let known = of.map(|reader| reader.known.clone()).unwrap_or_default();
        let seen = |session: &SessionKey| match epoch {
            Some(epoch) => Some(workspace.window(session)?.at(epoch)?.seen),
            None => of?.seen.get(session).map(|seen| (seen.app, seen.version)),
        };
        let sessions =
            steps.iter().flat_map(|step| [&step.session].into_iter().chain(&step.candidates));
        let versions = sessions.filter_map(|session| Some((session.clone(), seen(session)?)));
        (versions.collect(), known)
    }

    /// Takes up a run that was refused as stale, or whose end isn't known: its refs and numbers now mean
    /// what its reader has seen since.
    pub(crate) fn resume_kept(&mut self, job: RequestId, mut run: Run) {
        let (versions, known) = self.has_seen(&run.workspace, &run.reader, &run.steps, None);
        run.expected = versions.iter().map(|(key, (_, n))| (key.clone(), *n)).collect();
        (run.seen, run.known, run.at, run.saved_baseline) = (versions, known, None, None);
        self.put_run(job, run);
        self.advance(job);
    }

    /// Does what is next in a run, until something must be waited for.
    pub(crate) fn advance(&mut self, job: RequestId) {
        let Some((mut run, deadline)) = self.take_run(job) else { return };
        if run.next >= run.steps.len() {
            return self.finish_run(job, run);
        }
        if run.cancelled {
            let fault = Fault::unavailable("cancelled before it began; nothing was sent");
            run.fail(Status::Failed, fault);
            return self.finish_run(job, run);
        }
        if let Some(step) = run.ambiguous_target() {
            let needs = missing_argument::target_question(&run.steps[step]);
            return self.ask(job, run, needs, Asker::AmbiguousTarget(step));
        }
        if let Some((step, index, gap)) = run.gap() {
            let Some(workspace) = self.workspaces.get(&run.workspace) else { return };
            let of = &run.steps[step];
            let (needs, options) =
                missing_argument::question(workspace, &of.session, &of.args[index].0, gap);
            let asked = AskedArgument { step, index, options };
            return self.ask(job, run, needs, Asker::MissingArgument(asked));
        }
        let step = run.steps[run.next].clone();
        let (invoke, deadline) = match run.answered.take() {
            Some((mut invoke, token, choice)) => {
                invoke.confirmed = choice == pipemux_proto::app::Choice::Yes;
                invoke.resume = Some(Resume { token, choice });
                (invoke.seen_version, invoke.seen_lost) = self.seen_version(&run, &step.session);
                (invoke, deadline)
            }
            None => {
                let Some(workspace) = self.workspaces.get(&run.workspace) else { return };
                match run.arguments(self.processes.sessions(), workspace, &step) {
                    Ok(args) => (self.invocation(&run, &step, args), deadline),
                    Err(Unresolved::NeedsLookup(lookup)) => {
                        return self.look_up(job, run, *lookup, deadline);
                    }
                    Err(Unresolved::Invalid(fault, Some(session)))
                        if self.may_rebase(&run, &step, &fault) =>
                    {
                        return self.rebase(job, run, &session, *fault, deadline);
                    }
                    Err(Unresolved::Invalid(fault, shows)) => {
                        if let Some(session) = shows {
                            run.touch(&session);
                        }
                        run.fail(Status::Failed, *fault);
                        return self.finish_run(job, run);
                    }
                }
            }
        };
        if let Some(fault) = self.processes.quarantine_refusal(&step.session, &invoke) {
            run.fail(Status::Failed, fault);
            return self.finish_run(job, run);
        }
        run.touch(&step.session);
        run.sent = Some(invoke.clone());
        let last = run.next + 1 == run.steps.len();
        self.put_run(job, run);
        self.processes.request(
            &mut self.turn,
            &step.session,
            Method::Invoke,
            &invoke,
            deadline,
            ReplyTo::Invoke(job),
        );
        if last {
            self.prefetch_window(job, &step.session, deadline);
        }
    }

    fn invocation(
        &self,
        run: &Run,
        step: &Step,
        args: Vec<(String, pipemux_proto::projection::Arg)>,
    ) -> Invoke {
        let (seen_version, seen_lost) = self.seen_version(run, &step.session);
        Invoke {
            action: step.prototype.name.clone(),
            args: args.into_iter().collect(),
            seen_version,
            seen_lost,
            cwd: run.cwd.clone(),
            reader: run.reader.clone(),
            run_id: run.run_id.clone(),
            confirmed: false,
            resume: None,
        }
    }

    /// The version that the run's reader had seen, and whether that was another life's, which says
    /// nothing about the one that will get the request.
    fn seen_version(&self, run: &Run, session: &SessionKey) -> (u64, bool) {
        let live = self.processes.get(session);
        // A sleeping session's next life goes on from the state of the one that fell asleep.
        let app =
            live.and_then(|live| live.ready().or(live.hibernation.asleep.map(|asleep| asleep.app)));
        match run.seen.get(session) {
            Some((life, version)) if Some(*life) == app => (*version, false),
            Some(_) => (0, true),
            // It may have seen what an earlier daemon showed.
            None => (0, self.processes.get(session).is_some_and(|session| session.restored)),
        }
    }

    /// A step's outcome.
    pub(crate) fn invoke_answered(&mut self, job: RequestId, answered: AppReply) {
        let Some((mut run, _)) = self.take_run(job) else { return };
        let step = run.steps[run.next].clone();
        if let Some(invoke) = &run.sent {
            self.processes.note_invoke_reply(&step.session, invoke, &answered);
        }
        let outcome = match answered {
            AppReply::Reply(body) => match decode::<Outcome>(&body) {
                Ok(outcome) => outcome,
                Err(error) => {
                    let why = format!("{} answered what can't be read: {error}", step.session);
                    if let Some(app) = self.processes.get(&step.session).and_then(|s| s.app()) {
                        self.processes.break_app(
                            &mut self.turn,
                            app,
                            "its answer could not be read".into(),
                        );
                    }
                    run.fail(Status::Unknown, Fault::unknown(why));
                    return self.finish_run(job, run);
                }
            },
            AppReply::Fault(fault) => Outcome::Failed(fault),
            AppReply::Lost { died: true, .. }
                if step.prototype.idempotent && !run.was_sent() && !run.cancelled =>
            {
                run.again.push(run.next);
                return self.send_again(job, run);
            }
            AppReply::Lost { delivered, why, .. } if delivered || run.was_sent() => {
                let fault = Fault::unknown(format!("{why}; it may or may not have taken effect"))
                    .hint(format!("pipemux view {} shows how it stands", step.session));
                run.fail(Status::Unknown, fault);
                return self.finish_run(job, run);
            }
            AppReply::Lost { why, hints, .. } => {
                let mut fault = Fault::unavailable(format!("{why}; nothing was sent to it"));
                fault.hints = hints;
                run.fail(Status::Failed, fault);
                return self.finish_run(job, run);
            }
        };
        match outcome {
            Outcome::Done(done) => {
                self.processes.set_version(&step.session, done.version);
                let expected = run.expected.get(&step.session).map_or(1, |n| n.saturating_add(1));
                run.only_own_changes &= expected == done.version;
                run.expected.insert(step.session.clone(), done.version);
                run.done.push(StepOutcome {
                    status: Status::Done,
                    brief: done.brief,
                    detail: done.detail,
                    value: done.value,
                    label: done.label,
                    fault: None,
                    links: done.links.into_iter().take(LINKS_MAX).collect(),
                });
                if let Some(saw) = run.saved_baseline.take() {
                    (run.seen, run.known) = saw;
                }
                run.next += 1;
                run.sent = None;
                run.looked_up = Default::default();
                self.put_run(job, run);
                self.advance(job);
            }
            Outcome::Failed(fault) => {
                let fault = self.name_ref_error(&run, &step, fault);
                if self.may_rebase(&run, &step, &fault) {
                    let Some(deadline) = self.requests.get(&job).map(|job| job.deadline) else {
                        return;
                    };
                    return self.rebase(job, run, &step.session, fault, deadline);
                }
                run.fail(Status::Failed, fault);
                self.finish_run(job, run);
            }
            Outcome::Needs(needs) => self.asked(job, run, &step, needs),
        }
    }

    /// An app's refusal of a ref becomes the exact sentence about the ref that the reader wrote.
    fn name_ref_error(&self, run: &Run, step: &Step, mut fault: Fault) -> Fault {
        let workspace = self.workspaces.get(&run.workspace);
        let id = fault
            .key
            .as_deref()
            .zip(workspace)
            .and_then(|(key, workspace)| workspace.anchors.id_of(&step.session, key));
        let Some(id) = id else { return fault };
        let shown = format!("obj:{id}");
        let hints = std::mem::take(&mut fault.hints);
        match fault.code {
            Code::Stale => {
                // A click's link is what is out of date: the thing itself may be as it was seen.
                let clicked = step.call.starts_with("link:");
                let shown = if clicked { &step.call } else { &shown };
                hints.into_iter().fold(ref_errors::stale(shown), Fault::hint)
            }
            Code::OutOfView => ref_errors::out_of_view(&shown, hints.into_iter().next()),
            Code::NotFound => ref_errors::not_found(&shown, hints.into_iter().next()),
            _ => Fault { hints, ..fault },
        }
    }

    pub(crate) fn take_run(&mut self, job: RequestId) -> Option<(Run, u64)> {
        let job = self.requests.get_mut(&job)?;
        match std::mem::replace(&mut job.task, RequestState::Moving) {
            RequestState::Running(run) => Some((*run, job.deadline)),
            other => {
                job.task = other;
                None
            }
        }
    }

    pub(crate) fn put_run(&mut self, job: RequestId, run: Run) {
        if let Some(job) = self.requests.get_mut(&job) {
            job.task = RequestState::Running(Box::new(run));
        }
    }
}
