//! The same answer as data.

use pipemux_proto::report::{self, Asked, Receipt, Report};

use super::part::Part;
use crate::act::Acting;
use crate::context::{context, error_context};
use crate::event::Now;
use crate::render::answer::refusal;
use crate::verbs::show::State;
use crate::workspace::Workspace;

/// The report of an answer; notices and receipt are filled in by the caller.
pub fn make_report(
    workspace: &Workspace,
    parts: &[Part],
    acting: Option<&Acting>,
    question: Option<Asked>,
    now: Now,
) -> Report {
    let steps = acting.map_or(Vec::new(), |acting| {
        let step = |(index, step): (usize, &crate::act::Step)| {
            let call = step.call.clone();
            match acting.done.get(index) {
                Some(ended) => report::Step {
                    call,
                    status: ended.status,
                    brief: ended.brief.clone(),
                    detail: ended.detail.clone(),
                    value: ended.value.as_ref().and_then(|blob| blob.to_value().ok()),
                    error: ended.fault.clone(),
                },
                None => {
                    let asks = acting.question.is_some() && index == acting.next;
                    let status = if asks { report::Status::Needs } else { report::Status::Skipped };
                    let brief = String::new();
                    report::Step { call, status, brief, detail: None, value: None, error: None }
                }
            }
        };
        acting.steps.iter().enumerate().map(step).collect()
    });
    let windows = parts
        .iter()
        .filter_map(|part| {
            let window = workspace.window(&part.session)?;
            if let State::Broken(fault) = &part.state {
                return Some(error_context(window, refusal(fault), part.lod, now));
            }
            let (rendered, projection) = (part.rendered.as_ref()?, part.projection.as_ref()?);
            Some(context(workspace, window, rendered, projection, part.lod))
        })
        .collect();
    let error = match parts {
        [Part { state: State::Broken(fault), .. }] if acting.is_none() => Some((**fault).clone()),
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
