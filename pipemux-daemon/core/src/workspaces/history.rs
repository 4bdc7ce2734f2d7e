//! What was done in a workspace: rounds of action and result.

use std::collections::{BTreeSet, VecDeque};

use crate::keys::SessionKey;
use crate::limits::{ROUND_DIFFS_MAX, UNDO_ACTIONS_MAX};
use crate::persist::records::{Record, SavedRound};
use crate::workspaces::unfinished::{add_progress, cut_off};

/// The states of a round's undos, by their indices.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct UndosNow {
    /// The undos that took effect and are still in effect.
    pub taken_back: Vec<u32>,
    /// The undos whose change was made again, or may have been.
    pub made_again: Vec<u32>,
    /// The undo whose outcome isn't known yet.
    pub unsure: Vec<u32>,
}

/// The rounds of a workspace, oldest first.
#[derive(Debug, Default)]
pub struct History {
    /// The newest ones: at most [`HISTORY_MAX`](crate::limits::HISTORY_MAX), or as many as the user
    /// set.
    pub rounds: VecDeque<SavedRound>,
    /// The number of rounds so far.
    pub count: u64,
    /// The names of actions that undo steps of rounds.
    undo_actions: BTreeSet<String>,
    /// Rounds of runs that an earlier daemon was carrying out when it crashed, in the order in
    /// which the runs began.
    unfinished: Vec<SavedRound>,
}

impl History {
    /// Returns the records that restore the rounds, oldest first.
    pub fn snapshot(&self, workspace: &str) -> impl Iterator<Item = Record> {
        self.rounds.iter().map(move |round| Record::Round {
            workspace: workspace.to_owned(),
            round: round.clone(),
        })
    }

    /// Returns the newest rounds of a session, oldest first.
    pub fn of_session(&self, session: &SessionKey, most: usize) -> Vec<&SavedRound> {
        let name = session.to_string();
        let of_it = self.rounds.iter().rev().filter(|round| round.sessions.contains(&name));
        let mut rounds: Vec<&SavedRound> = of_it.take(most).collect();
        rounds.reverse();
        rounds
    }

    /// Returns the newest round that changed something in a session and ended at an epoch or later.
    pub fn newest_change_since(&self, session: &SessionKey, epoch: u64) -> Option<&SavedRound> {
        let name = session.to_string();
        let later = self.rounds.iter().rev().take_while(|round| round.epoch >= Some(epoch));
        let changed = |round: &&SavedRound| !round.undo.is_empty() || !round.lasting.is_empty();
        later.filter(changed).find(|round| round.sessions.contains(&name))
    }

    /// Returns the round of a number, unless it made room for newer ones.
    pub fn round(&self, number: u64) -> Option<&SavedRound> {
        self.rounds.iter().rev().find(|round| round.number == number)
    }

    /// Returns the rounds of a reader that can still be undone at least in part, newest first.
    /// Rounds that are themselves undos are left out: they are undone only on request.
    pub fn changes(&self, reader: &str) -> impl Iterator<Item = &SavedRound> {
        let may_be_undone = move |round: &&SavedRound| {
            let left = round.undo.iter().any(|undo| !undo.undone);
            round.reader == reader && round.undoes.is_none() && left
        };
        self.rounds.iter().rev().filter(may_be_undone)
    }

    /// Records which undos of a round have run. If the round is now fully undone and was itself an
    /// undo of another round, that one counts as done again.
    pub fn mark_undone(&mut self, number: u64, now: &UndosNow) {
        let Some(round) = self.rounds.iter_mut().rev().find(|round| round.number == number) else {
            return;
        };
        for (step, undo) in (0..).zip(&mut round.undo) {
            undo.undone |= now.taken_back.contains(&step);
            undo.undone &= !now.made_again.contains(&step);
            undo.unsure = now.unsure.contains(&step);
        }
        let Some(made_again) = round.undoes.filter(|_| round.is_undone()) else { return };
        let made_again = self.rounds.iter_mut().rev().find(|round| round.number == made_again);
        let steps = made_again.into_iter().flat_map(|round| &mut round.undo);
        steps.for_each(|undo| undo.undone = false);
    }

    /// Returns true if an action of this name may take a step of a round back.
    pub fn may_undo(&self, action: &str) -> bool {
        self.undo_actions.contains(action)
    }

    /// Restores the progress of a request's run under an earlier daemon; `None` if the run had
    /// ended or is reported elsewhere.
    pub fn restore_unfinished(&mut self, reader: &str, run_id: &str, round: Option<SavedRound>) {
        let is_it = |one: &SavedRound| one.reader == reader && one.run_id == run_id;
        let known = self.unfinished.iter().position(is_it);
        match (known.and_then(|at| self.unfinished.get_mut(at)), round) {
            (Some(known), Some(round)) => *known = round,
            (None, Some(round)) => self.unfinished.push(round),
            (_, None) => self.unfinished.retain(|one| !is_it(one)),
        }
    }

    /// Restores what an unfinished run has done since.
    pub fn restore_progress(&mut self, reader: &str, run_id: &str, later: SavedRound) {
        let is_it = |one: &&mut SavedRound| one.reader == reader && one.run_id == run_id;
        if let Some(known) = self.unfinished.iter_mut().find(is_it) {
            add_progress(known, later);
        }
    }

    /// Adds what was under way when an earlier daemon was lost, and returns the numbers of these
    /// rounds.
    pub fn end_unfinished(&mut self, most: usize) -> Vec<u64> {
        let lost = std::mem::take(&mut self.unfinished);
        let added = lost.into_iter().map(|round| {
            let number = self.count + 1;
            self.add(cut_off(round, number), most);
            number
        });
        added.collect()
    }

    /// Adds a round; the oldest makes room beyond so many.
    pub fn add(&mut self, round: SavedRound, most: usize) {
        self.count = self.count.max(round.number);
        for undo in &round.undo {
            if self.undo_actions.len() < UNDO_ACTIONS_MAX && !self.may_undo(&undo.action) {
                self.undo_actions.insert(undo.action.clone());
            }
        }
        self.rounds.push_back(round);
        let beyond = self.rounds.len().saturating_sub(most);
        self.rounds.drain(..beyond);
        let last = self.rounds.len().checked_sub(ROUND_DIFFS_MAX + 1);
        if let Some(round) = last.and_then(|last| self.rounds.get_mut(last)) {
            round.diff = None;
        }
    }
}
