//! Runs driven by hand, with sessions and a workspace made by hand.

mod aliases;
mod followup;
mod lookups;
mod questions;
mod rebase;
mod steps;

use std::collections::BTreeMap;
use std::rc::Rc;

use bytes::Bytes;
use pipemux_proto::app::Invoke;
use pipemux_proto::projection::{Arg, ObjectSlot, Projection};
use pipemux_proto::prototype::{Param, Prototype, Risk, Type};
use pipemux_proto::{Fault, Incarnation, Value, encode};

use crate::event::Now;
use crate::foreign::{Done, Outcome, quote};
use crate::keys::SessionKey;
use crate::manifest::Manifest;
use crate::processes::Sessions;
use crate::processes::reply::AppReply;
use crate::processes::session::{ProcessState, Session};
use crate::runs::caller::Caller;
use crate::runs::open_runs::OpenRuns;
use crate::runs::*;
use crate::scripts::step::MissingArgument;
use crate::workspaces::anchors::{AnchorQuery, Appearance};
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{FirstNumbers, Window, Workspace};

const WORKSPACE: &str = "w";
const READER: &str = "ada";

fn key(addr: &str) -> SessionKey {
    SessionKey { workspace: Some(WORKSPACE.into()), addr: addr.parse().unwrap() }
}

/// The workspace and sessions that a run reads.
struct Scene {
    workspace: Workspace,
    sessions: Sessions,
    open: OpenRuns,
}

impl Scene {
    /// A workspace with the windows of two ready sessions, `notes/main` as incarnation 1 and
    /// `todo/main` as 2.
    fn new() -> Self {
        let mut workspace =
            Workspace::new(WORKSPACE.into(), WORKSPACE.into(), FirstNumbers { id: 1, epoch: 5 });
        workspace.enter_reader(READER, Now::default());
        let mut sessions = BTreeMap::new();
        for (number, addr) in [(1, "notes/main"), (2, "todo/main")] {
            let manifest = Manifest::new(key(addr).addr.provider, "app");
            let mut session = Session::new(key(addr), Rc::new(manifest));
            session.process = ProcessState::Ready { app: Incarnation(number) };
            sessions.insert(key(addr), session);
            workspace.windows.push(Window::new(number, key(addr), 0));
        }
        Self { workspace, sessions, open: OpenRuns::default() }
    }

    fn session(&mut self, addr: &str) -> &mut Session {
        self.sessions.get_mut(&key(addr)).unwrap()
    }

    /// Shows an object in a session's window from the next epoch on. Returns its id.
    fn show(&mut self, addr: &str, object: &str, rev: u64) -> u64 {
        self.workspace.epoch += 1;
        let index = self.workspace.anchors.session_index(&key(addr));
        let (ty, label, open) = (Some("note"), "a note".into(), &[] as &[String]);
        let appearance = Appearance { rev, ty, label, open, ..Appearance::default() };
        let epoch = self.workspace.epoch;
        let query = AnchorQuery::Object(object);
        let minted = self.workspace.anchors.mint(index, query, appearance, epoch);
        self.workspace.anchors.end_render_pass(index);
        minted.id
    }

    /// Holds a window of a session that binds a name to an object.
    fn bind(&mut self, addr: &str, name: &str, object: &str) {
        let slot = ObjectSlot {
            key: object.into(),
            rev: 1,
            ty: None,
            label: object.into(),
            ..ObjectSlot::default()
        };
        let names = [(name.to_owned(), slot)].into();
        let body = Bytes::from(encode(&Projection { names, ..Projection::default() }).unwrap());
        let window = self.workspace.window_mut(&key(addr)).unwrap();
        let (held, _) = window.whole("agent");
        let app = Incarnation(window.number);
        window.hold(held, app, Rc::new(RawProjection::read(&body).unwrap()));
    }

    /// A run whose reader has seen every object as it is now, and version 10 of each session.
    fn run(&self, steps: Vec<Step>) -> Run {
        let mut run = Run::new(Caller::new(WORKSPACE.into(), READER, "run-1"), steps);
        run.take_baseline(&self.workspace, None);
        for (session, app) in [("notes/main", 1), ("todo/main", 2)] {
            run.baseline.now.versions.insert(key(session), (Incarnation(app), 10));
            run.own_changes.expected.insert(key(session), 10);
        }
        let ids = 1..self.workspace.anchors.next_id();
        Rc::make_mut(&mut run.baseline.now.refs.known)
            .extend(ids.map(|id| (id, self.workspace.epoch)));
        run
    }

    /// Has the reader see an object as it is now.
    fn see(&mut self, id: u64) {
        let epoch = self.workspace.epoch;
        let reader = self.workspace.reader_mut(READER).unwrap();
        Rc::make_mut(&mut reader.known).insert(id, epoch);
    }

    fn context(&self) -> RunContext<'_> {
        RunContext { workspace: &self.workspace, sessions: &self.sessions }
    }

    fn resume(&self, run: &mut Run, input: RunInput) -> RunOutput {
        run.resume(input, &self.context())
    }

    fn begin(&self, run: &mut Run) -> RunOutput {
        self.resume(run, RunInput::Begin)
    }

    /// Resumes a run with the app's reply to its step.
    fn reply(&self, run: &mut Run, outcome: Outcome) -> RunOutput {
        self.resume(run, RunInput::Replied(StepReply::Outcome(outcome)))
    }

    /// Resumes a run whose step is with an app that dies.
    fn die(&self, run: &mut Run) -> RunOutput {
        self.resume(run, RunInput::Replied(lost(true, true, "notes/main died")))
    }
}

fn lost(delivered: bool, died: bool, why: &str) -> StepReply {
    StepReply::Lost { delivered, died, why: why.into(), hints: Vec::new() }
}

/// A step without parameters or arguments.
fn step(addr: &str, action: &str) -> Step {
    Step {
        session: key(addr),
        candidates: Vec::new(),
        prototype: Prototype {
            name: action.into(),
            doc: String::new(),
            params: Vec::new(),
            returns: Some(Type::Any),
            risk: Risk::Safe,
            idempotent: false,
            prominence: Default::default(),
            ..Prototype::default()
        },
        args: Vec::new(),
        call: format!("{action}()"),
        origin: StepOrigin::Call,
        nested: false,
    }
}

impl Step {
    /// The same step with one more argument.
    fn with(mut self, name: &str, ty: Type, argument: Argument) -> Self {
        self.prototype.params.push(Param {
            name: name.into(),
            ty,
            default: None,
            ..Param::default()
        });
        self.args.push((name.into(), argument));
        self
    }

    /// The same step with an object as argument `at`.
    fn at(self, id: u64) -> Self {
        let of = pipemux_proto::refs::Ref::obj(id);
        let ty = Type::Anchor(None);
        self.with("at", ty.clone(), Argument::Ref { of, ty })
    }

    fn idempotent(mut self) -> Self {
        self.prototype.idempotent = true;
        self
    }

    fn nested(self) -> Self {
        Self { nested: true, ..self }
    }
}

fn done(version: u64) -> Outcome {
    Outcome::Done(Done {
        brief: "ok".into(),
        detail: None,
        value: Some(Value::from("result").to_blob()),
        label: None,
        version,
        links: Vec::new(),
        reverts: false,
        numbers: Vec::new(),
        ..Done::default()
    })
}

fn refused() -> Outcome {
    Outcome::Failed(Fault::refused("not today"))
}

/// The session and the request of a step to be sent.
#[track_caller]
fn sent(output: RunOutput) -> (SessionKey, Invoke) {
    match output {
        RunOutput::Invoke { session, invoke, .. } => (session, (*invoke).clone()),
        other => panic!("expected a step to be sent, got {other:?}"),
    }
}

#[track_caller]
fn assert_finished(output: RunOutput) {
    assert!(matches!(output, RunOutput::Finished), "{output:?}");
}

/// The outcomes of a run's steps: `done`, or the status and the message.
fn outcomes(run: &Run) -> Vec<String> {
    let text = |outcome: &StepOutcome| match &outcome.fault {
        Some(fault) => format!("{:?}: {}", outcome.status, fault.message),
        None => format!("{:?}: {}", outcome.status, quote::in_sentence(&outcome.brief)),
    };
    run.progress.done.iter().map(text).collect()
}

fn reply<T: serde::Serialize>(body: &T) -> AppReply {
    AppReply::Reply(encode(body).unwrap().into())
}

fn fixed_arg(value: impl Into<Value>) -> Argument {
    Argument::Fixed(Arg::from(value.into()))
}
