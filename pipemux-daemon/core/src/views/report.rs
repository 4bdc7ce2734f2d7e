//! An answer as data.

use pipemux_proto::Fault;
use pipemux_proto::context::Context;
use pipemux_proto::projection::Lod;
use pipemux_proto::report::{self, QuestionReport, Report, TokenReceipt};

use crate::event::Now;
use crate::runs::Run;
use crate::views::answer::{fault_with_options, refusal};
use crate::views::answer_text::BUSY;
use crate::views::answer_window::AnswerWindow;
use crate::views::context::{context, error_context};
use crate::views::requested_window::WindowStatus;
use crate::workspaces::{Window, Workspace};

/// Returns the report of an answer; commands in it repeat `hint_options`. The caller fills in notices and receipt.
pub fn make_report(
    workspace: &Workspace,
    windows: &[AnswerWindow],
    run: Option<&Run>,
    question: Option<QuestionReport>,
    (now, hint_options): (Now, &str),
) -> Report {
    let complete = |fault: Fault| fault_with_options(fault, hint_options);
    let steps = run.map_or(Vec::new(), |run| {
        let step = |(index, step): (usize, &crate::runs::Step)| {
            let call = step.call.clone();
            match run.done.get(index) {
                Some(outcome) => report::StepReport {
                    call,
                    status: outcome.status,
                    brief: outcome.brief.clone(),
                    detail: outcome.detail.clone(),
                    value: outcome.value.as_ref().and_then(|blob| blob.to_value().ok()),
                    error: outcome.fault.clone().map(complete),
                },
                None => {
                    let asks = run.question.is_some() && index == run.next;
                    let status =
                        if asks { report::StepStatus::Needs } else { report::StepStatus::Skipped };
                    let brief = String::new();
                    report::StepReport {
                        call,
                        status,
                        brief,
                        detail: None,
                        value: None,
                        error: None,
                    }
                }
            }
        };
        run.steps.iter().enumerate().map(step).collect()
    });
    let error = match windows {
        [AnswerWindow { status: WindowStatus::Broken(fault), .. }] if run.is_none() => {
            Some(complete((**fault).clone()))
        }
        _ => None,
    };
    let context_of = |shown: &AnswerWindow| {
        let window = workspace.window(&shown.session)?;
        if let WindowStatus::Broken(fault) = &shown.status {
            return Some(error_context(
                window,
                refusal(&complete((**fault).clone())),
                shown.lod,
                now,
            ));
        }
        if shown.status != WindowStatus::Fresh {
            // A run's answer doesn't show a busy window: it only says so.
            return run.is_none().then(|| busy_context(workspace, window, shown.lod, now));
        }
        let (rendered, projection) = (shown.rendered.as_ref()?, shown.projection.as_ref()?);
        Some(context(window, rendered, projection, shown.lod, &workspace.anchors))
    };
    Report {
        workspace: workspace.name.clone(),
        epoch: workspace.epoch,
        steps,
        question,
        windows: windows.iter().filter_map(context_of).collect(),
        notices: Vec::new(),
        error,
        receipt: TokenReceipt::default(),
    }
}

/// Returns the Context of a window whose app didn't answer in time: as it was, marked as busy.
fn busy_context(workspace: &Workspace, window: &Window, lod: Lod, now: Now) -> Context {
    let Some((projection, rendered)) = &window.rendered else {
        let heading = format!("## {}{BUSY}\n", window.session);
        return error_context(window, heading, lod, now);
    };
    let lod = window.context.counted.map_or(lod, |(.., lod)| lod);
    let mut busy = context(window, rendered, projection, lod, &workspace.anchors);
    busy.content = busy.content.replacen('\n', &format!("{BUSY}\n"), 1);
    busy
}
