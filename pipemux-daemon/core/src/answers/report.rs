//! The answer as data.

use pipemux_proto::report::{HeldReport, Report};

use crate::answers::collect::AnswerInput;
use crate::answers::draft::{AnswerParts, steps_behind_question};
use crate::answers::fit::Fitted;
use crate::answers::request::AnswerRequest;
use crate::processes::Processes;
use crate::views::answer::fault_with_options;
use crate::views::answer_window::AnswerWindow;
use crate::views::quoted_refs::quoted_refs_note;
use crate::views::report::{ReportInput, make_report};
use crate::views::requested_window::AnswerKind;
use crate::workspaces::Workspace;

/// Makes the report of an answer whose text was written.
pub(super) fn write_report(
    input: &AnswerInput,
    parts: AnswerParts,
    fitted: &Fitted,
    held: Vec<HeldReport>,
    (workspace, processes): (&Workspace, &Processes),
) -> Report {
    let AnswerParts { run, questions, jobs, notices, panels, recap: _ } = parts;
    let AnswerRequest { reader, hint_options, .. } = &input.request;
    let new: Vec<AnswerWindow>;
    let windows = match &fitted.reported {
        Some(is_new) => {
            let reported = fitted.windows.iter().zip(is_new).filter(|(_, is_new)| **is_new);
            new = reported.map(|(window, _)| window.clone()).collect();
            &new
        }
        None => &fitted.windows,
    };
    let report_input = ReportInput {
        workspace,
        windows,
        run: input.run(),
        contents: &run.contents,
        prototypes: &|session| processes.actions_of(session).unwrap_or_default(),
        hint_options,
    };
    let asked = run.asked.or_else(|| questions.reports.first().cloned());
    let mut report = make_report(&report_input, asked);
    if questions.reports.len() > 1 {
        report.questions = questions.reports;
    }
    let panels = panels.shown.into_iter();
    report.panels = panels.map(|(panel, text)| (panel.name().into(), (*text).into())).collect();
    report.kept = run.kept;
    report.jobs = jobs.statuses;
    report.held = held;
    match &input.kind {
        AnswerKind::Questions { refusal: Some(fault), .. } => {
            report.error = Some(fault_with_options((**fault).clone(), hint_options));
        }
        AnswerKind::Run(run) => report.error = run.end.wrong_answer.clone().or(report.error),
        _ => {}
    }
    let quoted = quoted_refs_note(workspace, reader, &fitted.text.quoted_refs());
    let waits = match &input.kind {
        AnswerKind::Questions { waiting, .. } => steps_behind_question(*waiting),
        _ => None,
    };
    report.notices = waits.into_iter().chain(notices).chain(quoted).collect();
    let too_large = windows.iter().filter_map(AnswerWindow::too_large);
    report.notices.extend(too_large.map(|fault| fault.named_message()));
    report.receipt = fitted.receipt;
    report
}
