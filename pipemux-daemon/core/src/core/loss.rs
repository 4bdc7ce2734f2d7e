//! Recovers from the loss of a part of the saved state: no number is used again, and readers are
//! told.

use crate::Core;
use crate::event::Now;
use crate::persist::loss::{HighWater, Loss};
use crate::workspaces::FirstNumbers;

impl Core {
    /// Notes that the daemon that wrote the records was killed. Its apps were killed with it and
    /// lost unsaved state; readers are told when each app is running again. Must be called before
    /// any event is handled.
    pub fn earlier_daemon_was_lost(&mut self) {
        self.processes.note_daemon_crash();
    }

    /// Skips all numbers that lost records may have reserved. To be called before any event.
    pub fn lost(&mut self, loss: Loss, now: Now) {
        let leap = loss.leap();
        if let Some(HighWater { numbers, ids, epochs }) = loss.high_water {
            self.turn.numbers.rise(numbers);
            self.workspaces.rise(FirstNumbers { id: ids, epoch: epochs });
        }
        self.turn.numbers.skip(leap);
        self.workspaces.skip_lost_numbers(leap);
        if let Some(to) = loss.acts_to {
            self.clients.lost_acts(to);
        }
        if let Some(text) = &loss.told {
            for workspace in self.workspaces.values_mut() {
                workspace.notify(text.clone(), now);
            }
        }
        self.persist.losses.add(loss, now.unix_ms);
    }
}
