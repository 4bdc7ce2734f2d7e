//! The state that the driver's components share during a turn.

use std::collections::VecDeque;

use pipemux_core::{Event, Now};

/// The time at which the turn began, and what the core is handed next.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) now: Now,
    pub(super) events: VecDeque<Event>,
}

impl Turn {
    /// Has an event handed to the core once the component has returned.
    pub(super) fn push(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// The time in milliseconds since the start.
    pub(super) fn now_ms(&self) -> u64 {
        self.now.mono_ms
    }
}
