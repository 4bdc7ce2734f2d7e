//! A run: how far it has come with its steps, what they mean, and what it waits for.

use pipemux_proto::app::Invoke;
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Code, Fault, Incarnation, LineNumbers};

use crate::keys::SessionKey;
use crate::limits::RUN_BUDGET;
use crate::runs::baseline::{RunBaseline, SeenBaseline, ToldLines, hand_over_told};
use crate::runs::caller::Caller;
use crate::runs::origin::Origin;
use crate::runs::own_changes::OwnChanges;
use crate::runs::phase::{LookedUp, Lookup, Phase};
use crate::runs::progress::Progress;
use crate::runs::protocol::RunOutput;
use crate::runs::questions::asker::AnsweredQuestion;
use crate::runs::step_outcome::StepOutcome;
use crate::scripts::context::RunContext;
use crate::scripts::step::Step;
use crate::scripts::written_call::hide_secrets;
use crate::workspaces::Workspace;

/// Steps that are carried out one after the other, for one request of a client.
///
/// When it asks its reader, the request ends: a `Suspended` keeps what the run goes on with.
#[derive(Debug)]
pub struct Run {
    /// The caller, who determines the reader and the workspace.
    pub caller: Caller,
    /// The token budget for the contents of all outcomes together.
    pub budget: u32,
    /// The time that the run waits for the ends of jobs that its steps start.
    pub job_wait: JobWait,
    /// The steps and the progress through them.
    pub progress: Progress,
    /// The meaning of line numbers and refs in the steps.
    pub baseline: RunBaseline,
    /// The origin of the steps.
    pub origin: Origin,
    /// The changes that the run itself made.
    pub own_changes: OwnChanges,
    /// The line number information in outcomes and questions since the last answer, each with the
    /// process that it came from.
    pub told_lines: Vec<ToldLines>,
    /// The state of the next step.
    pub(super) phase: Phase,
    /// The results of the lookups for the next step.
    pub(super) looked_up: LookedUp,
    /// The files with values that were written for the run; they are removed at its end.
    pub value_files: Vec<String>,
    /// The reader's answers.
    pub(super) answers: Answers,
    /// The steps that were sent more than once.
    pub attempts: Attempts,
    /// True once nobody waits for the run any more: the step that an app is carrying out is
    /// completed, and no further step begins.
    pub cancelled: bool,
    /// True once a step was begun whose outcome is unknown.
    pub unknown: bool,
    /// The parts of the run's result that its answer reports.
    pub end: RunEnd,
    /// The number of ended steps when the run's crash round was last recorded: the round that it
    /// becomes if the daemon crashes.
    pub written: Option<usize>,
    /// The times at which the steps changed files.
    pub file_times: FileTimes,
}

/// The time that a run waits for the ends of jobs that its steps start.
#[derive(Debug, Clone, Copy, Default)]
pub struct JobWait {
    /// Until when, on the monotonic clock; none if it doesn't wait.
    pub until: Option<u64>,
    /// The wait that the request asked for, in milliseconds.
    pub requested_ms: u32,
}

/// The answers of a run's reader.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers {
    /// Questions that were answered so far.
    pub(super) count: u32,
    /// The answered question with which the next step resumes.
    pub(super) latest: Option<Box<AnsweredQuestion>>,
}

/// Steps that were sent more than once, by index.
#[derive(Debug, Clone, Default)]
pub struct Attempts {
    /// Steps that were sent before with an unknown outcome: they are retried because their app
    /// died, or by `answer go`.
    pub(super) sent_before: Vec<usize>,
    /// Steps that were sent to what is there now, since the workspace asks for that.
    pub(super) rebased: Vec<usize>,
}

impl Attempts {
    /// Returns true when a step was sent earlier with an unknown outcome.
    pub(super) fn were_sent(&self, step: usize) -> bool {
        self.sent_before.contains(&step)
    }
}

/// The parts of a run's result that its answer reports.
#[derive(Debug, Clone, Default)]
pub struct RunEnd {
    /// The number of the question with which the run ended.
    pub question: Option<u64>,
    /// The error in the answer, if the run ended with the same question again.
    pub wrong_answer: Option<Fault>,
    /// The number under which the steps after a failed one were kept.
    pub kept_steps: Option<u64>,
    /// The history round that the run became, if it can be undone.
    pub round: Option<u64>,
}

/// The times at which the steps of a run changed files, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileTimes {
    /// The time at which the newest step was sent.
    pub sent_ms: u64,
    /// The time span in which steps changed files; `None` if none did.
    pub wrote: Option<(u64, u64)>,
}

/// The exit status of a command that ends with a question.
pub const ASKS: u8 = 5;

impl Run {
    /// A run whose reader has seen nothing.
    pub fn new(caller: Caller, steps: Vec<Step>) -> Self {
        Self {
            caller,
            budget: RUN_BUDGET,
            job_wait: JobWait::default(),
            progress: Progress::new(steps),
            baseline: RunBaseline::default(),
            origin: Origin::Click,
            own_changes: OwnChanges::default(),
            told_lines: Vec::new(),
            phase: Phase::Ready,
            looked_up: LookedUp::default(),
            value_files: Vec::new(),
            answers: Answers::default(),
            attempts: Attempts::default(),
            cancelled: false,
            unknown: false,
            end: RunEnd::default(),
            written: None,
            file_times: FileTimes::default(),
        }
    }

    /// Makes numbers and refs mean what the run's reader has seen so far or, with an epoch, what
    /// there was to see then.
    pub fn take_baseline(&mut self, workspace: &Workspace, epoch: Option<u64>) {
        let steps = &self.progress.steps;
        let fresh = SeenBaseline::of_steps(steps, workspace, &self.caller.reader, epoch);
        self.own_changes.expect(&fresh.versions);
        self.baseline.renew(fresh);
    }

    /// Makes what the run saw of one process of a session count as seen of the next one, which has
    /// the same state.
    pub fn hand_over(&mut self, session: &SessionKey, from: Incarnation, to: Incarnation) {
        self.baseline.hand_over(session, from, to);
        hand_over_told(&mut self.told_lines, session, (from, to));
    }

    /// Keeps the script of the run, unless it holds a secret, and hides secrets wherever the steps
    /// are described.
    pub fn hide_secrets(&mut self, workspace: &Workspace) {
        hide_secrets(&mut self.progress.steps, workspace);
        if self.progress.holds_secret() {
            self.origin.forget_script();
        }
    }

    /// Withdraws an answer if it made the next step fail without taking effect. Returns the
    /// question, which is to be asked again.
    pub(super) fn take_wrong_answer(&mut self, fault: &Fault) -> Option<Box<AnsweredQuestion>> {
        let next = self.progress.next;
        let is_wrong = |answered: &mut Box<AnsweredQuestion>| {
            // A step before it that wasn't delivered says nothing of the answer, which is still to
            // be given.
            let undelivered = fault.code == Code::Unavailable && answered.index > next;
            undelivered || (answered.index == next && answered.is_wrong(fault))
        };
        if self.attempts.were_sent(self.progress.next) {
            return None;
        }
        let question = self.answers.latest.take_if(is_wrong)?;
        self.answers.count = self.answers.count.saturating_sub(1);
        if let Some(step) = self.progress.steps.get_mut(question.index) {
            step.clone_from(&question.step);
        }
        self.looked_up = LookedUp::default();
        Some(question)
    }

    /// Keeps what a message about the next step says of line numbers, for the answer that shows the
    /// message.
    pub(super) fn tell_lines(
        &mut self,
        numbers: impl IntoIterator<Item = LineNumbers>,
        context: &RunContext<'_>,
    ) {
        let session = &self.progress.steps[self.progress.next].session;
        let Some(app) = context.current_incarnation(session) else { return };
        let numbers = numbers.into_iter().map(|numbers| (session.clone(), app, numbers));
        self.told_lines.extend(numbers);
    }

    /// The request that is being handled by an app, with the session it was sent to.
    pub fn in_flight(&self) -> Option<(&SessionKey, &Invoke)> {
        match &self.phase {
            Phase::Invoking(invoke) => {
                Some((&self.progress.steps.get(self.progress.next)?.session, invoke))
            }
            _ => None,
        }
    }

    /// True while the run waits for a window because it needs the window's ids: to retry a stale
    /// step, or to list the options of a question.
    pub fn needs_ids(&self) -> bool {
        match self.phase {
            Phase::Rebasing { .. } => true,
            Phase::LookingUp(Lookup::Window { .. }) => self.progress.missing_argument().is_some(),
            _ => false,
        }
    }

    /// True if an output leads to something that a later daemon must know of: an action or a
    /// question.
    pub fn acts_by(&self, output: &RunOutput) -> bool {
        match output {
            RunOutput::Invoke { .. } => {
                self.progress.steps.get(self.progress.next).is_some_and(|step| !step.is_query())
            }
            RunOutput::Ask { .. } | RunOutput::AskAgain { .. } => true,
            RunOutput::LookUp(_) | RunOutput::Finished => false,
        }
    }

    /// True if the run's crash round hasn't been recorded in its state before this output.
    pub fn is_unwritten(&self, output: &RunOutput) -> bool {
        let Some(written) = self.written else {
            return matches!(output, RunOutput::Invoke { .. }) && self.acts_by(output);
        };
        let ended = self.progress.steps.iter().zip(&self.progress.done).skip(written);
        let has_acted = || ended.into_iter().any(|(step, _)| !step.is_query());
        !matches!(output, RunOutput::Finished) && has_acted()
    }

    /// Returns the exit status of the command that began the run.
    pub fn exit_status(&self) -> u8 {
        // Of several queries that failed, the worst counts.
        let faults = self.progress.done.iter().filter_map(|outcome| outcome.fault.as_ref());
        match faults.max_by_key(|fault| fault.code.exit_status()) {
            _ if self.end.question.is_some() => match &self.end.wrong_answer {
                Some(wrong) if !self.progress.took_effect() => wrong.code.exit_status(),
                _ => ASKS,
            },
            _ if self.unknown => Code::Unknown.exit_status(),
            Some(_) if self.progress.took_effect() => Code::Failed.exit_status(),
            Some(fault) => fault.code.exit_status(),
            None => 0,
        }
    }

    /// Ends the run with its next step. If that step was sent before, its outcome is unknown,
    /// whatever happens now.
    pub fn fail(&mut self, mut status: StepStatus, mut fault: Fault) {
        if status == StepStatus::Failed && self.attempts.were_sent(self.progress.next) {
            let why = "an earlier attempt may have taken effect; now";
            let message = format!("{why}: {}", fault.message);
            (status, fault) =
                (StepStatus::Unknown, Fault { hints: fault.hints, ..Fault::unknown(message) });
            if let Some(step) = self.progress.steps.get(self.progress.next) {
                fault = fault.hint(format!("pipemux view {}", step.session));
            }
        }
        self.unknown |= status == StepStatus::Unknown;
        if self.progress.next < self.progress.steps.len() {
            self.progress.done.push(StepOutcome::failed(status, fault));
        }
    }

    /// Marks as unknown a step that was sent before and not retried, because a call inside its
    /// arguments ended the run first.
    pub fn end_unreached(&mut self) {
        let was_sent = |index: &usize| self.attempts.sent_before.contains(index);
        let Some(last) = (self.progress.done.len()..self.progress.steps.len()).rfind(was_sent)
        else {
            return;
        };
        self.progress.done.resize(last, StepOutcome::skipped("cancelled; it was not run"));
        self.progress.next = last;
        self.fail(StepStatus::Failed, Fault::unavailable("it was not sent again"));
    }
}
