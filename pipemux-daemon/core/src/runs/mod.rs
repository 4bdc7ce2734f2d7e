//! Run: calls are checked as a whole, then carried out step by step.

pub mod arguments;
mod ask;
pub mod coerce;
pub mod execute;
mod history_round;
pub mod lookup;
pub mod missing_argument;
pub mod open_questions;
pub mod plan;
pub mod question;
pub mod rebase;
pub mod ref_errors;
mod replay;
mod resolve_target;
pub mod run_followup;
pub mod saved_question;

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::app::{Choice, Invoke};
use pipemux_proto::projection::{Arg, Args, Copied, LinkSlot};
use pipemux_proto::prototype::{Prototype, Type};
use pipemux_proto::refs::Ref;
use pipemux_proto::report::Status;
use pipemux_proto::{Blob, Fault, Incarnation, Value};
use rustc_hash::FxHashMap as Table;

use crate::keys::{SessionKey, WorkspaceKey};

/// One step, checked.
#[derive(Debug, Clone)]
pub struct Step {
    /// Whose action.
    pub session: SessionKey,
    /// Sessions that have the same action, when it was not said whose is meant: asked for before
    /// anything runs.
    pub candidates: Vec<SessionKey>,
    /// Its prototype.
    pub prototype: Prototype,
    /// Its arguments by name.
    pub args: Vec<(String, Argument)>,
    /// The call as it was written, on one line.
    pub call: String,
    /// True for a call inside another's arguments.
    pub nested: bool,
}

/// An argument before the step runs.
#[derive(Debug, Clone)]
pub enum Argument {
    /// Settled.
    Fixed(Arg),
    /// A ref, resolved when the step runs.
    Ref {
        /// What was written.
        of: Ref,
        /// The parameter's type: decides whether the thing or its value is passed.
        ty: Type,
    },
    /// A name that an app binds.
    Name {
        /// Whose.
        session: SessionKey,
        /// Which.
        name: String,
        /// The parameter's type.
        ty: Type,
    },
    /// The result of an earlier step.
    Result(usize),
    /// Not given, or given as another type: asked for before anything runs.
    Missing(MissingArgument),
    /// Several.
    List(Vec<Argument>),
}

/// What is missing of an argument.
#[derive(Debug, Clone)]
pub struct MissingArgument {
    /// The parameter's type.
    pub ty: Type,
    /// What was probably meant, when it was given as another type.
    pub meant: Option<Value>,
}

/// A run on its way. It outlives the request that began it when it asks.
#[derive(Debug, Clone)]
pub struct Run {
    /// Where.
    pub workspace: WorkspaceKey,
    /// Whose.
    pub reader: String,
    /// The same for all its steps.
    pub run_id: String,
    /// What is to be done.
    pub steps: Vec<Step>,
    /// The one that is next or running.
    pub next: usize,
    /// How each that was begun ended.
    pub done: Vec<StepOutcome>,
    /// Versions that the reader had seen when the run began: numbers mean these.
    pub seen: BTreeMap<SessionKey, (Incarnation, u64)>,
    /// The version that each session has if nobody else changes it.
    pub expected: BTreeMap<SessionKey, u64>,
    /// When the reader was last shown an id, when the run began: refs mean that.
    pub known: Rc<Table<u64, u64>>,
    /// The epoch that the whole call is pinned to.
    pub at: Option<u64>,
    /// What was looked up for the step that is next: where things are, and values read.
    pub looked_up: LookedUp,
    /// The request that is with an app, as it was sent.
    pub sent: Option<Invoke>,
    /// The answer that the next step goes on with.
    pub answered: Option<(Invoke, Blob, Choice)>,
    /// The caller's working directory.
    pub cwd: String,
    /// Sessions that a step was sent to, in order.
    pub touched: Vec<SessionKey>,
    /// True while every change since the reader looked is this run's own.
    pub only_own_changes: bool,
    /// The question that was asked, by number.
    pub question: Option<u64>,
    /// Questions that were answered so far.
    pub answers: u32,
    /// True once nobody waits for it any more: the next step doesn't begin.
    pub cancelled: bool,
    /// Steps that were sent before, and what came of that isn't known: sent again since their app died
    /// with them, or by `answer go`.
    pub again: Vec<usize>,
    /// Steps that were sent once more against the present state, since the workspace asks for that,
    /// and how they had been refused.
    pub rebased: Vec<(usize, Fault)>,
    /// What its reader has seen, while a step that is rebased takes what there is.
    pub saved_baseline: Option<execute::SeenBaseline>,
    /// Set when a step was begun whose end isn't known.
    pub unknown: bool,
}

/// How a step ended.
#[derive(Debug, Clone)]
pub struct StepOutcome {
    /// How.
    pub status: Status,
    /// One line.
    pub brief: String,
    /// More.
    pub detail: Option<String>,
    /// Its result.
    pub value: Option<Blob>,
    /// What it is called elsewhere.
    pub label: Option<String>,
    /// Why it failed.
    pub fault: Option<Fault>,
    /// What one would do next.
    pub links: Vec<LinkSlot>,
}

impl StepOutcome {
    /// A step that was left out.
    pub fn skipped(brief: &str) -> Self {
        Self {
            status: Status::Skipped,
            brief: brief.into(),
            detail: None,
            value: None,
            label: None,
            fault: None,
            links: Vec::new(),
        }
    }

    /// A step that failed, or whose end isn't known.
    pub fn failed(status: Status, fault: Fault) -> Self {
        Self {
            status,
            brief: fault.message.clone(),
            detail: None,
            value: None,
            label: None,
            fault: Some(fault),
            links: Vec::new(),
        }
    }
}

/// What was looked up outside of the step's own app before it can run.
#[derive(Debug, Clone, Default)]
pub struct LookedUp {
    /// Things that their windows don't show, and that were found.
    pub found: Vec<(SessionKey, String)>,
    /// Sessions whose windows were asked for anew, after earlier steps of the run.
    pub windows: Vec<SessionKey>,
    /// Values read from things, by session and key.
    pub copies: BTreeMap<(SessionKey, String), Copied>,
    /// What is being looked up.
    pub asking: Option<Lookup>,
}

/// Something that is being looked up.
#[derive(Debug, Clone)]
pub enum Lookup {
    /// Where a thing is that its window doesn't show.
    Place {
        /// Whose.
        session: SessionKey,
        /// Which.
        key: String,
        /// How the reader calls it: `obj:23`.
        shown: String,
    },
    /// What names stand for once the run itself has acted on their session.
    Window {
        /// Whose.
        session: SessionKey,
    },
    /// The value of a thing.
    Value {
        /// Whose.
        session: SessionKey,
        /// Which.
        key: String,
        /// The meaning that the reader saw.
        rev: u64,
        /// What it is called.
        label: String,
        /// How the reader calls it.
        shown: String,
        /// What has come so far.
        data: Vec<u8>,
    },
}

/// Arguments that need nothing more.
pub fn fixed(args: &Args) -> Vec<(String, Argument)> {
    args.iter().map(|(name, arg)| (name.clone(), Argument::Fixed(arg.clone()))).collect()
}
