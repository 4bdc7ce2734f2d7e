//! A step of a run: a checked call, its arguments, and how it ended.

use pipemux_proto::job::JobState;
use pipemux_proto::projection::{Arg, Args, CodePieceOf};
use pipemux_proto::prototype::{Field, Param, Prototype, Risk, Type};
use pipemux_proto::refs::{Local, Ref};
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Blob, Fault, Incarnation, Value};

use crate::foreign::{Done, ForeignText, LinkSlot, Piece, bounds, quote};
use crate::keys::SessionKey;
use crate::limits::{OUTCOME_LINKS_MAX, ROUND_DIFF_MAX};
use crate::runs::protocol::StepJob;
use crate::workspaces::anchors::StateVersion;

/// A call that was checked against its prototype.
#[derive(Debug, Clone)]
pub struct Step {
    /// The session whose action it is.
    pub session: SessionKey,
    /// The sessions that have the same action, when the call didn't name one: the reader is asked
    /// before anything runs.
    pub candidates: Vec<SessionKey>,
    /// The action's prototype.
    pub prototype: Prototype,
    /// The arguments by name.
    pub args: Vec<(String, Argument)>,
    /// The call as it was written, on one line; the link for a click.
    pub call: String,
    /// What the step was made from.
    pub origin: StepOrigin,
    /// True for a call inside another call's arguments.
    pub nested: bool,
}

impl Step {
    /// True for a step that changes nothing, and whose result is the whole answer.
    pub fn is_query(&self) -> bool {
        self.prototype.risk == Risk::Query
    }

    /// Fills in the arguments that a form gave. What was meant by one of another type is what it asked about.
    pub fn complete(&mut self, fields: &[Field], given: Vec<(String, Argument)>) {
        for (name, argument) in &mut self.args {
            let field = fields.iter().find(|field| field.name == *name);
            if let (Argument::Missing(_), Some(default)) =
                (&argument, field.and_then(|f| f.default.as_ref()))
            {
                *argument = Argument::Fixed(Arg::from(default.clone()));
            }
        }
        for (name, value) in given {
            match self.args.iter_mut().find(|(other, _)| *other == name) {
                Some((_, argument)) => *argument = value,
                None => self.args.push((name, value)),
            }
        }
    }

    /// True when an argument was given that is never printed, logged or kept.
    pub fn holds_secret(&self) -> bool {
        self.args.iter().any(|(name, argument)| {
            !matches!(argument, Argument::Missing(_)) && self.is_secret(name)
        })
    }

    /// True for a parameter whose argument, or a part of it, is never printed, logged or kept.
    pub fn is_secret(&self, name: &str) -> bool {
        let params = &self.prototype.params;
        params.iter().any(|param| param.name == name && param.holds_secret())
    }

    /// True for a query, and for a call inside another call's arguments that changes nothing.
    pub fn only_reads(&self) -> bool {
        self.is_query() || (self.nested && self.prototype.risk.only_looks())
    }
}

/// What a step was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOrigin {
    /// A call that the reader wrote.
    Call,
    /// A link, which binds its arguments.
    Link,
}

/// An argument before the step runs.
#[derive(Debug, Clone)]
pub enum Argument {
    /// A value that needs nothing more.
    Fixed(Arg),
    /// A ref, resolved when the step runs.
    Ref {
        /// The ref as it was written.
        of: Ref,
        /// The parameter's type: decides whether the object or its value is passed.
        ty: Type,
    },
    /// A name that an app binds, resolved when the step runs.
    Name {
        /// The session that binds the name.
        session: SessionKey,
        /// The name.
        name: String,
        /// The parameter's type.
        ty: Type,
    },
    /// The result of an earlier step, by its index.
    Result(usize),
    /// Not given, or given as another type: the reader is asked before anything runs.
    Missing(MissingArgument),
    /// A list.
    List(Vec<Argument>),
    /// A record that isn't only values.
    Record(Vec<(String, Argument)>),
}

impl Argument {
    /// Returns the value that was probably meant in place of one of another type, where the reader can't be asked for
    /// it: inside a list, or with `nested` anywhere.
    pub fn first_meant(&self, nested: bool) -> Option<&Value> {
        match self {
            Self::Missing(missing) if nested => missing.meant.as_ref(),
            _ => self.parts().find_map(|part| part.first_meant(true)),
        }
    }

    /// Returns the first ref in it.
    pub fn first_ref(&self) -> Option<&Ref> {
        match self {
            Argument::Ref { of, .. } => Some(of),
            _ => self.parts().find_map(Argument::first_ref),
        }
    }

    /// Iterates over the parts of a list or a record.
    pub fn parts(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        match self {
            Self::List(items) => Box::new(items.iter()),
            Self::Record(entries) => Box::new(entries.iter().map(|(_, part)| part)),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Returns the value of an argument that is nothing but one, also of a list or a record of values.
    pub fn to_value(&self) -> Option<Value> {
        Some(match self {
            Self::Fixed(Arg::Value(blob)) => blob.to_value().ok()?,
            Self::List(items) => {
                Value::List(items.iter().map(Self::to_value).collect::<Option<_>>()?)
            }
            Self::Record(entries) => {
                let entry = |(name, part): &(String, Self)| Some((name.clone(), part.to_value()?));
                Value::Map(entries.iter().map(entry).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    /// Returns the ref among the argument's parts that names an object by its id or its key.
    pub fn ref_to(&self, id: u64, key: &str) -> Option<&Ref> {
        match self {
            Argument::Ref { of, .. } => match &of.local {
                Local::Id(other) => (*other == id).then_some(of),
                Local::Key(other) => (other == key).then_some(of),
            },
            _ => self.parts().find_map(|part| part.ref_to(id, key)),
        }
    }
}

/// An argument that was not given, or not as its parameter's type.
#[derive(Debug, Clone)]
pub struct MissingArgument {
    /// The parameter's type.
    pub ty: Type,
    /// The value that was probably meant, when one was given as another type.
    pub meant: Option<Value>,
    /// True when a quoted text is taken as it is written.
    pub raw: bool,
    /// True when the value is never printed, logged or kept.
    pub secret: bool,
}

impl MissingArgument {
    /// An argument of a parameter that wasn't given.
    pub fn of(param: &Param, raw: bool) -> Self {
        Self { ty: param.ty.clone(), meant: None, raw, secret: param.holds_secret() }
    }
}

/// True for the value `true`.
pub fn is_true(arg: &Arg) -> bool {
    matches!(arg, Arg::Value(blob) if blob.to_value() == Ok(Value::Bool(true)))
}

/// Arguments that need nothing more.
pub fn fixed(args: &Args) -> Vec<(String, Argument)> {
    args.iter().map(|(name, arg)| (name.clone(), Argument::Fixed(arg.clone()))).collect()
}

/// What the lines around exact text take, in tokens.
const FENCE_TOKENS: u64 = 4;

/// What a ref takes beside its label, in tokens.
const REF_TOKENS: u64 = 6;
/// What the words about a thing's value take, in tokens.
const MEDIA_TOKENS: u64 = 12;

/// What is said of a step that wasn't run.
const NOT_RUN: &str = "not run";

/// How a step ended.
#[derive(Debug, Clone)]
pub struct StepOutcome {
    /// How it ended, in one word.
    pub status: StepStatus,
    /// What it did, in one line.
    pub brief: ForeignText,
    /// Further lines, shown with the step.
    pub detail: Option<ForeignText>,
    /// What it changed in files.
    pub diff: Option<ForeignText>,
    /// What it shows besides.
    pub content: Vec<Piece>,
    /// True when what it shows tells all that it changed.
    pub complete: bool,
    /// True once an answer told of it.
    pub told: bool,
    /// The result.
    pub value: Option<Blob>,
    /// What the result is called when another app gets it.
    pub label: Option<ForeignText>,
    /// Why it failed.
    pub fault: Option<Fault>,
    /// The app's suggestions for the next action.
    pub links: Vec<LinkSlot>,
    /// True when the step took earlier changes back.
    pub reverts: bool,
    /// The state that the step left, when it took effect.
    pub state: Option<StateVersion>,
    /// The job that it began.
    pub job: Option<StepJob>,
    /// The keys of its session's jobs whose ends it tells.
    pub ended_jobs: Vec<String>,
    /// The files that it changed, as absolute paths.
    pub changed_files: Vec<String>,
    /// Why nothing takes it back; empty if there is nothing to take back.
    pub no_undo: Option<ForeignText>,
}

impl StepOutcome {
    /// A step that took effect in a process.
    pub fn done(done: Done, app: Option<Incarnation>) -> Self {
        Self {
            status: StepStatus::Done,
            brief: done.brief,
            detail: done.detail,
            diff: done.diff.map(|diff| bounds::clip(diff, ROUND_DIFF_MAX)),
            content: done.content,
            complete: done.complete,
            told: false,
            value: done.value,
            label: done.label,
            fault: None,
            links: done.links.into_iter().take(OUTCOME_LINKS_MAX).collect(),
            reverts: done.reverts,
            state: app.map(|app| (app, done.version)),
            job: None,
            ended_jobs: done.ended_jobs,
            changed_files: done.changed_files,
            no_undo: done.no_undo,
        }
    }

    /// Returns about how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Code(code) => code.text.len(),
            Piece::Object(object) => object.label.len(),
            Piece::Link(link) => link.label.len(),
            Piece::Embed(_) => 0,
        };
        let value = self.value.as_ref().map_or(0, |value| value.0.len());
        let texts = [&self.detail, &self.diff].into_iter().flatten().map(ForeignText::len);
        self.content.iter().map(piece).sum::<usize>() + value + texts.sum::<usize>()
    }

    /// Estimates the tokens of what it shows besides its brief.
    pub fn content_tokens(&self) -> u64 {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.borrow().tokens(),
            Piece::Code(code) => code.text.borrow().tokens() + FENCE_TOKENS,
            Piece::Object(object) => {
                let media = if object.media.is_some() { MEDIA_TOKENS } else { 0 };
                object.label.borrow().tokens() + REF_TOKENS + media
            }
            Piece::Link(link) => link.label.borrow().tokens() + REF_TOKENS,
            Piece::Embed(_) => 0,
        };
        self.content.iter().map(text).sum()
    }

    /// Says in the step's line what became of the job that it began. Returns the line.
    pub fn tell_job(&mut self) -> &str {
        if let Some(job) = &self.job {
            let space = if self.brief.is_empty() { "" } else { " · " };
            let words = match (job.state, job.waited) {
                (JobState::Running, false) => format!("{space}job {}", job.name),
                _ => format!("{space}{}", job.words),
            };
            bounds::append(&mut self.brief, &words);
        }
        quote::in_sentence(&self.brief)
    }

    /// Shows what the job that it began has printed.
    pub(super) fn show_job_output(&mut self) {
        let Some(job) = self.job.as_mut().filter(|job| !job.output.is_empty()) else { return };
        let text = std::mem::take(&mut job.output);
        self.content.push(Piece::Code(CodePieceOf { text, ..CodePieceOf::default() }));
    }

    /// Returns the number of the job whose end the step's line tells.
    pub fn told_job(&self) -> Option<u64> {
        self.job.as_ref().filter(|job| job.state != JobState::Running).map(|job| job.number)
    }

    /// Returns true for a step that began a job which still runs.
    pub fn is_started(&self) -> bool {
        self.status == StepStatus::Done
            && self.job.as_ref().is_some_and(|job| job.state == JobState::Running)
    }

    /// A step that was left out.
    pub fn skipped(brief: &str) -> Self {
        Self {
            status: StepStatus::Skipped,
            brief: brief.into(),
            detail: None,
            diff: None,
            content: Vec::new(),
            complete: false,
            told: false,
            value: None,
            label: None,
            fault: None,
            links: Vec::new(),
            reverts: false,
            state: None,
            job: None,
            ended_jobs: Vec::new(),
            changed_files: Vec::new(),
            no_undo: None,
        }
    }

    /// A step that wasn't run because a call inside its arguments, or a later step, ended before it. What was told of
    /// that one is enough.
    pub fn unreached() -> Self {
        Self { told: true, ..Self::skipped(NOT_RUN) }
    }

    /// True for a step that wasn't run.
    pub fn is_unreached(&self) -> bool {
        self.status == StepStatus::Skipped && self.brief == NOT_RUN
    }

    /// A step that failed, or whose outcome is unknown.
    pub fn failed(status: StepStatus, fault: Fault) -> Self {
        Self { status, fault: Some(fault.clone()), ..Self::skipped(&fault.message) }
    }
}
