//! Determines whether a change is currently applied or reverted, including changes undone out of
//! order.
//!
//! A change that isn't the latest one of its files is taken back by a new change that says of which
//! it is, and made again by another one. Whichever of them is the latest tells where the change
//! stands.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use crate::model::buffer::Buffer;
use crate::model::history::{Change, EditKind, FileChange};
use crate::model::splice::Splice;

use super::ChangeLog;

/// The current state of a change: made or taken back.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'l> {
    /// The change that made it so: the change itself, or the latest one that takes it back or makes
    /// it again.
    pub by: &'l Change,
    /// True if the change is made, false if it is taken back.
    pub is_made: bool,
    /// True if `by` is among the changes that are done, false if it was undone.
    is_done: bool,
}

impl Standing<'_> {
    /// Returns what takes the change back if it is made, or makes it again if it is taken back:
    /// from the text that the file had then, which may have changed since.
    pub fn turned(&self) -> Vec<FileChange> {
        match self.is_done {
            true => self.by.files.iter().map(FileChange::inverse).collect(),
            false => self.by.files.clone(),
        }
    }
}

impl ChangeLog {
    /// Returns where a change stands; `None` if it isn't known any more.
    pub fn standing(&self, id: &str) -> Option<Standing<'_>> {
        let is_of = |change: &&Change| change.origin() == id;
        if let Some(by) = self.done.iter().rev().find(is_of) {
            let is_made = by.of.is_none() || by.kind != EditKind::Undo;
            return Some(Standing { by, is_made, is_done: true });
        }
        let by = self.undone.iter().rev().chain(self.set_aside.iter().rev()).find(is_of)?;
        let is_made = by.of.is_some() && by.kind == EditKind::Undo;
        Some(Standing { by, is_made, is_done: false })
    }

    /// True for a change of which no later one says that it is taken back. Those that take others
    /// back aren't made: they are undone by redoing the other.
    pub fn is_made(&self, change: &Change) -> bool {
        let standing = self.standing(change.origin());
        standing.is_some_and(|standing| standing.is_made && standing.by.id == change.id)
    }

    /// Returns the change with an id, also one that takes another back.
    pub fn change(&self, id: &str) -> Option<&Change> {
        let all = self.done.iter().chain(&self.undone).chain(&self.set_aside);
        all.rev().find(|change| change.id == id)
    }

    /// True if a file had a text before or after one of the known changes.
    pub fn knows(&self, path: &Path, text: Option<u64>) -> bool {
        let all = self.done.iter().chain(&self.undone).chain(&self.set_aside);
        let mut files = all.flat_map(|change| &change.files);
        files.any(|file| file.path == path && (file.before == text || file.after == text))
    }

    /// Returns what leads from one known text of a file to another: its changes that are done,
    /// undone or set aside, each in both directions.
    pub fn texts_of(&self, file: &FileChange) -> TextTrail {
        let all = self.done.iter().rev().chain(self.undone.iter().rev()).chain(&self.set_aside);
        let of = |change: &FileChange| change.path == file.path && !change.link;
        let changes = all.flat_map(|change| &change.files).filter(|change| of(change));
        TextTrail { ways: changes.flat_map(|change| [change.inverse(), change.clone()]).collect() }
    }
}

/// The changes that lead from one text of a file to another.
#[derive(Debug)]
pub struct TextTrail {
    ways: Vec<FileChange>,
}

impl TextTrail {
    /// Adds what others did to the file while no process of the session ran.
    pub fn add(&mut self, change: &FileChange) {
        self.ways.extend([change.inverse(), change.clone()]);
    }

    /// Returns the text with a digest, if a way leads there, and the splices of each step on that
    /// way.
    pub fn find(&self, now: &Buffer, digest: Option<u64>) -> Option<(Buffer, Vec<Vec<Splice>>)> {
        let (mut text, mut taken) = (now.clone(), Vec::new());
        for step in self.shortest(now.digest(), digest?)? {
            if !step.splices.iter().all(|splice| text.accepts(splice)) {
                return None;
            }
            text.apply(&step.splices);
            taken.push(step.splices.clone());
        }
        (Some(text.digest()) == digest).then_some((text, taken))
    }

    /// Returns the fewest steps that lead from one text to another, by their digests.
    fn shortest(&self, from: u64, to: u64) -> Option<Vec<&FileChange>> {
        let mut by_start: HashMap<u64, Vec<&FileChange>> = HashMap::new();
        for way in &self.ways {
            if let (Some(before), Some(_)) = (way.before, way.after) {
                by_start.entry(before).or_default().push(way);
            }
        }
        let mut came_by: HashMap<u64, Option<&FileChange>> = HashMap::from([(from, None)]);
        let mut next = VecDeque::from([from]);
        while let Some(at) = next.pop_front().filter(|at| *at != to) {
            for way in by_start.get(&at).into_iter().flatten() {
                let Some(after) = way.after.filter(|after| !came_by.contains_key(after)) else {
                    continue;
                };
                came_by.insert(after, Some(way));
                next.push_back(after);
            }
        }
        let (mut at, mut steps) = (to, Vec::new());
        while let Some(way) = *came_by.get(&at)? {
            steps.push(way);
            at = way.before?;
        }
        steps.reverse();
        Some(steps)
    }
}
