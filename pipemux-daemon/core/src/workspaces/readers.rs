//! The readers of a workspace, and the names of those that made room for others.
//!
//! **Invariant: who comes back after it made room counts as one that may have been shown something
//! before.**

use std::collections::BTreeMap;

use pipemux_proto::Fault;

use crate::event::Now;
use crate::keys::{ReaderId, SessionKey};
use crate::limits::READERS_MAX;
use crate::workspaces::forgotten_readers::ForgottenReaders;
use crate::workspaces::{Reader, SeenWindow};

/// At most [`READERS_MAX`] readers, by name.
#[derive(Debug, Default)]
pub struct Readers {
    by_id: BTreeMap<ReaderId, Reader>,
    forgotten: ForgottenReaders,
}

impl Readers {
    /// Notes that a reader asks for something. A new reader is told of notices after
    /// `newest_notice` only, and takes the place of the one that has been quiet for the longest
    /// time when there are too many: the name of that one is returned.
    pub(super) fn enter(&mut self, name: &str, now: Now, newest_notice: u64) -> Option<ReaderId> {
        if let Some(reader) = self.by_id.get_mut(name) {
            reader.heard = now;
            return None;
        }
        let mut evicted = None;
        if self.by_id.len() >= READERS_MAX {
            let oldest = self.by_id.iter().min_by_key(|(_, reader)| reader.heard);
            evicted = oldest.map(|(id, _)| id.clone());
            if let Some(oldest) = &evicted {
                self.by_id.remove(oldest);
                self.forgotten.add(oldest.clone());
            }
        }
        // A new reader isn't told what happened before it came, unless there was nobody to be told.
        let noticed = if self.by_id.is_empty() { 0 } else { newest_notice };
        let reader = Reader::new(noticed, now, self.forgotten.contains(name));
        self.by_id.insert(name.into(), reader);
        evicted
    }

    /// Makes every new reader count as one that may have been shown something before.
    pub(super) fn distrust_new(&mut self) {
        self.forgotten.add_all();
    }

    /// Checks that a request may speak as a reader, and keeps the first token of that reader.
    ///
    /// # Errors
    /// The reader has another token.
    pub fn check_token(&mut self, name: &str, token: &str) -> Result<(), Fault> {
        self.by_id.get_mut(name).map_or(Ok(()), |reader| reader.token.check(name, token))
    }

    pub fn get(&self, name: &str) -> Option<&Reader> {
        self.by_id.get(name)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut Reader> {
        self.by_id.get_mut(name)
    }

    /// Returns the shared form of a reader's name.
    pub fn id(&self, name: &str) -> ReaderId {
        self.by_id.get_key_value(name).map_or_else(|| name.into(), |(id, _)| id.clone())
    }

    /// Iterates over the names of all readers.
    pub fn ids(&self) -> impl Iterator<Item = &ReaderId> {
        self.by_id.keys()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Reader> {
        self.by_id.values()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Reader> {
        self.by_id.values_mut()
    }

    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns when a reader last asked for something.
    pub(super) fn last_heard(&self) -> Option<Now> {
        self.by_id.values().map(|reader| reader.heard).max()
    }

    /// Returns what a reader has seen of a window.
    pub fn seen(&self, reader: &str, session: &SessionKey) -> Option<&SeenWindow> {
        self.by_id.get(reader)?.seen.get(session)
    }

    /// Notes how steps ended whose answers a reader didn't hear.
    pub fn add_unheard(&mut self, reader: &str, lines: Vec<String>) {
        if let Some(reader) = self.by_id.get_mut(reader) {
            reader.add_unheard(lines);
        }
    }

    /// Returns how steps ended whose answers a reader didn't hear, until it has heard that.
    pub fn unheard(&self, reader: &str) -> Vec<String> {
        self.by_id.get(reader).map_or(Vec::new(), Reader::unheard)
    }

    /// Forgets what all readers have seen: windows are shown to them whole.
    pub(super) fn forget_seen(&mut self) {
        for reader in self.by_id.values_mut() {
            reader.seen.clear();
            reader.context = "".into();
        }
    }
}
