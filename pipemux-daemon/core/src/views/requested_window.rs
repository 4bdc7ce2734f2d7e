//! Windows that an answer is made of, while their projections are on their way.

use pipemux_proto::projection::Lod;
use pipemux_proto::{Fault, Incarnation};

use crate::foreign::ForeignText;
use crate::keys::SessionKey;
use crate::runs::Run;
use crate::workspaces::HeldProjection;

/// A window that an answer is to show, with the detail that the request asks for.
#[derive(Debug, Clone)]
pub struct WantedWindow {
    /// The session that the window shows.
    pub session: SessionKey,
    /// The level of detail in this answer; none for the window's own.
    pub lod: Option<Lod>,
    /// The budget in this answer; none for the window's own.
    pub budget: Option<u32>,
}

/// A window on its way into an answer.
#[derive(Debug)]
pub struct RequestedWindow {
    /// The session that it shows.
    pub session: SessionKey,
    /// The level of detail that was asked for.
    pub lod: Lod,
    /// The budget in tokens that was asked for.
    pub budget: u32,
    /// The tokens that it would take, once the level of detail was lowered to fit.
    pub lowered: Option<u64>,
    /// True when that isn't the detail that the window had for good when it was asked for.
    pub peek: bool,
    /// What is known of it so far.
    pub state: WindowStatus,
    /// The window's number when it was asked for: a window that is opened after it was closed has another.
    pub number: u64,
    /// What its app sent for this answer.
    pub held: Option<HeldProjection>,
    /// True once it was asked for a second time, since its app died with the first request.
    pub again: bool,
    /// True when the app was told which version is held: it may reply that nothing changed.
    pub known: bool,
    /// True when it was asked for before it was known that it will be shown.
    pub ahead: bool,
    /// The process and the newest version that it was known to have when it was asked: what it sends is no older, unless
    /// its version went back.
    pub least: Option<(Incarnation, u64)>,
    /// True once it was asked for again since its version went back.
    pub asked_again: bool,
}

impl RequestedWindow {
    /// Makes a window that was asked for just now.
    pub fn new(session: SessionKey, number: u64, lod: Lod, budget: u32) -> Self {
        Self {
            session,
            lod,
            budget,
            lowered: None,
            peek: false,
            state: WindowStatus::Waiting,
            number,
            held: None,
            again: false,
            known: false,
            ahead: false,
            least: None,
            asked_again: false,
        }
    }
}

/// What an answer shows of a window.
#[derive(Debug, Clone, PartialEq)]
pub enum WindowStatus {
    /// Nothing yet: its app was asked.
    Waiting,
    /// The window as it is now.
    Fresh,
    /// The window as it was: its app didn't answer in time.
    Busy,
    /// An error: there is no window to show.
    Broken(Box<Fault>),
}

/// What an answer is about.
#[derive(Debug)]
pub enum AnswerKind {
    /// `open`.
    Open {
        /// What the app restored or lost, in its own words.
        notes: Vec<ForeignText>,
    },
    /// `view` of the complete workspace: in full, or what changed since an epoch.
    Workspace(Option<u64>),
    /// The workspace as the context of a prompt: what the reader hasn't seen.
    Injection {
        /// True when all of it is shown again.
        reset: bool,
    },
    /// `view` of one window: in full, or what changed since an epoch.
    Window(Option<u64>),
    /// A run.
    Run(Box<Run>),
    /// Open questions, and why a request was refused for their sake.
    Questions {
        /// Their numbers.
        numbers: Vec<u64>,
        /// The reason of the refusal.
        refusal: Option<Box<Fault>>,
        /// How many steps of the request wait for the answer.
        waiting: usize,
    },
}

impl AnswerKind {
    /// Returns the epoch since which changes are shown.
    pub fn since(&self) -> Option<u64> {
        match self {
            AnswerKind::Workspace(since) | AnswerKind::Window(since) => *since,
            AnswerKind::Open { .. }
            | AnswerKind::Injection { .. }
            | AnswerKind::Run(_)
            | AnswerKind::Questions { .. } => None,
        }
    }
}
