//! An answer as data.

use pipemux_proto::Fault;
use pipemux_proto::context::Context;
use pipemux_proto::report::{self, QuestionReport, Report, TokenReceipt};

use crate::foreign::data;
use crate::keys::SessionKey;
use crate::processes::Prototypes;
use crate::runs::Run;
use crate::views::answer::{fault_with_options, refusal};
use crate::views::answer_text::BUSY;
use crate::views::answer_window::AnswerWindow;
use crate::views::context::{Completion, ContextView};
use crate::views::outcome::clicked;
use crate::views::requested_window::WindowStatus;
use crate::workspaces::Workspace;

/// Everything that a report is made from.
pub struct ReportInput<'a> {
    pub workspace: &'a Workspace,
    pub windows: &'a [AnswerWindow],
    /// The run that the answer is about, if any.
    pub run: Option<&'a Run>,
    /// For each ended step of the run, its contents besides its brief.
    pub contents: &'a [String],
    /// The prototypes of each session.
    pub prototypes: &'a dyn Fn(&SessionKey) -> Prototypes,
    /// The options that are repeated in suggested commands.
    pub hint_options: &'a str,
}

/// Returns the report of an answer. The caller fills in notices and receipt.
pub fn make_report(input: &ReportInput<'_>, question: Option<QuestionReport>) -> Report {
    let ReportInput { workspace, windows, run, .. } = input;
    let complete = |fault: Fault| fault_with_options(fault, input.hint_options);
    let steps = run.map_or(Vec::new(), |run| {
        let step = |(index, step): (usize, &crate::runs::Step)| {
            let call = step.call.clone();
            let clicked = clicked(step, &workspace.anchors)
                .map(|(label, session)| format!("\"{label}\" of {session}"));
            match run.progress.done.get(index) {
                Some(outcome) => report::StepReport {
                    call,
                    clicked,
                    status: outcome.status,
                    brief: data::exact(&outcome.brief),
                    detail: data::exact_option(outcome.detail.as_ref()),
                    content: input.contents.get(index).cloned().unwrap_or_default(),
                    value: outcome.value.as_ref().and_then(|blob| blob.to_value().ok()),
                    job: outcome.job.as_ref().map(|job| job.number),
                    error: outcome.fault.clone().map(complete),
                },
                None => {
                    let asks = run.end.question.is_some() && index == run.progress.next;
                    let status =
                        if asks { report::StepStatus::Needs } else { report::StepStatus::Skipped };
                    let brief = String::new();
                    report::StepReport {
                        call,
                        clicked,
                        status,
                        brief,
                        detail: None,
                        content: String::new(),
                        value: None,
                        job: None,
                        error: None,
                    }
                }
            }
        };
        run.progress.steps.iter().enumerate().map(step).collect()
    });
    let error = match windows {
        [AnswerWindow { status: WindowStatus::Broken(fault), .. }] if run.is_none() => {
            Some(complete((**fault).clone()))
        }
        _ => None,
    };
    Report {
        workspace: workspace.name.clone(),
        epoch: workspace.epoch,
        steps,
        question,
        questions: Vec::new(),
        kept: None,
        windows: windows.iter().filter_map(|shown| input.context(shown)).collect(),
        held: Vec::new(),
        panels: Default::default(),
        jobs: Vec::new(),
        notices: Vec::new(),
        error,
        receipt: TokenReceipt::default(),
    }
}

impl ReportInput<'_> {
    /// Returns the Context of a window of the answer.
    fn context(&self, shown: &AnswerWindow) -> Option<Context> {
        let window = self.workspace.window(&shown.session)?;
        let prototypes = (self.prototypes)(&shown.session);
        let rendered = shown.shown();
        let text = rendered.map_or("".into(), |rendered| shown.fitting_prototypes(rendered));
        let completion = Completion { prototypes: &prototypes, text: &text };
        let view = ContextView {
            workspace: self.workspace,
            window,
            lod: shown.lod,
            completion: self.run.is_none().then_some(completion),
        };
        match &shown.status {
            WindowStatus::Broken(fault) => {
                Some(view.of_diagnosis(refusal(fault), Some((**fault).clone())))
            }
            WindowStatus::Fresh => {
                let projection = shown.projection.as_ref()?;
                Some(view.of_window(rendered?, projection, "", shown.too_large()))
            }
            // A run's answer doesn't show a busy window: it only says so.
            WindowStatus::Busy | WindowStatus::Waiting if self.run.is_some() => None,
            WindowStatus::Busy | WindowStatus::Waiting => Some(match &window.rendered {
                Some((projection, whole)) => {
                    let view = ContextView { lod: window.rendered_lod, ..view };
                    // There may be room for a part of it only.
                    view.of_window(rendered.unwrap_or(whole), projection, BUSY, None)
                }
                None => view.of_diagnosis(format!("## {}{BUSY}\n", window.session), None),
            }),
        }
    }
}
