//! The same answer as data.

use pipemux_proto::context::Context;
use pipemux_proto::projection::Lod;
use pipemux_proto::report::{self, Asked, Receipt, Report};

use crate::event::Now;
use crate::runs::Run;
use crate::verbs::show::WindowStatus;
use crate::views::answer::refusal;
use crate::views::answer_text::BUSY;
use crate::views::context::{context, error_context};
use crate::views::window_part::AnswerWindow;
use crate::workspaces::{Window, Workspace};

/// The report of an answer; notices and receipt are filled in by the caller.
pub fn make_report(
    workspace: &Workspace,
    parts: &[AnswerWindow],
    run: Option<&Run>,
    question: Option<Asked>,
    now: Now,
) -> Report {
    let steps = run.map_or(Vec::new(), |run| {
        let step = |(index, step): (usize, &crate::runs::Step)| {
            let call = step.call.clone();
            match run.done.get(index) {
                Some(ended) => report::Step {
                    call,
                    status: ended.status,
                    brief: ended.brief.clone(),
                    detail: ended.detail.clone(),
                    value: ended.value.as_ref().and_then(|blob| blob.to_value().ok()),
                    error: ended.fault.clone(),
                },
                None => {
                    let asks = run.question.is_some() && index == run.next;
                    let status = if asks { report::Status::Needs } else { report::Status::Skipped };
                    let brief = String::new();
                    report::Step { call, status, brief, detail: None, value: None, error: None }
                }
            }
        };
        run.steps.iter().enumerate().map(step).collect()
    });
    let windows = parts
        .iter()
        .filter_map(|part| {
            let window = workspace.window(&part.session)?;
            if let WindowStatus::Broken(fault) = &part.state {
                return Some(error_context(window, refusal(fault), part.lod, now));
            }
            if part.state != WindowStatus::Fresh {
                // A run's answer doesn't show it: it says that it is busy.
                return run.is_none().then(|| as_before(workspace, window, part.lod, now));
            }
            let (rendered, projection) = (part.rendered.as_ref()?, part.projection.as_ref()?);
            Some(context(workspace, window, rendered, projection, part.lod))
        })
        .collect();
    let error = match parts {
        [AnswerWindow { state: WindowStatus::Broken(fault), .. }] if run.is_none() => {
            Some((**fault).clone())
        }
        _ => None,
    };
    Report {
        workspace: workspace.name.clone(),
        epoch: workspace.epoch,
        steps,
        question,
        windows,
        notices: Vec::new(),
        error,
        receipt: Receipt::default(),
    }
}

/// The Context of a window whose app didn't answer in time: what it showed, marked as busy.
fn as_before(workspace: &Workspace, window: &Window, lod: Lod, now: Now) -> Context {
    let Some((projection, rendered)) = &window.rendered else {
        let said = format!("## {}{BUSY}\n", window.session);
        return error_context(window, said, lod, now);
    };
    let lod = window.context.of.map_or(lod, |(.., lod)| lod);
    let mut shown = context(workspace, window, rendered, projection, lod);
    shown.content = shown.content.replacen('\n', &format!("{BUSY}\n"), 1);
    shown
}
