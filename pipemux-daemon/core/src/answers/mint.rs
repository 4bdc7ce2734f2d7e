//! Step 2 of an answer: renders its windows, its run's outcome, its questions and its jobs.
//!
//! Rendering mints: a text holds the ids that are minted while it is written, and one window's ids
//! decide how the next one names the same things. So this step can't be a pure function, and its
//! parts are rendered in the order of [`mint`], each of which may change what the next one reads.

use crate::answers::collect::AnswerInput;
use crate::answers::job_lines::{JobsPart, write_jobs};
use crate::answers::next_epoch::NextEpoch;
use crate::answers::questions::{QuestionsPart, shown_questions, write_questions};
use crate::answers::run_outcome::{RunPart, write_run};
use crate::answers::windows::render_windows;
use crate::jobs::Jobs;
use crate::keys::SessionKey;
use crate::processes::Processes;
use crate::runs::open_runs::OpenRuns;
use crate::turn::Turn;
use crate::views::answer_window::AnswerWindow;
use crate::workspaces::Workspace;

/// The parts of an answer that contain ids. The workspace has entered the answer's epoch, and the
/// parts don't change any more.
pub(crate) struct MintedAnswer {
    pub(super) input: AnswerInput,
    pub(super) windows: Vec<AnswerWindow>,
    pub(super) run: RunPart,
    pub(super) questions: QuestionsPart,
    pub(super) jobs: JobsPart,
    /// The sessions of changed windows that aren't in the answer of a run.
    pub(super) changed_elsewhere: Vec<SessionKey>,
}

impl AnswerInput {
    /// Renders what is shown of windows, of a run, of questions and of jobs.
    pub(crate) fn mint(
        mut self,
        workspace: &mut Workspace,
        runs: &mut OpenRuns,
        processes: &Processes,
        jobs: &Jobs,
        turn: &mut Turn,
    ) -> MintedAnswer {
        if let Some(evicted) = workspace.enter_reader(&self.request.reader, turn.now) {
            runs.forget_kept(&self.request.workspace, &evicted);
        }
        let mut next = NextEpoch::begin(workspace, turn.now);
        let requested = std::mem::take(&mut self.requested);
        let mut windows = render_windows(&self, requested, &mut next, processes, turn);
        let run = write_run(&mut self, &mut next, runs, processes, turn);
        let numbers = shown_questions(&self, next.workspace, runs);
        let questions = write_questions(&self, numbers, &mut next, runs);
        let jobs = write_jobs(&self, &mut windows, &mut next, jobs);
        next.end();
        let changed_elsewhere = take_changed_elsewhere(&self, &windows, workspace, processes);
        MintedAnswer { input: self, windows, run, questions, jobs, changed_elsewhere }
    }
}

/// Returns the sessions of changed windows that the answer of a run doesn't show. The reader then
/// counts as told about them.
fn take_changed_elsewhere(
    input: &AnswerInput,
    windows: &[AnswerWindow],
    workspace: &mut Workspace,
    processes: &Processes,
) -> Vec<SessionKey> {
    let Some(run) = input.run() else { return Vec::new() };
    let mut changed = workspace.take_dirty_windows(&input.request.reader, |session| {
        let session = processes.get(session)?;
        Some((session.app()?, session.version))
    });
    // The outcome tells what a step changed or found in the session that it was sent to.
    changed.retain(|session| {
        windows.iter().all(|window| window.session != *session)
            && run.progress.steps.iter().all(|step| step.session != *session)
    });
    changed
}
