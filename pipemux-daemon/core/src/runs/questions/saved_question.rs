//! Open questions on disk. The `V1` types are the saved form: they never change, whatever becomes
//! of the types of a run, since questions that an older release wrote are still to be answered.

use std::rc::Rc;

use bytes::Bytes;
use pipemux_proto::app::{Choice, Invoke};
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::{Prototype, Type};
use pipemux_proto::refs::Ref;
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Blob, Incarnation, SessionAddr, Value, decode, encode};
use serde::{Deserialize, Serialize};

use crate::foreign::{ForeignText, LinkSlot, Needs};
use crate::keys::{SessionKey, WorkspaceKey};
use crate::persist::records::SavedQuestion;
use crate::runs::caller::Caller;
use crate::runs::origin::Origin;
use crate::runs::progress::Progress;
use crate::runs::questions::asker::{AskedArgument, Asker};
use crate::runs::questions::question::OpenQuestion;
use crate::runs::step_outcome::StepOutcome;
use crate::runs::suspended::Suspended;
use crate::runs::undone_round::UndoneRound;
use crate::scripts::source::{Code, Source};
use crate::scripts::step::{Argument, MissingArgument, Step, StepOrigin};

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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    shown: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<V1Source>,
    #[serde(default, skip_serializing_if = "is_zero")]
    begins_at: usize,
    /// The history round that the run undoes, and which of its undos the steps are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undoes: Option<(u64, Vec<u32>)>,
    /// The step whose arguments a form asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    form: Option<usize>,
    /// The time span in which the run's steps changed files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wrote: Option<(u64, u64)>,
    /// The form fields that were validly answered so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    given: Vec<(String, V1Argument)>,
}

#[derive(Serialize, Deserialize)]
struct V1Source {
    /// One script, or several steps with code of their own.
    code: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    split: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stdin: Option<Bytes>,
    #[serde(default, skip_serializing_if = "is_zero")]
    earlier: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
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
    Ref {
        of: String,
        ty: Type,
    },
    Name {
        session: V1Session,
        name: String,
        ty: Type,
    },
    Result(usize),
    Gap {
        ty: Type,
        meant: Option<Value>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        raw: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        secret: bool,
    },
    List(Vec<V1Argument>),
    Record(Vec<(String, V1Argument)>),
}

#[derive(Serialize, Deserialize)]
struct V1Ended {
    status: StepStatus,
    brief: ForeignText,
    detail: Option<ForeignText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    diff: Option<ForeignText>,
    value: Option<Blob>,
    label: Option<ForeignText>,
    links: Vec<LinkSlot>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    reverts: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changed_files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    no_undo: Option<ForeignText>,
    /// The incarnation and state version after the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<(u64, u64)>,
}

/// Encodes a question. Returns `None` when it is too large, or its run holds a secret: that is
/// never written down.
pub fn save(question: &OpenQuestion) -> Option<SavedQuestion> {
    let run = &question.suspended;
    let Progress { steps, next, done, begins_at } = &run.progress;
    if run.progress.holds_secret() {
        return None;
    }
    let (mut invoke, mut argument, mut target, mut form) = (None, None, None, None);
    match &question.asker {
        Asker::App(asked) => {
            let mut asked = (**asked).clone();
            // Its next answer takes the place of the one that it had. A text may have been secret.
            asked.resume = asked
                .resume
                .filter(|resume| !matches!(resume.choice, Choice::Text(_) | Choice::Fields(_)));
            invoke = Some(asked);
        }
        Asker::MissingArgument(asked) => {
            let options = asked.options.iter().map(save_argument).collect();
            argument = Some(V1Asked { step: asked.step, index: asked.index, options });
        }
        Asker::MissingArguments(step) => form = Some(*step),
        Asker::AmbiguousTarget(step) => target = Some(*step),
    }
    let fields = &question.needs.question.fields;
    let secret = |name: &str| fields.iter().any(|field| field.name == name && field.holds_secret());
    let given = question.given.iter().filter(|(name, _)| !secret(name));
    let saved = V1 {
        reader: run.caller.reader.to_string(),
        run_id: run.caller.run_id.to_string(),
        cwd: run.caller.cwd.clone(),
        steps: steps.iter().map(save_step).collect(),
        next: *next,
        done: done.iter().map(save_outcome).collect(),
        answers: run.answers.count,
        needs: question.needs.clone(),
        invoke,
        gap: argument,
        owner: target,
        again: run.attempts.sent_before.clone(),
        shown: question.shown,
        source: run.origin.source().map(|source| save_source(source)),
        begins_at: *begins_at,
        undoes: run.origin.undone_round().map(|of| (of.number, of.steps.clone())),
        form,
        wrote: run.wrote,
        given: given.map(|(name, value)| (name.clone(), save_argument(value))).collect(),
    };
    let bytes = encode(&saved).ok()?;
    Some(SavedQuestion { version: VERSION, state: Bytes::from(bytes) })
}

/// Decodes a question. Returns `None` when it is damaged or was saved by a newer release.
pub fn restore(saved: &SavedQuestion, workspace: &WorkspaceKey) -> Option<OpenQuestion> {
    if saved.version != VERSION {
        return None;
    }
    let saved: V1 = decode(&saved.state).ok()?;
    let steps: Vec<Step> = saved.steps.into_iter().map(restore_step).collect::<Option<_>>()?;
    let asker = match (saved.invoke, saved.gap) {
        (Some(invoke), _) => Asker::App(Box::new(invoke)),
        (None, Some(asked)) => {
            let (step, index) = (asked.step, asked.index);
            let Argument::Missing(missing) = &steps.get(step)?.args.get(index)?.1 else {
                return None;
            };
            let missing = missing.clone();
            let options = asked.options.into_iter().map(restore_argument).collect::<Option<_>>()?;
            Asker::MissingArgument(AskedArgument { step, index, missing, options })
        }
        (None, None) if let Some(step) = saved.form => {
            steps.get(step)?;
            Asker::MissingArguments(step)
        }
        (None, None) => {
            let step = saved.owner?;
            (!steps.get(step)?.candidates.is_empty()).then_some(())?;
            Asker::AmbiguousTarget(step)
        }
    };
    steps.get(saved.next)?;
    let origin = match (saved.undoes, saved.source.and_then(restore_source)) {
        (Some((number, steps)), _) => Origin::Undo(UndoneRound {
            number,
            steps,
            // They were named when the question was asked.
            stays: Vec::new(),
            skipped: String::new(),
            // A step that makes a change again doesn't ask.
            failed: None,
        }),
        (None, Some(source)) => Origin::Typed(Rc::new(source)),
        (None, None) => Origin::Click,
    };
    let caller =
        Caller { cwd: saved.cwd, ..Caller::new(workspace.clone(), saved.reader, saved.run_id) };
    let mut suspended = Suspended::restored(caller, steps);
    suspended.progress.next = saved.next;
    suspended.progress.begins_at = saved.begins_at;
    suspended.progress.done = saved.done.into_iter().map(restore_outcome).collect();
    suspended.answers.count = saved.answers;
    suspended.attempts.sent_before = saved.again;
    (suspended.origin, suspended.wrote) = (origin, saved.wrote);
    let shown = saved.shown;
    let given = saved.given.into_iter();
    let given = given.map(|(name, value)| Some((name, restore_argument(value)?)));
    let given = given.collect::<Option<_>>()?;
    Some(OpenQuestion { shown, given, ..OpenQuestion::new(suspended, saved.needs, asker, 0) })
}

fn save_source(source: &Source) -> V1Source {
    let (code, split) = match &source.code {
        Code::Script(code) => (vec![code.clone()], false),
        Code::Steps(steps) => (steps.clone(), true),
    };
    V1Source { code, split, stdin: source.stdin.clone(), earlier: source.earlier }
}

fn restore_source(saved: V1Source) -> Option<Source> {
    let code = match saved.split {
        true => Code::Steps(saved.code),
        false => Code::Script(saved.code.into_iter().next()?),
    };
    Some(Source { code, stdin: saved.stdin, earlier: saved.earlier })
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
        // The saved form tells a click by the link that stands for its call.
        origin: match step.call.starts_with("link:") {
            true => StepOrigin::Link,
            false => StepOrigin::Call,
        },
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
        Argument::Missing(missing) => {
            let MissingArgument { ty, meant, raw, secret } = missing.clone();
            V1Argument::Gap { ty, meant, raw, secret }
        }
        Argument::Record(entries) => {
            let entry = |(name, part): &(String, Argument)| (name.clone(), save_argument(part));
            V1Argument::Record(entries.iter().map(entry).collect())
        }
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
        V1Argument::Gap { ty, meant, raw, secret } => {
            Argument::Missing(MissingArgument { ty, meant, raw, secret })
        }
        V1Argument::Record(entries) => {
            let entry = |(name, part)| Some((name, restore_argument(part)?));
            Argument::Record(entries.into_iter().map(entry).collect::<Option<_>>()?)
        }
        V1Argument::List(items) => {
            Argument::List(items.into_iter().map(restore_argument).collect::<Option<_>>()?)
        }
    })
}

fn save_outcome(outcome: &StepOutcome) -> V1Ended {
    V1Ended {
        status: outcome.status,
        brief: outcome.brief.clone(),
        detail: outcome.detail.clone(),
        diff: outcome.diff.clone(),
        value: outcome.value.clone(),
        label: outcome.label.clone(),
        links: outcome.links.clone(),
        reverts: outcome.reverts,
        changed_files: outcome.changed_files.clone(),
        no_undo: outcome.no_undo.clone(),
        state: outcome.state.map(|(app, version)| (app.0, version)),
    }
}

fn restore_outcome(saved: V1Ended) -> StepOutcome {
    StepOutcome {
        status: saved.status,
        brief: saved.brief,
        detail: saved.detail,
        diff: saved.diff,
        value: saved.value,
        label: saved.label,
        fault: None,
        content: Vec::new(),
        complete: false,
        told: false,
        links: saved.links,
        reverts: saved.reverts,
        state: saved.state.map(|(app, version)| (Incarnation(app), version)),
        // The answer that asked has told of it.
        job: None,
        ended_jobs: Vec::new(),
        changed_files: saved.changed_files,
        no_undo: saved.no_undo,
    }
}

#[cfg(test)]
mod tests;
