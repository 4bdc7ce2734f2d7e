//! Writes a step as the call that is carried out, once answers have completed it.

use pipemux_proto::call::mask::MASKED;
use pipemux_proto::call::write_raw;
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Param;
use pipemux_proto::refs::RefKind;
use pipemux_proto::{SessionAddr, Value};

use crate::runs::step::is_true;
use crate::runs::{Argument, Run, Step, ref_errors};
use crate::text::clip;
use crate::workspaces::Workspace;

/// Most characters of one argument.
const ARGUMENT_SHOWN: usize = 60;

/// Returns a step as a call with its arguments by name: `notebook.append(entry=obj:7, text='more')`.
pub fn written_call(run: &Run, index: usize, workspace: &Workspace) -> String {
    let Some(step) = run.steps.get(index) else { return String::new() };
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
            argument => written(run, step, argument, workspace),
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

fn written(run: &Run, step: &Step, argument: &Argument, workspace: &Workspace) -> String {
    match argument {
        Argument::Fixed(arg) => written_value(step, arg, workspace),
        Argument::Ref { of, .. } => ref_errors::name(of),
        Argument::Name { session, name, .. } => format!("{session}.{name}"),
        Argument::Result(index) => {
            run.steps.get(*index).map_or_else(|| "?".into(), |nested| nested.call.clone())
        }
        Argument::Missing(_) => "?".into(),
        Argument::List(items) => {
            let items = items.iter().map(|item| written(run, step, item, workspace));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        Argument::Record(entries) => {
            record(entries.iter().map(|(name, part)| (name, written(run, step, part, workspace))))
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
