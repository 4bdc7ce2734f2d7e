//! The opens of a session. They are repeated at each start of its process, and kept on disk.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::keys::{RequestId, SessionKey};
use crate::persist::records::{Record, SavedOpen};
use crate::turn::Turn;

/// The opens of one session, oldest first.
#[derive(Debug, Default)]
pub struct Opens {
    list: Vec<SavedOpen>,
    /// The client request that made the newest open, while a start that includes this open is in
    /// progress.
    request: Option<RequestId>,
    /// Fingerprint of the opens that were last written to disk; 0 if none were.
    written: u64,
}

impl Opens {
    /// The opens of a session of an earlier daemon, as they were saved.
    pub fn restored(list: Vec<SavedOpen>) -> Self {
        let written = fingerprint(&list);
        Self { list, request: None, written }
    }

    pub fn as_slice(&self) -> &[SavedOpen] {
        &self.list
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The open with which the next process is started.
    pub fn newest(&self) -> Option<&SavedOpen> {
        self.list.last()
    }

    /// Adds what the next process is opened with.
    pub fn push(&mut self, open: SavedOpen) {
        self.list.push(open);
    }

    /// Adds an open of a running process unless the list has an equal one. Beyond `max`, the oldest
    /// open is removed; the paths that it was granted are kept.
    pub fn add(&mut self, open: SavedOpen, max: usize) {
        if !self.list.contains(&open) {
            self.list.push(open);
        }
        if self.list.len() > max {
            let oldest = self.list.remove(0);
            self.grant(oldest.granted);
        }
    }

    /// Takes back the newest one, which was refused or whose process failed.
    pub fn drop_newest(&mut self) {
        self.list.pop();
    }

    /// The number of paths granted besides those that opens name; `None` without an open.
    pub fn granted(&self) -> Option<usize> {
        self.list.first().map(|first| first.granted.len())
    }

    /// Grants paths besides those that opens name.
    pub fn grant(&mut self, paths: Vec<String>) {
        if let Some(first) = self.list.first_mut() {
            first.granted.extend(paths);
        }
    }

    /// Forgets all: the session was ended by its user.
    pub fn forget(&mut self) {
        self.list.clear();
        // Its end is written down: what it is opened with next has to be, too, even if that is the
        // same.
        self.written = 0;
    }

    /// Has a client's request wait for the newest open at the session's next start.
    pub fn begin_request(&mut self, request: RequestId) {
        self.request = Some(request);
    }

    /// Cancels the wait of this request for the start; another request keeps waiting.
    pub fn cancel_request(&mut self, request: RequestId) {
        self.request.take_if(|waiting| *waiting == request);
    }

    /// Takes the request that is to be answered now.
    pub fn take_request(&mut self) -> Option<RequestId> {
        self.request.take()
    }

    /// True while a client's request waits for the session's start.
    pub fn has_request(&self) -> bool {
        self.request.is_some()
    }

    /// Writes the opens of the session `key` to disk, unless they already are.
    pub fn save(&mut self, turn: &mut Turn, key: &SessionKey) {
        let fingerprint = fingerprint(&self.list);
        if std::mem::replace(&mut self.written, fingerprint) != fingerprint {
            turn.persist(self.record(key));
        }
    }

    pub fn record(&self, key: &SessionKey) -> Record {
        Record::Session {
            workspace: key.workspace.as_deref().map(Into::into),
            session: key.to_string(),
            opens: self.list.clone(),
        }
    }
}

/// A number that differs between different opens; never 0.
fn fingerprint(opens: &[SavedOpen]) -> u64 {
    let mut hasher = DefaultHasher::new();
    opens.hash(&mut hasher);
    hasher.finish().max(1)
}
