//! The requests that wait for a reply: a slot table. A slot is reused, each time under another id.

use std::task::Waker;

use pipemux_proto::app::Progress;
use tokio::time::Instant;

use crate::incoming::RawReply;

/// The reason why a request has no reply.
#[derive(Debug, Clone)]
pub(crate) enum LostRequest {
    /// The connection ended before the whole request was sent.
    NotSent(String),
    /// The connection ended or the deadline passed, and the daemon may have the request.
    MaybeDelivered(String),
}

/// The requests whose reply hasn't arrived, or hasn't been taken yet.
#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    slots: Vec<Slot>,
    free: Vec<usize>,
}

#[derive(Debug)]
struct Slot {
    /// Counts the requests that used this slot, so that a late reply doesn't match a newer request.
    generation: u64,
    request: Option<PendingRequest>,
}

/// A pending request.
#[derive(Debug)]
pub(super) struct PendingRequest {
    /// The position in the stream of written bytes at which the request ends.
    pub(super) ends_at: u64,
    pub(super) deadline: Instant,
    pub(super) waker: Option<Waker>,
    /// The newest progress of the request that its caller hasn't been told yet.
    pub(super) progress: Option<Progress>,
    pub(super) outcome: Option<Result<RawReply, LostRequest>>,
}

const SLOT_BITS: u32 = 12;
/// Most requests that can be pending at once.
pub(crate) const PENDING_MAX: usize = 1 << SLOT_BITS;

impl PendingRequests {
    /// Adds a request and returns its id. It counts as not written until its end is known.
    pub(super) fn insert(&mut self, deadline: Instant) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, request: None });
            self.slots.len() - 1
        });
        let slot = &mut self.slots[index];
        slot.generation += 1;
        slot.request = Some(PendingRequest {
            ends_at: u64::MAX,
            deadline,
            waker: None,
            progress: None,
            outcome: None,
        });
        id_of(index, slot)
    }

    /// Returns the request with that id, if it is still in the table.
    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut PendingRequest> {
        let slot = self.slots.get_mut(slot_index(id))?;
        if slot.generation == id >> SLOT_BITS { slot.request.as_mut() } else { None }
    }

    /// Removes a request and frees its slot.
    pub(super) fn remove(&mut self, id: u64) -> Option<PendingRequest> {
        self.get_mut(id)?;
        self.free.push(slot_index(id));
        self.slots[slot_index(id)].request.take()
    }

    /// Returns the number of requests in the table.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Sets a request's outcome and returns the waker of its caller. The outcome of a cancelled
    /// request is dropped.
    pub(super) fn finish(
        &mut self,
        id: u64,
        outcome: Result<RawReply, LostRequest>,
    ) -> Option<Waker> {
        let request = self.get_mut(id)?;
        request.outcome = Some(outcome);
        request.waker.take()
    }

    /// Keeps how far a request is, and returns the waker of its caller.
    pub(super) fn report(&mut self, id: u64, progress: Progress) -> Option<Waker> {
        let request = self.get_mut(id)?;
        request.progress = Some(progress);
        request.waker.take()
    }

    /// Returns the ids of the requests without an outcome that match.
    pub(super) fn unanswered_where(&self, matches: impl Fn(&PendingRequest) -> bool) -> Vec<u64> {
        let matches = |request: &PendingRequest| request.outcome.is_none() && matches(request);
        let matches = |slot: &Slot| slot.request.as_ref().is_some_and(&matches);
        let found = self.slots.iter().enumerate().filter(|(_, slot)| matches(slot));
        found.map(|(index, slot)| id_of(index, slot)).collect()
    }

    /// Returns the first deadline of the requests without an outcome.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let requests = self.slots.iter().filter_map(|slot| slot.request.as_ref());
        let unanswered = requests.filter(|request| request.outcome.is_none());
        unanswered.map(|request| request.deadline).min()
    }
}

fn slot_index(id: u64) -> usize {
    (id as usize) & (PENDING_MAX - 1)
}

fn id_of(index: usize, slot: &Slot) -> u64 {
    slot.generation << SLOT_BITS | index as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_reply_matches_no_newer_request() {
        let mut pending = PendingRequests::default();
        let deadline = Instant::now();
        let first = pending.insert(deadline);
        assert!(pending.remove(first).is_some());
        let second = pending.insert(deadline);
        assert_ne!(first, second);
        assert!(pending.finish(first, Err(LostRequest::NotSent("late".into()))).is_none());
        assert_eq!((pending.unanswered_where(|_| true), pending.len()), (vec![second], 1));
    }

    #[test]
    fn slot_is_freed_once_and_only_by_removal() {
        let mut pending = PendingRequests::default();
        let id = pending.insert(Instant::now());
        pending.finish(id, Err(LostRequest::NotSent("why".into())));
        assert_eq!((pending.unanswered_where(|_| true), pending.next_deadline()), (vec![], None));
        assert_eq!(pending.len(), 1);
        assert!(pending.remove(id).is_some_and(|request| request.outcome.is_some()));
        assert!(pending.remove(id).is_none());
        assert_eq!((pending.len(), pending.free.len()), (0, 1));
    }
}
