//! Rewrites an app's refusal of an object so that it names the ref that the reader wrote.

use std::mem;

use pipemux_proto::refs::RefKind;
use pipemux_proto::{Code, Fault};

use crate::scripts::context::RunContext;
use crate::scripts::ref_errors;
use crate::scripts::step::{Step, StepOrigin};

/// Turns an app's refusal of an object into the exact sentence about the ref that the reader wrote.
pub(super) fn name_refused_ref(
    mut fault: Fault,
    step: &Step,
    reader: &str,
    context: &RunContext<'_>,
) -> Fault {
    let anchors = &context.workspace.anchors;
    let Some(key) = fault.key.as_deref() else { return fault };
    let id = anchors.id_of(&step.session, key);
    let as_written =
        id.and_then(|id| step.args.iter().find_map(|(_, argument)| argument.ref_to(id, key)));
    let known = id.map_or(0, |id| context.workspace.known_epoch(reader, id));
    let seen = as_written.and_then(|of| of.epoch).unwrap_or(known);
    let shown = match (as_written, step.origin, id) {
        (Some(of), ..) => ref_errors::name(of),
        // What is out of date is the clicked link: the object itself may be as it was seen, or have
        // no id.
        (None, StepOrigin::Link, _) => step.call.clone(),
        (None, StepOrigin::Call, Some(id)) => anchors.written(RefKind::Obj, id).to_string(),
        (None, StepOrigin::Call, None) => {
            if fault.code == Code::NotFound {
                context.speaker(&step.session).mark_hints(&mut fault);
            }
            return fault;
        }
    };
    let hints = mem::take(&mut fault.hints);
    match fault.code {
        Code::Stale => {
            let fault = ref_errors::stale_since(context.workspace, &step.session, seen, &shown);
            hints.into_iter().fold(fault, Fault::hint)
        }
        Code::OutOfView => ref_errors::out_of_view(&shown, hints.into_iter().next()),
        Code::NotFound => ref_errors::not_found(&shown, hints.into_iter().next()),
        _ => Fault { hints, ..fault },
    }
}
