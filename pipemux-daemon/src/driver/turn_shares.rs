//! How much each connection may read and write in a turn, so that large transfers don't delay
//! small frames.

use std::collections::VecDeque;

use crate::limits::{BULK_ONLY_TURN, BULKY_TURN, READ_TURN, SMALL_FRAME_QUIET_MS, WRITE_TURN};
use crate::ready_queue::Peer;

/// Divides turns between connections. Those with large transfers are served after all others.
#[derive(Debug, Default)]
pub(super) struct TurnShares {
    bulky: VecDeque<Peer>,
    /// Until when large transfers take small shares, because small frames arrived.
    small_frames_until: u64,
    /// How many large transfers share the rest of the turn; 0 outside of that part.
    sharers: usize,
}

impl TurnShares {
    /// Notes that a small frame arrived: for a while large transfers take small shares.
    pub(super) fn record_small_frame(&mut self, now_ms: u64) {
        self.small_frames_until = now_ms + SMALL_FRAME_QUIET_MS;
    }

    /// Has a peer with a large transfer served after all others.
    pub(super) fn postpone(&mut self, peer: Peer) {
        self.bulky.push_back(peer);
    }

    /// Begins the part of the turn that belongs to large transfers; returns whether there are any.
    pub(super) fn begin_bulky(&mut self) -> bool {
        self.sharers = self.bulky.len();
        self.sharers > 0
    }

    pub(super) fn next_bulky(&mut self) -> Option<Peer> {
        self.bulky.pop_front()
    }

    pub(super) fn end_bulky(&mut self) {
        self.sharers = 0;
    }

    /// How many bytes one connection may read now.
    pub(super) fn read(&self, now_ms: u64) -> usize {
        self.share(READ_TURN, now_ms)
    }

    /// How many bytes may be written to one connection now.
    pub(super) fn write(&self, now_ms: u64) -> usize {
        self.share(WRITE_TURN, now_ms)
    }

    fn share(&self, usual: usize, now_ms: u64) -> usize {
        match self.sharers {
            // No small frames: large transfers divide the whole turn, at least as usual for each.
            sharers if now_ms >= self.small_frames_until => {
                (BULK_ONLY_TURN / sharers.max(1)).max(usual)
            }
            0 => usual,
            _ => BULKY_TURN,
        }
    }
}
