//! What was done in a workspace: rounds of action and result.

use std::collections::VecDeque;

use crate::keys::SessionKey;
use crate::limits::HISTORY_MAX;
use crate::persist::records::SavedRound;

/// The rounds of a workspace, oldest first.
#[derive(Debug, Default)]
pub struct History {
    /// The newest ones: at most [`HISTORY_MAX`].
    pub rounds: VecDeque<SavedRound>,
    /// The number of rounds so far.
    pub count: u64,
}

impl History {
    /// Returns the newest rounds of a session, oldest first.
    pub fn of_session(&self, session: &SessionKey, most: usize) -> Vec<&SavedRound> {
        let name = session.to_string();
        let of_it = self.rounds.iter().rev().filter(|round| round.sessions.contains(&name));
        let mut rounds: Vec<&SavedRound> = of_it.take(most).collect();
        rounds.reverse();
        rounds
    }

    /// Adds a round; the oldest makes room.
    pub fn add(&mut self, round: SavedRound) {
        self.count = self.count.max(round.number);
        self.rounds.push_back(round);
        if self.rounds.len() > HISTORY_MAX {
            self.rounds.pop_front();
        }
    }
}
