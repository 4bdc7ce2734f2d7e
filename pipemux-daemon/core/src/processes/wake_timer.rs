//! The timer for the next session that is to be woken.

use crate::timers::Timer;
use crate::turn::Turn;

/// When the next sleeping session is to be woken, on the monotonic clock, if one is.
#[derive(Debug, Default)]
pub(super) struct WakeTimer(Option<u64>);

impl WakeTimer {
    pub fn set(&mut self, turn: &mut Turn, at: Option<u64>) {
        if let Some(before) = std::mem::replace(&mut self.0, at) {
            turn.clear_timer(before, Timer::WakeSleepers);
        }
        if let Some(at) = at {
            turn.set_timer(at, Timer::WakeSleepers);
        }
    }
}
