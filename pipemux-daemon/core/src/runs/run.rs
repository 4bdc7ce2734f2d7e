//! A run: its steps, how far it has come, and what its reader had seen when it began.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use pipemux_proto::app::Invoke;
use pipemux_proto::prototype::Risk;
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Code, Fault, Incarnation, LineNumbers};

use crate::keys::{SessionKey, WorkspaceKey};
use crate::limits::{CONTENT_BUDGET_MIN, RUN_BUDGET, SHORT_RESULT_TOKENS};
use crate::runs::baseline::{KnownLines, LaterSteps, SeenBaseline, SeenNames, SeenVersions};
use crate::runs::phase::{LookedUp, Lookup, Phase};
use crate::runs::put_back::UndoneRound;
use crate::runs::question::AnsweredQuestion;
use crate::runs::resolve_ref::RefScope;
use crate::runs::source::Source;
use crate::runs::{Argument, RunOutput, Step, StepOutcome};
use crate::workspaces::{SeenLines, Workspace};

/// Steps that are carried out one after the other. A run outlives the request that began it when it asks.
#[derive(Debug, Clone)]
pub struct Run {
    /// The workspace that it runs in.
    pub workspace: WorkspaceKey,
    /// The reader whose run it is.
    pub reader: String,
    /// What apps know the run by, which all its steps carry: a pseudonym of the id that the client gave it.
    pub run_id: String,
    /// The caller's working directory.
    pub cwd: String,
    /// The tokens that the contents of its outcomes may take together.
    pub budget: u32,
    /// Until when it waits for the ends of jobs that its steps begin, on the monotonic clock; none if it doesn't.
    pub waits_until: Option<u64>,
    /// How long its request said that it waits for them, in milliseconds.
    pub wait_ms: u32,
    /// The steps.
    pub steps: Vec<Step>,
    /// The index of the step that is next or in progress.
    pub next: usize,
    /// How each step that was begun ended.
    pub done: Vec<StepOutcome>,
    /// The versions that the reader had seen when the run began: line numbers mean these, but for those in
    /// `lines`.
    pub seen: SeenVersions,
    /// True when an epoch was given for all numbers and refs.
    pub(super) pinned: bool,
    /// What names stood for when the steps were written, when that was earlier than their run.
    pub(super) names: Option<Rc<SeenNames>>,
    /// The line numbers that the reader had been shown when the run began.
    pub lines: KnownLines,
    /// What outcomes and questions said of line numbers since the last answer, each with the process that
    /// said it.
    pub told_lines: Vec<(SessionKey, Incarnation, LineNumbers)>,
    /// The versions that bare line numbers mean in a run that is sent again: those that `seen` had at first.
    pub(super) lines_seen: Option<SeenVersions>,
    /// Of a run that is sent again: the steps whose numbers mean what the refusal showed.
    pub(super) repeated: Option<Range<usize>>,
    /// What refs meant to the reader when the run began.
    pub refs: RefScope,
    /// What the reader had seen, as it was before a rebased step took what is there now.
    pub(super) saved_baseline: Option<SeenBaseline>,
    /// Steps that the reader wrote later, in place of one that failed: they mean what it had seen by then.
    pub(super) later: Option<Box<LaterSteps>>,
    /// The script that the steps were made from; absent for a click.
    pub source: Option<Rc<Source>>,
    /// The index of the first step that the run itself began: those before it belong to the run that it goes on with.
    pub begins_at: usize,
    /// The round of history that the steps take back; none for other runs.
    pub undoes: Option<UndoneRound>,
    /// The round of history that it became, once it has ended, if that can be taken back.
    pub round: Option<u64>,
    /// When its newest step was sent, in milliseconds since 1970.
    pub sent_ms: u64,
    /// From when to when its steps changed files, in milliseconds since 1970.
    pub wrote: Option<(u64, u64)>,
    /// The number under which the steps behind a failed one were kept.
    pub kept: Option<u64>,
    /// The version that each session has if nobody else changes it.
    pub expected: BTreeMap<SessionKey, u64>,
    /// True while every change since the reader looked is this run's own.
    pub only_own_changes: bool,
    /// The sessions that a step was sent to, in order.
    pub touched: Vec<SessionKey>,
    /// What the next step is waiting for.
    pub(super) phase: Phase,
    /// What was looked up for the next step.
    pub(super) looked_up: LookedUp,
    /// The files with values that were written for it; they are removed once it has ended.
    pub(super) value_files: Vec<String>,
    /// The number of the question that the run ended with.
    pub question: Option<u64>,
    /// Questions that were answered so far.
    pub answers: u32,
    /// The question that the next step goes on with the answer to.
    pub(super) answered: Option<Box<AnsweredQuestion>>,
    /// What was wrong with the answer, when the run ended with the same question again.
    pub wrong_answer: Option<Fault>,
    /// True once nobody waits for the run any more: its next step doesn't begin.
    pub(super) cancelled: bool,
    /// Steps that were sent earlier with an unknown outcome: their app died with them and they were sent
    /// again, or `answer go` sends them.
    pub(super) sent_before: Vec<usize>,
    /// Steps that were sent to what is there now, since the workspace asks for that.
    pub(super) rebased: Vec<usize>,
    /// True once a step was begun whose outcome is unknown.
    pub unknown: bool,
    /// How many steps had ended when the round that it becomes if the daemon is lost was last written down.
    pub written: Option<usize>,
}

/// The exit status of a command that ends with a question.
pub const ASKS: u8 = 5;

impl Run {
    /// A run whose reader has seen nothing.
    pub fn new(workspace: WorkspaceKey, reader: String, run_id: String, steps: Vec<Step>) -> Self {
        Self {
            workspace,
            reader,
            run_id,
            cwd: String::new(),
            budget: RUN_BUDGET,
            waits_until: None,
            wait_ms: 0,
            steps,
            next: 0,
            done: Vec::new(),
            seen: BTreeMap::new(),
            pinned: false,
            names: None,
            lines: BTreeMap::new(),
            told_lines: Vec::new(),
            lines_seen: None,
            repeated: None,
            refs: RefScope::default(),
            saved_baseline: None,
            later: None,
            source: None,
            begins_at: 0,
            undoes: None,
            round: None,
            sent_ms: 0,
            wrote: None,
            kept: None,
            expected: BTreeMap::new(),
            only_own_changes: true,
            touched: Vec::new(),
            phase: Phase::Ready,
            looked_up: LookedUp::default(),
            value_files: Vec::new(),
            question: None,
            answers: 0,
            answered: None,
            wrong_answer: None,
            cancelled: false,
            sent_before: Vec::new(),
            rebased: Vec::new(),
            unknown: false,
            written: None,
        }
    }

    /// Makes numbers and refs mean what the run's reader has seen so far or, with an epoch, what there was
    /// to see then.
    pub fn take_baseline(&mut self, workspace: &Workspace, epoch: Option<u64>) {
        let sessions =
            self.steps.iter().flat_map(|step| [&step.session].into_iter().chain(&step.candidates));
        let sessions: Vec<&SessionKey> = sessions.collect();
        let fresh = SeenBaseline::of(workspace, &self.reader, &sessions, epoch);
        let lasting = self.lasting_baseline();
        let before = self.replace_baseline(fresh);
        self.saved_baseline = None;
        self.expected =
            self.seen.iter().map(|(key, (_, version))| (key.clone(), *version)).collect();
        // A run that is sent again keeps what its numbers meant at first, but for a step whose numbers were shown as
        // they are now.
        match self.repeated.take() {
            Some(steps) => {
                self.lines_seen = None;
                let fresh = self.baseline();
                let SeenBaseline { versions, lines, .. } = lasting;
                self.mean(SeenBaseline { versions, lines, ..fresh }, steps);
            }
            None if self.lines_seen.is_some() => self.lines = before.lines,
            None => {}
        }
    }

    /// Returns what the line numbers of a session mean to a run that is pinned to an epoch.
    pub fn pinned_lines(&self, session: &SessionKey) -> Option<&SeenLines> {
        self.lines.get(session).map(|lines| &**lines).filter(|_| self.pinned)
    }

    /// Keeps what a message of a session's app says of line numbers, for the answer that shows the message.
    pub(super) fn tell_lines(
        &mut self,
        session: &SessionKey,
        app: Option<Incarnation>,
        numbers: impl IntoIterator<Item = LineNumbers>,
    ) {
        let Some(app) = app else { return };
        let numbers = numbers.into_iter().map(|numbers| (session.clone(), app, numbers));
        self.told_lines.extend(numbers);
    }

    /// Nobody waits for the run any more: the step that is with an app goes on to its end, the next one
    /// doesn't begin.
    pub fn cancel(&mut self) {
        self.cancelled = true;
    }

    /// True when nobody waits for the run any more.
    pub fn was_cancelled(&self) -> bool {
        self.cancelled
    }

    /// Ends the run, since nothing more can be sent.
    pub fn stop(&mut self, fault: Fault) {
        self.fail(StepStatus::Failed, fault);
    }

    /// The request that is with an app, and the session that it was sent to.
    pub fn in_flight(&self) -> Option<(&SessionKey, &Invoke)> {
        match &self.phase {
            Phase::Invoking(invoke) => Some((&self.steps.get(self.next)?.session, invoke)),
            _ => None,
        }
    }

    /// True while a window is on its way whose ids the run needs: for a step that was refused as stale, or to
    /// list what there is to choose from.
    pub fn needs_ids(&self) -> bool {
        match self.phase {
            Phase::Rebasing { .. } => true,
            Phase::LookingUp(Lookup::Window { .. }) => self.missing_argument().is_some(),
            _ => false,
        }
    }

    /// True when a step was given an argument that is never printed, logged or kept.
    pub fn holds_secret(&self) -> bool {
        self.steps.iter().any(Step::holds_secret)
    }

    /// True when nothing but the view changes by the steps that are left, and nothing has to be asked for them.
    pub fn only_looks(&self) -> bool {
        self.steps[self.next..].iter().all(|step| step.prototype.risk.only_looks())
            && self.ambiguous_target().is_none()
            && self.missing_argument().is_none()
    }

    /// Makes what the run saw of one process of a session count as seen of the next one, which has the same state.
    pub fn hand_over(&mut self, session: &SessionKey, from: Incarnation, to: Incarnation) {
        let mut own = self.replace_baseline(SeenBaseline::default());
        let later = self.later.as_mut().map(|later| later.baseline_mut());
        let all = [Some(&mut own), self.saved_baseline.as_mut(), later];
        all.into_iter().flatten().for_each(|seen| seen.hand_over(session, from, to));
        self.replace_baseline(own);
        let first = self.lines_seen.as_mut().and_then(|seen| seen.get_mut(session));
        if let Some((app, _)) = first.filter(|(app, _)| *app == from) {
            *app = to;
        }
        let told = self.told_lines.iter_mut().filter(|(told, ..)| told == session);
        for (_, app, _) in told.filter(|(_, app, _)| *app == from) {
            *app = to;
        }
    }

    /// True when a later step takes a step's result.
    pub fn passes_on(&self, index: usize) -> bool {
        fn takes(argument: &Argument, index: usize) -> bool {
            match argument {
                Argument::Result(of) => *of == index,
                _ => argument.parts().any(|part| takes(part, index)),
            }
        }
        let mut all = self.steps.iter().flat_map(|step| &step.args);
        all.any(|(_, argument)| takes(argument, index))
    }

    /// True once a step took effect. A call inside another call's arguments that only looks has none: its value went
    /// to a step that didn't run.
    pub fn took_effect(&self) -> bool {
        let mut ended = self.steps.iter().zip(&self.done);
        ended.any(|(step, outcome)| outcome.status == StepStatus::Done && !step.only_reads())
    }

    /// Returns the index of the step that the reader wrote, for a call inside its arguments, or for itself.
    pub fn outer_step(&self, index: usize) -> usize {
        let inner = self.steps.iter().skip(index).take_while(|step| step.nested).count();
        (index + inner).min(self.steps.len().saturating_sub(1))
    }

    /// True when every step is a query.
    pub fn only_queries(&self) -> bool {
        self.steps.iter().all(Step::is_query)
    }

    /// True when something can come of an output that a later daemon has to know of: an action, or a question.
    pub fn acts_by(&self, output: &RunOutput) -> bool {
        match output {
            RunOutput::Invoke { .. } => {
                self.steps.get(self.next).is_some_and(|step| !step.is_query())
            }
            RunOutput::Ask { .. } | RunOutput::AskAgain { .. } => true,
            RunOutput::Locate { .. }
            | RunOutput::Read { .. }
            | RunOutput::Store { .. }
            | RunOutput::Refresh { .. }
            | RunOutput::Finished => false,
        }
    }

    /// True when the round that the run becomes if the daemon is lost isn't written down as it stands before an output.
    pub fn is_unwritten(&self, output: &RunOutput) -> bool {
        let Some(written) = self.written else {
            return matches!(output, RunOutput::Invoke { .. }) && self.acts_by(output);
        };
        let ended = self.steps.iter().zip(&self.done).skip(written);
        let has_acted = || ended.into_iter().any(|(step, _)| !step.is_query());
        !matches!(output, RunOutput::Finished) && has_acted()
    }

    /// True when the next step and all behind it are queries, or calls inside their arguments that change nothing.
    pub(super) fn leaves_only_queries(&self) -> bool {
        let mut left = self.steps.iter().skip(self.next);
        left.all(Step::only_reads)
    }

    /// Returns the tokens that the content of the next step's outcome may take: what the ones before it left, without what
    /// short results of the queries behind it take.
    pub(super) fn content_budget(&self) -> u32 {
        let spent = |outcome: &StepOutcome| outcome.content_tokens();
        let spent: u64 = self.done.iter().map(spent).sum();
        let left = u64::from(self.budget).saturating_sub(spent);
        let later = self.steps.iter().skip(self.next + 1);
        let later = later.filter(|step| step.is_query() && !step.nested).count() as u64;
        let reserved = later.saturating_mul(SHORT_RESULT_TOKENS.into());
        let left = left.saturating_sub(reserved).max(left / (later + 1));
        u32::try_from(left).unwrap_or(u32::MAX).max(CONTENT_BUDGET_MIN)
    }

    /// Returns true when a step did nothing but turn the window of a session to something, such as `goto`.
    pub fn turns_window(&self, session: &SessionKey) -> bool {
        let mut ended = self.steps.iter().zip(&self.done);
        ended.any(|(step, outcome)| {
            let turns = step.prototype.risk == Risk::Safe && !step.nested;
            turns && step.session == *session && outcome.status == StepStatus::Done
        })
    }

    /// Returns true when the answer shows the window of a session that a step was sent to, because some step's
    /// outcome doesn't tell all that it changed.
    pub fn leaves_untold(&self, session: &SessionKey) -> bool {
        let of_session = |(step, _): &(&Step, &StepOutcome)| step.session == *session;
        let mut ended = self.steps.iter().zip(&self.done).filter(of_session);
        ended.any(|(step, outcome)| !step.is_query() && !outcome.complete)
    }

    /// Returns the exit status of the command that began the run.
    pub fn exit_status(&self) -> u8 {
        // Of several queries that failed, the worst counts.
        let faults = self.done.iter().filter_map(|outcome| outcome.fault.as_ref());
        match faults.max_by_key(|fault| fault.code.exit_status()) {
            _ if self.question.is_some() => match &self.wrong_answer {
                Some(wrong) if !self.took_effect() => wrong.code.exit_status(),
                _ => ASKS,
            },
            _ if self.unknown => Code::Unknown.exit_status(),
            Some(_) if self.took_effect() => Code::Failed.exit_status(),
            Some(fault) => fault.code.exit_status(),
            None => 0,
        }
    }

    /// True when the run took earlier changes back.
    pub fn reverts(&self) -> bool {
        self.done.iter().any(|outcome| outcome.reverts)
    }

    /// Notes that an answer told of everything that happened so far.
    pub(super) fn forget_told(&mut self) {
        self.told_lines.clear();
        for outcome in &mut self.done {
            outcome.told = true;
            outcome.content.clear();
        }
    }

    pub(super) fn touch(&mut self, session: &SessionKey) {
        if !self.touched.contains(session) {
            self.touched.push(session.clone());
        }
    }

    /// True when the next step was sent earlier with an unknown outcome.
    pub(super) fn was_sent(&self) -> bool {
        self.sent_before.contains(&self.next)
    }

    /// Takes an answer back with which the next step failed without having taken effect. Returns the question,
    /// which is to be asked again.
    pub(super) fn take_wrong_answer(&mut self, fault: &Fault) -> Option<Box<AnsweredQuestion>> {
        let next = self.next;
        let is_wrong = |answered: &mut Box<AnsweredQuestion>| {
            // A step before it that wasn't delivered says nothing of the answer, which is still to be given.
            let undelivered = fault.code == Code::Unavailable && answered.index > next;
            undelivered || (answered.index == next && answered.is_wrong(fault))
        };
        if self.was_sent() {
            return None;
        }
        let question = self.answered.take_if(is_wrong)?;
        question.take_back(self);
        self.looked_up = LookedUp::default();
        Some(question)
    }

    /// Ends the run with its next step. The outcome of a step that was sent earlier is unknown, whatever
    /// becomes of it now.
    pub(super) fn fail(&mut self, mut status: StepStatus, mut fault: Fault) {
        if status == StepStatus::Failed && self.was_sent() {
            let why = "an earlier attempt may have taken effect; now";
            let message = format!("{why}: {}", fault.message);
            (status, fault) =
                (StepStatus::Unknown, Fault { hints: fault.hints, ..Fault::unknown(message) });
            if let Some(step) = self.steps.get(self.next) {
                fault = fault.hint(format!("pipemux view {}", step.session));
            }
        }
        self.unknown |= status == StepStatus::Unknown;
        if self.next < self.steps.len() {
            self.done.push(StepOutcome::failed(status, fault));
        }
    }

    /// Marks as unknown a step that was sent earlier but not again, since a call inside its arguments ended
    /// the run first.
    pub fn end_unreached(&mut self) {
        let was_sent = |index: &usize| self.sent_before.contains(index);
        let Some(last) = (self.done.len()..self.steps.len()).rfind(was_sent) else { return };
        self.done.resize(last, StepOutcome::skipped("cancelled; it was not run"));
        self.next = last;
        self.fail(StepStatus::Failed, Fault::unavailable("it was not sent again"));
    }
}
