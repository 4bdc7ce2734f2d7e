//! Going on after a part of the saved state was lost: no number goes back, and readers are told.

use crate::Core;
use crate::event::Now;
use crate::persist::loss::Loss;

impl Core {
    /// The daemon that wrote the records was killed: its apps died with it, whatever they had not saved.
    /// Readers are told when each is back. To be called before any event.
    pub fn earlier_daemon_was_lost(&mut self) {
        self.processes.note_daemon_crash();
    }

    /// Passes over all numbers that the lost records may have reserved. To be called before any event.
    pub fn lost(&mut self, loss: Loss, now: Now) {
        let leap = loss.leap();
        self.turn.numbers.skip(leap);
        self.workspaces.skip_lost_numbers(leap);
        if let Some(text) = &loss.told {
            for workspace in self.workspaces.values_mut() {
                workspace.notify(text.clone(), now);
            }
        }
        self.persist.losses.add(loss, now.unix_ms);
    }
}
