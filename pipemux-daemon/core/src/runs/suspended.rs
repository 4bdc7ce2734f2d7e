//! The saved state of a run that waits for its reader, to be resumed with an answer or retried.

use std::rc::Rc;

use pipemux_proto::Incarnation;
use pipemux_proto::limits::STEPS_MAX;
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Type;
use pipemux_proto::refs::Ref;
use pipemux_proto::report::StepStatus;

use crate::keys::SessionKey;
use crate::runs::baseline::{RunBaseline, ToldLines, hand_over_told};
use crate::runs::caller::Caller;
use crate::runs::origin::Origin;
use crate::runs::own_changes::OwnChanges;
use crate::runs::phase::LookedUp;
use crate::runs::progress::Progress;
use crate::runs::run::{Answers, Attempts, FileTimes, Run};
use crate::runs::step_outcome::forget_told;
use crate::scripts::source::{Code, Source};
use crate::scripts::step::{Argument, Step};
use crate::workspaces::Workspace;
use crate::workspaces::anchors::AnchorTable;

/// The state from which a run resumes in a new request; its fields are those of [`Run`].
#[derive(Debug, Clone)]
pub struct Suspended {
    /// The caller, who determines the reader and the workspace.
    pub caller: Caller,
    /// The steps and the progress through them.
    pub progress: Progress,
    /// The meaning of line numbers and refs in the steps.
    pub baseline: RunBaseline,
    /// The origin of the steps.
    pub origin: Origin,
    /// The time span in which steps changed files, in milliseconds since 1970.
    pub wrote: Option<(u64, u64)>,
    pub(super) budget: u32,
    pub(super) own_changes: OwnChanges,
    pub(super) answers: Answers,
    pub(super) attempts: Attempts,
    told_lines: Vec<ToldLines>,
    looked_up: LookedUp,
    value_files: Vec<String>,
    written: Option<usize>,
}

impl Suspended {
    /// Suspends a run in front of its next step.
    pub fn of(run: &Run) -> Self {
        Self {
            caller: run.caller.clone(),
            progress: run.progress.clone(),
            baseline: run.baseline.clone(),
            origin: run.origin.clone(),
            wrote: run.file_times.wrote,
            budget: run.budget,
            own_changes: run.own_changes.clone(),
            answers: run.answers.clone(),
            attempts: run.attempts.clone(),
            told_lines: run.told_lines.clone(),
            looked_up: run.looked_up.clone(),
            value_files: run.value_files.clone(),
            written: run.written,
        }
    }

    /// Suspends a run before a step that was refused or whose outcome is unknown. When the step is
    /// retried, it means what its reader sees by then.
    pub(super) fn in_front_of(run: &Run, index: usize, anchors: &AnchorTable) -> Self {
        let mut kept = Self::of(run);
        // The nested calls of the step run again with it.
        let steps = &mut kept.progress.steps;
        let nested = steps[..index].iter().rev().take_while(|step| step.nested).count();
        let next = index - nested;
        for step in &mut steps[next..=index] {
            let session = &step.session;
            step.args.iter_mut().for_each(|(_, argument)| unpin(argument, session, anchors));
        }
        (kept.progress.next, kept.progress.begins_at) = (next, next);
        kept.progress.done.truncate(next);
        forget_told(&mut kept.progress.done);
        kept.looked_up = LookedUp::default();
        kept.own_changes.touched.clear();
        kept.answers.latest = None;
        kept.attempts.rebased.clear();
        kept.told_lines.clear();
        kept.value_files.clear();
        // Later steps are sent when the reader may have seen more: their bare numbers still mean
        // what it saw first.
        kept.baseline.keep_first_versions();
        // What it did when it was sent stays unknown, however it ends now.
        let done = run.progress.done.get(index);
        if done.is_some_and(|outcome| outcome.status == StepStatus::Unknown) {
            kept.attempts.sent_before.push(index);
        }
        kept
    }

    /// Steps of an earlier daemon's run.
    pub(super) fn restored(caller: Caller, steps: Vec<Step>) -> Self {
        Self::of(&Run::new(caller, steps))
    }

    /// Returns the run, as it was before it was suspended.
    pub fn into_run(self) -> Run {
        Run {
            budget: self.budget,
            baseline: self.baseline,
            origin: self.origin,
            own_changes: self.own_changes,
            told_lines: self.told_lines,
            looked_up: self.looked_up,
            value_files: self.value_files,
            answers: self.answers,
            attempts: self.attempts,
            written: self.written,
            file_times: FileTimes { sent_ms: 0, wrote: self.wrote },
            progress: self.progress,
            ..Run::new(self.caller, Vec::new())
        }
    }

    /// Makes what the run saw of one process of a session count as seen of the next one, which has
    /// the same state.
    pub(super) fn hand_over(&mut self, session: &SessionKey, from: Incarnation, to: Incarnation) {
        self.baseline.hand_over(session, from, to);
        hand_over_told(&mut self.told_lines, session, (from, to));
    }

    /// Puts the steps of a run that was written later behind this one's, where they go on to mean
    /// what its reader had seen when it wrote them. So harnesses that send several calls at once,
    /// and agents that overlook a question, lose nothing.
    ///
    /// Returns false, and leaves both as they were, when that can't be done: the later run is a
    /// click or takes back a round, has to ask before anything runs, runs in another folder, or was
    /// written after yet another state had been shown.
    pub fn append(&mut self, later: &Run, workspace: &Workspace) -> bool {
        let (Origin::Typed(own), Origin::Typed(others)) = (&self.origin, &later.origin) else {
            return false;
        };
        let added = &later.progress;
        let asks = added.ambiguous_target().is_some() || added.missing_argument().is_some();
        let elsewhere = self.caller.cwd != later.caller.cwd;
        let both_read_stdin = own.stdin.is_some() && others.stdin.is_some();
        let first = self.progress.steps.len();
        let steps = first + added.steps.len();
        if asks || elsewhere || both_read_stdin || steps > STEPS_MAX {
            return false;
        }
        let meaning = later.baseline.now.clone().with_names(workspace, &self.caller.reader);
        if !self.baseline.extend(first..steps, meaning) {
            return false;
        }
        self.progress.steps.extend(added.steps.iter().cloned().map(|mut step| {
            step.args.iter_mut().for_each(|(_, argument)| argument.shift_results(first));
            step
        }));
        for (session, version) in &later.own_changes.expected {
            self.own_changes.expected.entry(session.clone()).or_insert(*version);
        }
        self.budget = self.budget.max(later.budget);
        let code = Code::Steps([own.steps(), others.steps()].concat());
        let stdin = own.stdin.clone().or_else(|| others.stdin.clone());
        self.origin = Origin::Typed(Rc::new(Source { code, stdin, earlier: own.earlier }));
        true
    }
}

/// Makes an argument mean what its reader sees when it is sent again: a pinned ref, or a thing that
/// was chosen in the state in which a question listed it, could never lead anywhere else than to
/// the same refusal.
fn unpin(argument: &mut Argument, session: &SessionKey, anchors: &AnchorTable) {
    match argument {
        Argument::Ref { of, .. } => of.epoch = None,
        Argument::Fixed(Arg::Ref(object)) => {
            if let Some(id) = anchors.id_of(session, &object.key) {
                let ty = Type::Anchor(object.ty.clone());
                *argument = Argument::Ref { of: Ref::obj(id), ty };
            }
        }
        Argument::List(items) => {
            items.iter_mut().for_each(|item| unpin(item, session, anchors));
        }
        Argument::Record(entries) => {
            entries.iter_mut().for_each(|(_, part)| unpin(part, session, anchors));
        }
        Argument::Fixed(_) | Argument::Name { .. } | Argument::Result(_) | Argument::Missing(_) => {
        }
    }
}
