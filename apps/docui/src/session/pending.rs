//! Requests that wait for work on other threads, and the actions of which they are.

use std::time::{Duration, Instant};

use pipemux_proto::deadline;
use pipemux_proto::{Envelope, Fault};

use crate::blocking::{Finish, Started};
use crate::limits::DEADLINE_MARGIN;
use crate::reply::Reply;
use crate::served::Served;

/// A request whose work is under way.
pub(crate) struct Parked {
    pub(super) request: Envelope,
    /// When the request is answered at the latest.
    pub(super) deadline: Instant,
    /// True once it was answered, or nobody waits for the answer any more.
    pub(super) answered: bool,
    pub(super) work: ParkedWork,
}

pub(super) enum ParkedWork {
    Invoke(Started<dyn Served, Reply>, PendingInvoke),
    Open(Started<dyn Served, Vec<String>>),
}

/// The result of work, ready for the app to take in.
pub(super) enum Finished {
    Invoke(Finish<dyn Served, Reply>, PendingInvoke),
    Open(Finish<dyn Served, Vec<String>>),
}

impl ParkedWork {
    pub(super) fn overdue(&self) -> Fault {
        match self {
            Self::Invoke(started, _) => started.overdue(),
            Self::Open(started) => started.overdue(),
        }
    }

    pub(super) fn call_off(&self) -> bool {
        match self {
            Self::Invoke(started, _) => started.call_off(),
            Self::Open(started) => started.call_off(),
        }
    }
}

/// Returns when a request received at this time must be answered at the latest, so that its
/// requester still gets the answer; `None` if it has no deadline.
pub(super) fn answer_by(request: &Envelope, received: Instant) -> Option<Instant> {
    let whole = Duration::from_millis(u64::from(request.deadline_ms));
    let patience = whole.saturating_sub(DEADLINE_MARGIN.min(whole / 4));
    (!whole.is_zero()).then(|| deadline::behind(received, patience))
}

impl Parked {
    /// `received` is when the request came.
    pub(super) fn new(
        request: &Envelope,
        received: Instant,
        blocking_deadline: Duration,
        work: ParkedWork,
    ) -> Self {
        let latest = deadline::behind(received, blocking_deadline);
        Self {
            request: *request,
            deadline: answer_by(request, received).map_or(latest, |given| given.min(latest)),
            answered: false,
            work,
        }
    }

    /// Returns the result if there is one within this time. It is returned once.
    pub(super) fn wait(&mut self, patience: Duration) -> Option<Finished> {
        match &mut self.work {
            ParkedWork::Invoke(started, pending) => {
                let finish = started.task.wait(patience)?;
                Some(Finished::Invoke(finish, pending.clone()))
            }
            ParkedWork::Open(started) => started.task.wait(patience).map(Finished::Open),
        }
    }

    /// True when the request was answered, and the answer said that nothing is done.
    pub(super) fn is_called_off(&self) -> bool {
        self.answered && self.work.call_off()
    }
}

/// An action that was begun: what is needed to make its outcome.
#[derive(Clone)]
pub(super) struct PendingInvoke {
    pub(super) name: &'static str,
    /// True when it leaves the state as it is.
    pub(super) query: bool,
    /// True when it only shows what it would do.
    pub(super) preview: bool,
    pub(super) run_id: String,
    /// The objects in the arguments, with their revs before the action.
    pub(super) before: Vec<(String, Option<u64>)>,
}
