//! Whether a change is made or taken back, whatever came after it.
//!
//! A change that isn't the latest one of its files is taken back by a new change that says of which it is, and made
//! again by another one. Whichever of them is the latest tells where the change stands.

use crate::model::buffer::Buffer;
use crate::model::history::{Change, EditKind, FileChange};
use crate::model::splice::Splice;

use super::ChangeLog;

/// Where a change stands.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'l> {
    /// The change that made it so: the change itself, or the latest one that takes it back or makes it again.
    pub by: &'l Change,
    /// True if the change is made, false if it is taken back.
    pub is_made: bool,
    /// True if `by` is among the changes that are done, false if it was undone.
    is_done: bool,
}

impl Standing<'_> {
    /// Returns what takes the change back if it is made, or makes it again if it is taken back: from the text that the
    /// file had then, which may have changed since.
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

    /// Returns the change with an id, also one that takes another back.
    pub fn change(&self, id: &str) -> Option<&Change> {
        let all = self.done.iter().chain(&self.undone).chain(&self.set_aside);
        all.rev().find(|change| change.id == id)
    }

    /// Returns the ways from the present text of a file to the one that a change of it began with: back through what was done,
    /// and forward through what can be redone.
    pub fn texts_of(&self, file: &FileChange) -> TextTrail {
        let of = |change: &Change| {
            change
                .files
                .iter()
                .filter(|one| one.path == file.path && !one.link)
                .cloned()
                .collect::<Vec<_>>()
        };
        // A change has a file once, or a link that goes and a file that comes.
        let back = self.done.iter().rev().flat_map(of).map(|change| change.inverse());
        let forward = self.undone.iter().rev().flat_map(of);
        TextTrail { back: until(back, file.before), forward: until(forward, file.before) }
    }
}

/// The ways from the present text of a file to those that it had.
#[derive(Debug)]
pub struct TextTrail {
    back: Vec<FileChange>,
    forward: Vec<FileChange>,
}

impl TextTrail {
    /// Returns the text with a digest, if a way leads there, and the splices of each step on that way.
    pub fn find(&self, now: &Buffer, digest: Option<u64>) -> Option<(Buffer, Vec<Vec<Splice>>)> {
        [&self.back, &self.forward].into_iter().find_map(|way| {
            let (mut text, mut taken) = (now.clone(), Vec::new());
            let mut steps = way.iter();
            while Some(text.digest()) != digest {
                let step = steps.next()?;
                let fits = step.before == Some(text.digest()) && step.after.is_some();
                if !fits || !step.splices.iter().all(|splice| text.accepts(splice)) {
                    return None;
                }
                text.apply(&step.splices);
                taken.push(step.splices.clone());
            }
            Some((text, taken))
        })
    }
}

/// Takes changes up to the one that leads to a text.
fn until(changes: impl Iterator<Item = FileChange>, digest: Option<u64>) -> Vec<FileChange> {
    let mut taken = Vec::new();
    for change in changes {
        let is_there = change.after == digest;
        taken.push(change);
        if is_there {
            break;
        }
    }
    taken
}
