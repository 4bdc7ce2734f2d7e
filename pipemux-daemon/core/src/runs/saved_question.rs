//! Open questions on disk. The types are this file's own: what an older release wrote is read for ever, or
//! dropped and told.

use bytes::Bytes;
use pipemux_proto::app::{Invoke, Needs};
use pipemux_proto::projection::{Arg, LinkSlot};
use pipemux_proto::prototype::{Prototype, Type};
use pipemux_proto::refs::Ref;
use pipemux_proto::report::Status;
use pipemux_proto::{Blob, SessionAddr, Value, decode, encode};
use serde::{Deserialize, Serialize};

use crate::keys::{SessionKey, WorkspaceKey};
use crate::persist::records::SavedQuestion;
use crate::runs::question::{AskedArgument, Asker, OpenQuestion};
use crate::runs::{Argument, MissingArgument, Run, Step, StepOutcome};

const VERSION: u16 = 1;

#[derive(Serialize, Deserialize)]
struct V1 {
    reader: String,
    run_id: String,
    #[serde(default)]
    cwd: String,
    steps: Vec<V1Step>,
    next: usize,
    done: Vec<V1Ended>,
    answers: u32,
    needs: Needs,
    invoke: Option<Invoke>,
    gap: Option<V1Asked>,
    owner: Option<usize>,
    #[serde(default)]
    again: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
struct V1Asked {
    step: usize,
    index: usize,
    options: Vec<V1Argument>,
}

#[derive(Serialize, Deserialize)]
struct V1Step {
    session: V1Session,
    owners: Vec<V1Session>,
    prototype: Prototype,
    args: Vec<(String, V1Argument)>,
    call: String,
    nested: bool,
}

#[derive(Serialize, Deserialize)]
struct V1Session {
    workspace: Option<String>,
    addr: SessionAddr,
}

#[derive(Serialize, Deserialize)]
enum V1Argument {
    Fixed(Arg),
    Ref { of: String, ty: Type },
    Name { session: V1Session, name: String, ty: Type },
    Result(usize),
    Gap { ty: Type, meant: Option<Value> },
    List(Vec<V1Argument>),
}

#[derive(Serialize, Deserialize)]
struct V1Ended {
    status: Status,
    brief: String,
    detail: Option<String>,
    value: Option<Blob>,
    label: Option<String>,
    links: Vec<LinkSlot>,
}

/// A question as it is written down; none when it is too large to be.
pub fn save(question: &OpenQuestion) -> Option<SavedQuestion> {
    let run = &question.run;
    let (invoke, gap, owner) = match &question.asker {
        Asker::App(invoke) => (Some((**invoke).clone()), None, None),
        Asker::MissingArgument(asked) => {
            let options = asked.options.iter().map(save_argument).collect();
            (None, Some(V1Asked { step: asked.step, index: asked.index, options }), None)
        }
        Asker::AmbiguousTarget(step) => (None, None, Some(*step)),
    };
    let saved = V1 {
        reader: run.reader.clone(),
        run_id: run.run_id.clone(),
        cwd: run.cwd.clone(),
        steps: run.steps.iter().map(save_step).collect(),
        next: run.next,
        done: run.done.iter().map(save_ended).collect(),
        answers: run.answers,
        needs: question.needs.clone(),
        invoke,
        gap,
        owner,
        again: run.again.clone(),
    };
    let bytes = encode(&saved).ok()?;
    Some(SavedQuestion { version: VERSION, state: Bytes::from(bytes) })
}

/// A question as it was written down; none when it can't be read.
pub fn restore(saved: &SavedQuestion, workspace: &WorkspaceKey) -> Option<OpenQuestion> {
    if saved.version != VERSION {
        return None;
    }
    let saved: V1 = decode(&saved.state).ok()?;
    let steps: Vec<Step> = saved.steps.into_iter().map(restore_step).collect::<Option<_>>()?;
    let from = match (saved.invoke, saved.gap) {
        (Some(invoke), _) => Asker::App(Box::new(invoke)),
        (None, Some(asked)) => {
            let (step, index) = (asked.step, asked.index);
            matches!(steps.get(step)?.args.get(index)?.1, Argument::Missing(_)).then_some(())?;
            let options = asked.options.into_iter().map(restore_argument).collect::<Option<_>>()?;
            Asker::MissingArgument(AskedArgument { step, index, options })
        }
        (None, None) => {
            let owner = saved.owner?;
            (!steps.get(owner)?.candidates.is_empty()).then_some(())?;
            Asker::AmbiguousTarget(owner)
        }
    };
    steps.get(saved.next)?;
    let done: Vec<StepOutcome> = saved.done.into_iter().map(restore_ended).collect();
    let run = Run {
        answers: saved.answers,
        cwd: saved.cwd,
        next: saved.next,
        done,
        again: saved.again,
        ..Run::new(workspace.clone(), saved.reader, saved.run_id, steps)
    };
    Some(OpenQuestion { run, needs: saved.needs, asker: from })
}

fn save_step(step: &Step) -> V1Step {
    V1Step {
        session: save_session(&step.session),
        owners: step.candidates.iter().map(save_session).collect(),
        prototype: step.prototype.clone(),
        args: step.args.iter().map(|(name, arg)| (name.clone(), save_argument(arg))).collect(),
        call: step.call.clone(),
        nested: step.nested,
    }
}

fn restore_step(step: V1Step) -> Option<Step> {
    let argument = |(name, argument)| Some((name, restore_argument(argument)?));
    Some(Step {
        session: restore_session(step.session),
        candidates: step.owners.into_iter().map(restore_session).collect(),
        prototype: step.prototype,
        args: step.args.into_iter().map(argument).collect::<Option<_>>()?,
        call: step.call,
        nested: step.nested,
    })
}

fn save_session(key: &SessionKey) -> V1Session {
    V1Session { workspace: key.workspace.as_deref().map(Into::into), addr: key.addr.clone() }
}

fn restore_session(saved: V1Session) -> SessionKey {
    SessionKey { workspace: saved.workspace.map(Into::into), addr: saved.addr }
}

fn save_argument(argument: &Argument) -> V1Argument {
    match argument {
        Argument::Fixed(arg) => V1Argument::Fixed(arg.clone()),
        Argument::Ref { of, ty } => V1Argument::Ref { of: of.to_string(), ty: ty.clone() },
        Argument::Name { session, name, ty } => {
            V1Argument::Name { session: save_session(session), name: name.clone(), ty: ty.clone() }
        }
        Argument::Result(index) => V1Argument::Result(*index),
        Argument::Missing(gap) => V1Argument::Gap { ty: gap.ty.clone(), meant: gap.meant.clone() },
        Argument::List(items) => V1Argument::List(items.iter().map(save_argument).collect()),
    }
}

fn restore_argument(argument: V1Argument) -> Option<Argument> {
    Some(match argument {
        V1Argument::Fixed(arg) => Argument::Fixed(arg),
        V1Argument::Ref { of, ty } => Argument::Ref { of: of.parse::<Ref>().ok()?, ty },
        V1Argument::Name { session, name, ty } => {
            Argument::Name { session: restore_session(session), name, ty }
        }
        V1Argument::Result(index) => Argument::Result(index),
        V1Argument::Gap { ty, meant } => Argument::Missing(MissingArgument { ty, meant }),
        V1Argument::List(items) => {
            Argument::List(items.into_iter().map(restore_argument).collect::<Option<_>>()?)
        }
    })
}

fn save_ended(ended: &StepOutcome) -> V1Ended {
    V1Ended {
        status: ended.status,
        brief: ended.brief.clone(),
        detail: ended.detail.clone(),
        value: ended.value.clone(),
        label: ended.label.clone(),
        links: ended.links.clone(),
    }
}

fn restore_ended(saved: V1Ended) -> StepOutcome {
    StepOutcome {
        status: saved.status,
        brief: saved.brief,
        detail: saved.detail,
        value: saved.value,
        label: saved.label,
        fault: None,
        links: saved.links,
    }
}

#[cfg(test)]
mod tests;
