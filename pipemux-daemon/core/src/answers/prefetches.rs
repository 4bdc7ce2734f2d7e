//! The windows that were requested ahead of time.

use pipemux_proto::projection::Lod;
use rustc_hash::FxHashMap;

use crate::keys::{RequestId, SessionKey};
use crate::processes::Processes;
use crate::processes::reply::ReplyTo;
use crate::processes::requests::{drop_request, redirect};
use crate::turn::Turn;

/// A window that was requested before it is certain that an answer will show it.
#[derive(Debug)]
pub(super) struct Prefetch {
    /// The number of the request to the app.
    pub app_request: u64,
    pub session: SessionKey,
    /// The number by which the app identifies the window.
    pub window: u64,
    /// The level of detail and the budget in tokens.
    pub detail: (Lod, u32),
    /// True when the app was told which version the daemon holds.
    pub known: bool,
}

/// The windows that were requested ahead of time, at most one for each request of a client.
#[derive(Debug, Default)]
pub(crate) struct Prefetches {
    by_request: FxHashMap<RequestId, Prefetch>,
}

impl Prefetches {
    /// Returns the number of a request's prefetched window, for the window of the session that is
    /// about to be made.
    pub(crate) fn window_number(&self, id: RequestId, session: &SessionKey) -> Option<u64> {
        let prefetch = self.by_request.get(&id);
        prefetch.filter(|found| found.session == *session).map(|found| found.window)
    }

    /// Forgets the prefetch of a request, to which its app has replied.
    pub(crate) fn forget(&mut self, id: RequestId) {
        self.by_request.remove(&id);
    }

    /// Cancels the prefetch of a request, if there is one.
    pub(crate) fn cancel(&mut self, id: RequestId, processes: &mut Processes, turn: &mut Turn) {
        if let Some(prefetch) = self.by_request.remove(&id) {
            drop_request(turn, processes, prefetch.app_request);
        }
    }

    pub(super) fn insert(&mut self, id: RequestId, prefetch: Prefetch) {
        self.by_request.insert(id, prefetch);
    }

    /// Uses a prefetch as the request that an answer waits for until `deadline`, if it is for
    /// exactly this window. Returns whether the app was told which version the daemon holds, or
    /// `None` if the window wasn't prefetched.
    pub(super) fn take(
        &mut self,
        id: RequestId,
        (session, window, detail): (&SessionKey, u64, (Lod, u32)),
        deadline: u64,
        processes: &mut Processes,
        turn: &mut Turn,
    ) -> Option<bool> {
        let prefetch = self.by_request.get(&id)?;
        let same =
            prefetch.session == *session && (prefetch.window, prefetch.detail) == (window, detail);
        let to = ReplyTo::Project(id);
        if !same || !redirect(turn, processes, prefetch.app_request, to, deadline) {
            return None;
        }
        self.by_request.remove(&id).map(|prefetch| prefetch.known)
    }
}
