//! Step 3 of an answer: writes it, from values alone. Nothing changes here.

use pipemux_proto::client::{Body, Format};
use pipemux_proto::report::TokenReceipt;

use crate::answers::collect::AnswerInput;
use crate::answers::draft::{AnswerParts, Draft};
use crate::answers::fit::Fitted;
use crate::answers::job_lines::job_ends;
use crate::answers::mint::MintedAnswer;
use crate::answers::notices::unread_notices;
use crate::answers::panels::write_panels;
use crate::answers::recap::recap;
use crate::answers::report::write_report;
use crate::event::Now;
use crate::jobs::Jobs;
use crate::limits::CONTEXT_BYTES;
use crate::processes::Processes;
use crate::runs::open_runs::OpenRuns;
use crate::runs::run::ASKS;
use crate::views::answer_buffer::AnswerBuffer;
use crate::views::answer_window::AnswerWindow;
use crate::views::requested_window::{AnswerKind, WindowStatus};
use crate::workspaces::{Delivery, Workspace};

/// A written answer, and the changes to be recorded when it is sent.
pub(crate) struct ComposedAnswer {
    pub(super) input: AnswerInput,
    pub(super) exit: u8,
    /// True if it is an error and no step ran.
    pub(super) error: bool,
    pub(super) body: AnswerBody,
    pub(super) receipt: TokenReceipt,
    /// The windows that the answer shows.
    pub(super) windows: Vec<AnswerWindow>,
    /// The windows that are only named, because neither this nor a later answer has space.
    pub(super) only_named: Vec<AnswerWindow>,
    /// The information besides windows that the reader will have been given.
    pub(super) delivery: Delivery,
}

pub(super) enum AnswerBody {
    Whole(Body),
    /// A long text, which may be sent without copying it.
    Long(AnswerBuffer),
}

impl MintedAnswer {
    /// Writes the answer, within its budget. `workspace` is the one in which its parts were minted.
    pub(crate) fn compose(
        self,
        workspace: &Workspace,
        runs: &OpenRuns,
        processes: &Processes,
        jobs: &Jobs,
        now: Now,
    ) -> ComposedAnswer {
        let Self { mut input, windows, run, questions, jobs: mut jobs_part, .. } = self;
        let mut lines = std::mem::take(&mut input.still_running);
        let ended = workspace.readers.unheard(&input.request.reader);
        let unheard = ended.len();
        lines.extend(ended);
        lines.extend(job_ends(&input.request, &mut jobs_part, jobs, now));
        let mut panels = write_panels(&input, &questions.numbers, workspace, runs, processes);
        let mut delivery = Delivery {
            unheard,
            questions: questions.numbers.clone(),
            running_jobs: std::mem::take(&mut jobs_part.seen),
            told_jobs: std::mem::take(&mut jobs_part.told),
            panels: std::mem::take(&mut panels.known),
            ..Delivery::default()
        };
        let notices = unread_notices(&input, &windows, lines, panels.notices, (workspace, now));
        let recap = recap(&input, workspace, runs, now);
        let parts = AnswerParts { run, questions, jobs: jobs_part, notices, panels, recap };
        let draft = Draft { request: &input.request, kind: &input.kind, workspace, parts: &parts };
        let mut fitted = draft.fit(windows, self.changed_elsewhere);
        let held = draft.text(&fitted.windows, &[]);
        if draft.request.format == Format::Json
            && fitted.reported.is_none()
            && !draft.request.held.is_empty()
        {
            let is_new = |window| !held.is_unchanged(window);
            fitted.reported = Some(fitted.windows.iter().map(is_new).collect());
        }
        let held = held.held_reports();
        delivery.lines = fitted.line_updates(input.request.format);
        let is_whole = matches!(input.kind, AnswerKind::Injection { reset: true });
        delivery.context = is_whole.then(|| fitted.text.beginning(CONTEXT_BYTES).into());
        let exit = exit_status(&input.kind, &fitted.windows);
        let body = match input.request.format {
            Format::Markdown => None,
            Format::Json => {
                Some(write_report(&input, parts, &fitted, held, (workspace, processes)))
            }
        };
        let Fitted { windows, only_named, text, receipt, unshown, .. } = fitted;
        delivery.unshown = unshown;
        let body = match body {
            Some(report) => AnswerBody::Whole(Body::Report(Box::new(report))),
            None if text.is_long() && exit == 0 => AnswerBody::Long(text),
            None => AnswerBody::Whole(Body::Text(text.into_text())),
        };
        let error = is_error(&input.kind, exit);
        ComposedAnswer { input, exit, error, body, receipt, windows, only_named, delivery }
    }
}

/// Returns the exit status of an answer.
fn exit_status(kind: &AnswerKind, windows: &[AnswerWindow]) -> u8 {
    match kind {
        AnswerKind::Run(run) => run.exit_status(),
        AnswerKind::Workspace(_) | AnswerKind::Injection { .. } => 0,
        AnswerKind::Questions { refusal, .. } => {
            refusal.as_ref().map_or(ASKS, |fault| fault.code.exit_status())
        }
        AnswerKind::Open { .. } | AnswerKind::Window(_) => first_window_exit_status(windows),
    }
}

/// Returns true if the answer is an error and no step ran.
fn is_error(kind: &AnswerKind, exit: u8) -> bool {
    match kind {
        AnswerKind::Run(run) => run.end.wrong_answer.is_some(),
        AnswerKind::Questions { refusal, .. } => refusal.is_some(),
        // Of a window that can't be shown there is only the error.
        AnswerKind::Open { .. }
        | AnswerKind::Window(_)
        | AnswerKind::Workspace(_)
        | AnswerKind::Injection { .. } => exit != 0,
    }
}

/// Returns the exit status of an answer that is about one window.
fn first_window_exit_status(windows: &[AnswerWindow]) -> u8 {
    match windows.first().map(|window| &window.status) {
        Some(WindowStatus::Broken(fault)) => fault.code.exit_status(),
        _ => 0,
    }
}
