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
    pub session: SessionKey,
    /// The level of detail in this answer; `None` for the window's own.
    pub lod: Option<Lod>,
    /// The token budget in this answer; `None` for the window's own.
    pub budget: Option<u32>,
}

/// A window that was requested for an answer.
#[derive(Debug)]
pub struct RequestedWindow {
    pub session: SessionKey,
    /// The requested level of detail.
    pub lod: Lod,
    /// The requested budget, in tokens.
    pub budget: u32,
    /// The full token count, if the level of detail was lowered to fit.
    pub lowered: Option<u64>,
    /// True when that isn't the detail that the window had for good when it was asked for.
    pub peek: bool,
    /// The status of the window so far.
    pub state: WindowStatus,
    /// The window's number when it was asked for: a window that is opened after it was closed has
    /// another.
    pub number: u64,
    /// The projection that the app sent for this answer.
    pub held: Option<HeldProjection>,
    /// True once it was asked for a second time, since its app died with the first request.
    pub again: bool,
    /// True when the app was told which version is held: it may reply that nothing changed.
    pub known: bool,
    /// True when it was asked for before it was known that it will be shown.
    pub ahead: bool,
    /// The process and the newest version that it was known to have when it was asked: what it
    /// sends is no older, unless its version went back.
    pub least: Option<(Incarnation, u64)>,
    /// True once it was requested again because the app's version went back.
    pub again_after_going_back: bool,
    /// True once it was requested again because another reader was shown a newer version meanwhile.
    pub again_after_overtaking: bool,
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
            again_after_going_back: false,
            again_after_overtaking: false,
        }
    }
}

/// The content that an answer shows for a window.
#[derive(Debug, Clone, PartialEq)]
pub enum WindowStatus {
    /// Nothing yet; the app was asked for it.
    Waiting,
    /// The current window.
    Fresh,
    /// An earlier state of the window, because its app didn't answer in time.
    Busy,
    /// An error, because there is no window to show.
    Broken(Box<Fault>),
}

/// The subject of an answer.
#[derive(Debug)]
pub enum AnswerKind {
    /// `open`.
    Open {
        /// The app's notes on what it restored or lost.
        notes: Vec<ForeignText>,
    },
    /// `view` of the complete workspace: in full, or what changed since an epoch.
    Workspace(Option<u64>),
    /// The workspace as the context of a prompt, with what the reader hasn't seen.
    Injection {
        /// True when all of it is shown again.
        reset: bool,
    },
    /// `view` of one window: in full, or what changed since an epoch.
    Window(Option<u64>),
    Run(Box<Run>),
    /// Open questions, and why a request was refused for their sake.
    Questions {
        /// Their numbers.
        numbers: Vec<u64>,
        /// The reason of the refusal.
        refusal: Option<Box<Fault>>,
        /// The number of the request's steps that wait for the answer.
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
