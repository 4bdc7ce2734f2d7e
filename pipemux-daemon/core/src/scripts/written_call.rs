//! Writes a step as the call that is carried out, once answers have completed it.

use pipemux_proto::call::mask::MASKED;
use pipemux_proto::call::write_raw;
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Param;
use pipemux_proto::refs::RefKind;
use pipemux_proto::{SessionAddr, Value};

use crate::scripts::ref_errors;
use crate::scripts::step::{Argument, Step, is_true};
use crate::text::clip;
use crate::workspaces::Workspace;

/// Most characters of one argument.
const ARGUMENT_SHOWN: usize = 60;

/// Returns a step as a call with its arguments by name: `notebook.append(entry=obj:7,
/// text='more')`.
pub fn written_call(steps: &[Step], index: usize, workspace: &Workspace) -> String {
    let Some(step) = steps.get(index) else { return String::new() };
    let addr = &step.session.addr;
    let session = match addr.session.as_str() {
        SessionAddr::DEFAULT_SESSION => ["", ""],
        session => ["/", session],
    };
    // In the order of the prototype: answers are appended to the arguments that the call had.
    let named = |param: &Param| step.args.iter().find(|(name, _)| *name == param.name);
    let flag = |name: &str| {
        step.args.iter().find(|(given, _)| given == name).map(|(_, argument)| match argument {
            Argument::Fixed(arg) => is_true(arg),
            _ => false,
        })
    };
    let args = step.prototype.params.iter().filter_map(|param| {
        let (name, argument) = named(param)?;
        if param.holds_secret() {
            return Some(format!("{name}={MASKED}"));
        }
        let argument = match argument {
            Argument::Fixed(arg) if param.raw.holds(flag) => written_raw(step, arg, workspace),
            argument => written(steps, step, argument, workspace),
        };
        Some(format!("{name}={}", clip(&argument, ARGUMENT_SHOWN)))
    });
    let mut call =
        [&[addr.provider.as_str()], &session[..], &[".", step.prototype.written_name(), "("]]
            .concat()
            .concat();
    for (index, argument) in args.enumerate() {
        call.push_str(if index == 0 { "" } else { ", " });
        call.push_str(&argument);
    }
    call.push(')');
    call
}

fn written(steps: &[Step], step: &Step, argument: &Argument, workspace: &Workspace) -> String {
    match argument {
        Argument::Fixed(arg) => written_value(step, arg, workspace),
        Argument::Ref { of, .. } => ref_errors::name(of),
        Argument::Name { session, name, .. } => format!("{session}.{name}"),
        Argument::Result(index) => {
            steps.get(*index).map_or_else(|| "?".into(), |nested| nested.call.clone())
        }
        Argument::Missing(_) => "?".into(),
        Argument::List(items) => {
            let items = items.iter().map(|item| written(steps, step, item, workspace));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        Argument::Record(entries) => {
            record(entries.iter().map(|(name, part)| (name, written(steps, step, part, workspace))))
        }
    }
}

fn record<'a>(entries: impl Iterator<Item = (&'a String, String)>) -> String {
    let entries = entries.map(|(name, value)| format!("{name}: {value}"));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

fn written_value(step: &Step, arg: &Arg, workspace: &Workspace) -> String {
    match arg {
        Arg::Value(blob) => blob.to_value().map_or_else(|_| "?".into(), |value| value.to_string()),
        Arg::Copied(copied) => format!("<{} of {}>", copied.label, copied.from),
        Arg::List(items) => {
            let items = items.iter().map(|item| written_value(step, item, workspace));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        Arg::Record(entries) => {
            record(entries.iter().map(|(name, part)| (name, written_value(step, part, workspace))))
        }
        Arg::Ref(object) => match workspace.anchors.id_of(&step.session, &object.key) {
            Some(id) => match workspace.anchors.get(RefKind::Obj, id) {
                Some(anchor) => anchor.written(id).to_string(),
                None => format!("obj:{id}"),
            },
            None => object.key.clone(),
        },
    }
}

/// Writes an argument of a parameter that takes texts as they are written.
fn written_raw(step: &Step, arg: &Arg, workspace: &Workspace) -> String {
    match arg {
        Arg::Value(blob) if let Ok(Value::Str(text)) = blob.to_value() => write_raw(&text),
        arg => written_value(step, arg, workspace),
    }
}

/// Writes the steps that hold a secret, or take the result of one that does, without it.
pub fn hide_secrets(steps: &mut [Step], workspace: &Workspace) {
    let mut hidden = vec![false; steps.len()];
    for index in 0..steps.len() {
        let step = &steps[index];
        let takes_hidden = |(_, argument): &(String, Argument)| takes_result(argument, &hidden);
        hidden[index] = step.holds_secret() || step.args.iter().any(takes_hidden);
        if hidden[index] {
            steps[index].call = written_call(steps, index, workspace);
        }
    }
}

/// True for the result of one of the steps that are marked.
fn takes_result(argument: &Argument, marked: &[bool]) -> bool {
    match argument {
        Argument::Result(index) => marked.get(*index).copied().unwrap_or(false),
        _ => argument.parts().any(|part| takes_result(part, marked)),
    }
}
