//! Carrying out a run: one step at a time, the first failure stops the rest.

use pipemux_proto::app::Resume;
use pipemux_proto::app::{Invoke, Outcome};
use pipemux_proto::envelope::Method;
use pipemux_proto::report::Status;
use pipemux_proto::{Code, Fault, decode};

use super::args::Stop;
use super::question::{Asked, From};
use super::{Acting, Argument, Ended, Step, gap, soft};
use crate::Core;
use crate::jobs::Task;
use crate::keys::{JobId, SessionKey, WorkspaceKey};
use crate::limits::LINKS_MAX;
use crate::requests::{Answered, Purpose};
use pipemux_proto::Incarnation;
use pipemux_proto::table::Table;
use std::collections::BTreeMap;
use std::rc::Rc;

/// By session: the process and version that a reader has seen; and by id the epoch in which it saw it.
pub(crate) type HasSeen = (BTreeMap<SessionKey, (Incarnation, u64)>, Rc<Table<u64, u64>>);

impl Acting {
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
            own: true,
            question: None,
            answers: 0,
            cancelled: false,
            again: Vec::new(),
            rebased: Vec::new(),
            aside: None,
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
            self.done.push(Ended::failed(status, fault));
        }
    }

    /// Ends a step that was sent before and that is not reached now, since a call inside its arguments
    /// ended the run: what it did then isn't known still.
    pub(crate) fn end_unreached(&mut self) {
        let sent = |index: &usize| self.again.contains(index);
        let Some(last) = (self.done.len()..self.steps.len()).rfind(sent) else { return };
        self.done.resize(last, Ended::skipped("cancelled, it was not run"));
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
    ) -> HasSeen {
        let Some(workspace) = self.workspaces.get(at) else { return HasSeen::default() };
        let of = workspace.readers.get(reader);
        let known = of.map(|reader| reader.known.clone()).unwrap_or_default();
        let seen = |session: &SessionKey| match epoch {
            Some(epoch) => Some(workspace.window(session)?.at(epoch)?.seen),
            None => of?.seen.get(session).map(|seen| (seen.app, seen.version)),
        };
        let sessions =
            steps.iter().flat_map(|step| [&step.session].into_iter().chain(&step.owners));
        let versions = sessions.filter_map(|session| Some((session.clone(), seen(session)?)));
        (versions.collect(), known)
    }

    /// Takes up a run that was refused as stale, or whose end isn't known: its refs and numbers now mean
    /// what its reader has seen since.
    pub(crate) fn resume_kept(&mut self, job: JobId, mut acting: Acting) {
        let (versions, known) =
            self.has_seen(&acting.workspace, &acting.reader, &acting.steps, None);
        acting.expected = versions.iter().map(|(key, (_, n))| (key.clone(), *n)).collect();
        (acting.seen, acting.known, acting.at, acting.aside) = (versions, known, None, None);
        self.put_acting(job, acting);
        self.advance(job);
    }

    /// Does what is next in a run, until something must be waited for.
    pub(crate) fn advance(&mut self, job: JobId) {
        let Some((mut acting, deadline)) = self.take_acting(job) else { return };
        if acting.next >= acting.steps.len() {
            return self.acted(job, acting);
        }
        if acting.cancelled {
            let fault = Fault::unavailable("cancelled before it began; nothing was sent");
            acting.fail(Status::Failed, fault);
            return self.acted(job, acting);
        }
        if let Some(step) = acting.unowned() {
            let needs = gap::owner_question(&acting.steps[step]);
            return self.ask(job, acting, needs, From::Owner(step));
        }
        if let Some((step, index, gap)) = acting.gap() {
            let Some(workspace) = self.workspaces.get(&acting.workspace) else { return };
            let of = &acting.steps[step];
            let (needs, options) = gap::question(workspace, &of.session, &of.args[index].0, gap);
            let asked = Asked { step, index, options };
            return self.ask(job, acting, needs, From::Gap(asked));
        }
        let step = acting.steps[acting.next].clone();
        let (invoke, deadline) = match acting.answered.take() {
            Some((mut invoke, token, choice)) => {
                invoke.confirmed = choice == pipemux_proto::app::Choice::Yes;
                invoke.resume = Some(Resume { token, choice });
                (invoke.seen_version, invoke.seen_lost) = self.seen_version(&acting, &step.session);
                (invoke, deadline)
            }
            None => {
                let Some(workspace) = self.workspaces.get(&acting.workspace) else { return };
                match acting.arguments(&self.sessions, workspace, &step) {
                    Ok(args) => (self.invocation(&acting, &step, args), deadline),
                    Err(Stop::Look(lookup)) => return self.look_up(job, acting, *lookup, deadline),
                    Err(Stop::Miss(fault, Some(session)))
                        if self.may_rebase(&acting, &step, &fault) =>
                    {
                        return self.rebase(job, acting, &session, *fault, deadline);
                    }
                    Err(Stop::Miss(fault, shows)) => {
                        if let Some(session) = shows {
                            acting.touch(&session);
                        }
                        acting.fail(Status::Failed, *fault);
                        return self.acted(job, acting);
                    }
                }
            }
        };
        if let Some(fault) = self.quarantine(&step.session, &invoke) {
            acting.fail(Status::Failed, fault);
            return self.acted(job, acting);
        }
        acting.touch(&step.session);
        acting.sent = Some(invoke.clone());
        let last = acting.next + 1 == acting.steps.len();
        self.put_acting(job, acting);
        self.request(&step.session, Method::Invoke, &invoke, deadline, Purpose::Invoke(job));
        if last {
            self.look_ahead(job, &step.session, deadline);
        }
    }

    fn invocation(
        &self,
        acting: &Acting,
        step: &Step,
        args: Vec<(String, pipemux_proto::projection::Arg)>,
    ) -> Invoke {
        let (seen_version, seen_lost) = self.seen_version(acting, &step.session);
        Invoke {
            action: step.prototype.name.clone(),
            args: args.into_iter().collect(),
            seen_version,
            seen_lost,
            cwd: acting.cwd.clone(),
            reader: acting.reader.clone(),
            run_id: acting.run_id.clone(),
            confirmed: false,
            resume: None,
        }
    }

    /// The version that the run's reader had seen, and whether that was another life's, which says
    /// nothing about the one that will get the request.
    fn seen_version(&self, acting: &Acting, session: &SessionKey) -> (u64, bool) {
        let live = self.sessions.get(session);
        // A sleeping session's next life goes on from the state of the one that fell asleep.
        let app = live.and_then(|live| live.ready().or(live.rest.asleep.map(|asleep| asleep.app)));
        match acting.seen.get(session) {
            Some((life, version)) if Some(*life) == app => (*version, false),
            Some(_) => (0, true),
            // It may have seen what an earlier daemon showed.
            None => (0, self.sessions.get(session).is_some_and(|session| session.restored)),
        }
    }

    /// A step's outcome.
    pub(crate) fn invoke_answered(&mut self, job: JobId, answered: Answered) {
        let Some((mut acting, _)) = self.take_acting(job) else { return };
        let step = acting.steps[acting.next].clone();
        self.suspect(&step.session, acting.sent.as_ref(), &answered);
        let outcome = match answered {
            Answered::Reply(body) => match decode::<Outcome>(&body) {
                Ok(outcome) => outcome,
                Err(error) => {
                    let why = format!("{} answered what can't be read: {error}", step.session);
                    if let Some(app) = self.sessions.get(&step.session).and_then(|s| s.app()) {
                        self.break_app(app, "its answer could not be read".into());
                    }
                    acting.fail(Status::Unknown, Fault::unknown(why));
                    return self.acted(job, acting);
                }
            },
            Answered::Fault(fault) => Outcome::Failed(fault),
            Answered::Lost { died: true, .. }
                if step.prototype.idempotent && !acting.was_sent() && !acting.cancelled =>
            {
                acting.again.push(acting.next);
                return self.send_again(job, acting);
            }
            Answered::Lost { delivered, why, .. } if delivered || acting.was_sent() => {
                let fault = Fault::unknown(format!("{why}; it may or may not have taken effect"))
                    .hint(format!("pipemux view {} shows how it stands", step.session));
                acting.fail(Status::Unknown, fault);
                return self.acted(job, acting);
            }
            Answered::Lost { why, hints, .. } => {
                let mut fault = Fault::unavailable(format!("{why}; nothing was sent to it"));
                fault.hints = hints;
                acting.fail(Status::Failed, fault);
                return self.acted(job, acting);
            }
        };
        match outcome {
            Outcome::Done(done) => {
                self.session_changed(&step.session, done.version);
                let expected =
                    acting.expected.get(&step.session).map_or(1, |n| n.saturating_add(1));
                acting.own &= expected == done.version;
                acting.expected.insert(step.session.clone(), done.version);
                acting.done.push(Ended {
                    status: Status::Done,
                    brief: done.brief,
                    detail: done.detail,
                    value: done.value,
                    label: done.label,
                    fault: None,
                    links: done.links.into_iter().take(LINKS_MAX).collect(),
                });
                if let Some(saw) = acting.aside.take() {
                    (acting.seen, acting.known) = saw;
                }
                acting.next += 1;
                acting.sent = None;
                acting.looked_up = Default::default();
                self.put_acting(job, acting);
                self.advance(job);
            }
            Outcome::Failed(fault) => {
                let fault = self.landed(&acting, &step, fault);
                if self.may_rebase(&acting, &step, &fault) {
                    let Some(deadline) = self.jobs.get(&job).map(|job| job.deadline) else {
                        return;
                    };
                    return self.rebase(job, acting, &step.session, fault, deadline);
                }
                acting.fail(Status::Failed, fault);
                self.acted(job, acting);
            }
            Outcome::Needs(needs) => self.asked(job, acting, &step, needs),
        }
    }

    /// An app's refusal of a ref becomes the exact sentence about the ref that the reader wrote.
    fn landed(&self, acting: &Acting, step: &Step, mut fault: Fault) -> Fault {
        let workspace = self.workspaces.get(&acting.workspace);
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
                hints.into_iter().fold(soft::stale(shown), Fault::hint)
            }
            Code::OutOfView => soft::out_of_view(&shown, hints.into_iter().next()),
            Code::NotFound => soft::not_found(&shown, hints.into_iter().next()),
            _ => Fault { hints, ..fault },
        }
    }

    pub(crate) fn take_acting(&mut self, job: JobId) -> Option<(Acting, u64)> {
        let job = self.jobs.get_mut(&job)?;
        match std::mem::replace(&mut job.task, Task::Moving) {
            Task::Acting(acting) => Some((*acting, job.deadline)),
            other => {
                job.task = other;
                None
            }
        }
    }

    pub(crate) fn put_acting(&mut self, job: JobId, acting: Acting) {
        if let Some(job) = self.jobs.get_mut(&job) {
            job.task = Task::Acting(Box::new(acting));
        }
    }
}
