//! How long the daemon runs: requests to stop, the latest time to exit, and what the service
//! manager is told about both.

use std::task::{Poll, Waker};

use pipemux_core::Event;
use sd_notify::NotifyState;

use super::turn::Turn;
use crate::daemon_log::log;
use crate::limits::FLUSH_MS;
use crate::service_manager::{self, Watchdog};
use crate::shutdown::{Shutdown, ShutdownRequests, Urgency};

/// The daemon's end, from the request to stop to the exit.
pub(super) struct Lifecycle {
    requests: ShutdownRequests,
    watchdog: Option<Watchdog>,
    /// True once the service manager, if there is one, knows that the daemon stops.
    stop_notified: bool,
    /// The latest time to exit, in milliseconds; set once the core has ended everything, or when
    /// an immediate stop is asked for.
    exit_at: Option<u64>,
}

impl Lifecycle {
    /// Requests to stop wake `waker`.
    pub(super) fn new(shutdown: &Shutdown, waker: Waker) -> Self {
        let requests = shutdown.requests(waker);
        // The first turn polls the requests, which registers the waker.
        requests.wake();
        Self { requests, watchdog: Watchdog::from_env(), stop_notified: false, exit_at: None }
    }

    /// Takes the requests to stop: an orderly stop is the core's to carry out.
    pub(super) fn poll(&mut self, turn: &mut Turn) {
        while let Poll::Ready(urgency) = self.requests.poll_next() {
            match urgency {
                Urgency::Orderly => turn.push(Event::Stop),
                Urgency::Immediate => {
                    log("a second signal arrived: stopping at once");
                    self.exit_at = Some(turn.now_ms());
                }
            }
        }
    }

    /// Notes that the core has ended everything; last answers are still written for a while.
    pub(super) fn core_stopped(&mut self, now_ms: u64) {
        self.exit_at.get_or_insert(now_ms + FLUSH_MS);
    }

    /// True once nothing is left to do but to write last answers.
    pub(super) fn is_exiting(&self) -> bool {
        self.exit_at.is_some()
    }

    /// True when the daemon exits now; `is_written` tells whether clients have all their answers.
    pub(super) fn may_exit(&self, now_ms: u64, is_written: impl FnOnce() -> bool) -> bool {
        self.exit_at.is_some_and(|latest| latest <= now_ms || is_written())
    }

    /// Tells the service manager, once a turn, that the daemon's loop runs, and when it stops.
    pub(super) fn notify_service_manager(&mut self, is_stopping: bool, now_ms: u64) {
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.notify(now_ms);
        }
        if is_stopping && !std::mem::replace(&mut self.stop_notified, true) {
            service_manager::notify(NotifyState::Stopping);
        }
    }

    pub(super) fn next_timeout(&self) -> Option<u64> {
        let watchdog = self.watchdog.as_ref().map(Watchdog::next_timeout);
        self.exit_at.into_iter().chain(watchdog).min()
    }
}
