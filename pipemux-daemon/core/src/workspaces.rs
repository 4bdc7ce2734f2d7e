//! What each workspace keeps: windows, the anchor table, epochs, readers, notices and history.
//!
//! | module | keeps |
//! |---|---|
//! | [`workspace`] | one workspace: what it is made of, and its epoch |
//! | [`window`], `window_options` | a view of one session; what a reader sets of it |
//! | [`windows`], `dirty_windows` | the windows of a workspace, with their indexes; which of them changed since readers saw them |
//! | [`raw_projection`], `held_projection` | what an app sent of a window, and what it was asked for |
//! | `held_embeds` | the same for windows of other sessions that embed it |
//! | `reader_contents`, `per_reader` | what a window shows to each reader, where an app shows each something else |
//! | [`rendered`], [`content`] | what was written of a window and of those that it embeds |
//! | [`context_version`], [`context_errors`] | the version of a window's Context, and what is wrong with it |
//! | [`delivered_versions`] | how a window was when it was delivered |
//! | [`anchors`] | display ids, and what they stand for |
//! | `readers`, `forgotten_readers`, `reader_token` | who reads a workspace; who did; that one doesn't speak as another by mistake |
//! | [`reader`], `delivery` | what a reader has seen; what is on its way to it |
//! | `line_knowledge`, [`seen_lines`] | which line numbers a reader was shown, and in which version |
//! | [`panels`] | which parts of its document the daemon writes itself |
//! | [`notices`], [`history`] | what readers should know, and what was done |
//! | `memory` | bounds on the bytes of all this |
//!
//! **Invariant: nothing here knows a run, a process or a verb.** Views are written from a
//! workspace, never by it.

pub mod anchors;
pub mod content;
pub mod context_errors;
pub mod context_version;
pub mod delivered_versions;
mod delivery;
mod dirty_windows;
mod forgotten_readers;
mod held_embeds;
mod held_projection;
pub mod history;
mod line_knowledge;
pub mod link_code;
mod memory;
pub mod notices;
pub mod panels;
mod per_reader;
pub mod raw_projection;
pub mod reader;
mod reader_contents;
mod reader_token;
mod readers;
pub mod rendered;
pub mod seen_lines;
mod unfinished;
pub mod window;
pub mod window_options;
pub mod windows;
pub mod workspace;

use std::collections::BTreeMap;

use pipemux_proto::{Fault, Incarnation};

use crate::event::Now;
use crate::keys::{ReaderId, SessionKey, WorkspaceKey};
use crate::limits::{CLIENTS_MAX, RETIRED_MAX, WORKSPACES_MAX};
use crate::persist::records::Record;

pub use context_version::{ContextVersionCounter, ShownContent};
pub use delivery::{Delivery, SeenWindow};
pub use held_embeds::{EmbedDetail, HeldEmbeds};
pub use held_projection::HeldProjection;
pub use notices::NoticeText;
pub use panels::{Panel, Panels};
pub use reader::Reader;
pub use readers::Readers;
pub use rendered::{Embed, EmbeddedWindow, Embeds, Rendered, TitleWord};
pub use seen_lines::{LineUpdate, SeenLines, ShownVersion, When};
pub use window::Window;
pub use window_options::Placement;
pub use windows::{Rank, Windows};
pub use workspace::Workspace;

/// All workspaces, and the numbers of the evicted ones.
#[derive(Debug, Default)]
pub struct Workspaces {
    by_key: BTreeMap<WorkspaceKey, Workspace>,
    /// The numbers of workspaces that made room: none is used again when such a workspace comes
    /// back.
    retired: BTreeMap<WorkspaceKey, FirstNumbers>,
    /// The answers that their readers haven't confirmed, by delivery number.
    unconfirmed: BTreeMap<u64, Unconfirmed>,
    /// About how many bytes these keep.
    unconfirmed_bytes: usize,
    /// Bytes that were delivered since it was last looked how much is kept.
    delivered_bytes: usize,
}

/// An answer that its reader hasn't confirmed.
#[derive(Debug)]
struct Unconfirmed {
    workspace: WorkspaceKey,
    reader: ReaderId,
    /// About how many bytes it keeps.
    bytes: usize,
}

/// An answer that its reader has received.
#[derive(Debug)]
pub struct Confirmed {
    pub workspace: WorkspaceKey,
    pub reader: ReaderId,
    pub delivery: Delivery,
}

/// The start of the numbering in a new workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstNumbers {
    /// The first display id.
    pub id: u64,
    /// The epoch before the first delivered one.
    pub epoch: u64,
}

impl FirstNumbers {
    /// Returns the higher of each two numbers.
    fn max(self, other: Self) -> Self {
        Self { id: self.id.max(other.id), epoch: self.epoch.max(other.epoch) }
    }

    /// Returns numbers that are so much higher.
    fn leap(self, by: u64) -> Self {
        Self { id: self.id.saturating_add(by), epoch: self.epoch.saturating_add(by) }
    }

    /// Returns the record of a workspace whose numbers below these may have been used.
    fn to_record(self, key: &str, name: &str) -> Record {
        let Self { id, epoch } = self;
        let (key, name) = (key.to_owned(), name.to_owned());
        Record::Workspace { key, name, ids_below: id, epochs_below: epoch }
    }
}

/// The evictions that were caused by a reader's entry into a workspace.
#[derive(Debug)]
pub struct Entered {
    pub key: WorkspaceKey,
    /// True when the workspace is new.
    pub created: bool,
    /// The workspace that was evicted for a new one.
    pub retired: Option<WorkspaceKey>,
    /// The reader that was evicted for a new one.
    pub evicted_reader: Option<ReaderId>,
}

impl Workspaces {
    /// Returns the workspace of a key.
    pub fn get(&self, key: &str) -> Option<&Workspace> {
        self.by_key.get(key)
    }

    /// Returns the workspace of a key, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Workspace> {
        self.by_key.get_mut(key)
    }

    /// Returns the number of workspaces, without those that made room.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Iterates over all workspaces and their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&WorkspaceKey, &Workspace)> {
        self.by_key.iter()
    }

    /// Iterates over all workspaces.
    pub fn values(&self) -> impl Iterator<Item = &Workspace> {
        self.by_key.values()
    }

    /// Iterates over all workspaces, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Workspace> {
        self.by_key.values_mut()
    }

    /// Iterates over the workspaces that may show a session: its own one, or all of them when it is
    /// shared.
    pub fn of_session_mut(&mut self, session: &SessionKey) -> impl Iterator<Item = &mut Workspace> {
        let (own, all) = match &session.workspace {
            Some(owner) => (self.by_key.get_mut(owner), None),
            None => (None, Some(self.by_key.values_mut())),
        };
        own.into_iter().chain(all.into_iter().flatten())
    }

    /// Returns true while a workspace has a window of the session.
    pub fn have_window(&self, session: &SessionKey) -> bool {
        self.values().any(|workspace| workspace.window(session).is_some())
    }

    /// Returns true when a workspace keeps the session awake.
    pub fn is_pinned(&self, session: &SessionKey) -> bool {
        self.values().any(|workspace| workspace.window(session).is_some_and(|w| w.pinned))
    }

    /// Enters a workspace as a reader; a new workspace takes its numbers from `first_numbers`,
    /// unless its own are known.
    ///
    /// # Errors
    /// There are too many workspaces, and each has open windows.
    pub fn enter(
        &mut self,
        (key, name): (&str, &str),
        reader: &str,
        now: Now,
        first_numbers: impl FnOnce() -> FirstNumbers,
    ) -> Result<Entered, Fault> {
        if let Some((known, _)) = self.by_key.get_key_value(key) {
            let key = known.clone();
            let workspace = self.by_key.get_mut(&key);
            let evicted_reader = workspace.and_then(|found| found.enter_reader(reader, now));
            return Ok(Entered { key, created: false, retired: None, evicted_reader });
        }
        let mut retired = None;
        if self.by_key.len() >= WORKSPACES_MAX {
            retired = self.retire_one();
            if retired.is_none() {
                let message =
                    format!("too many workspaces with open windows (limit {WORKSPACES_MAX})");
                return Err(Fault::refused(message)
                    .hint("end what is done with; it is listed by: pipemux sessions"));
            }
        }
        let key: WorkspaceKey = key.into();
        let known = self.retired.remove(&key);
        let first = known.unwrap_or_else(first_numbers);
        let mut workspace = Workspace::new(key.clone(), name.to_owned(), first);
        if known.is_some() {
            workspace.readers.distrust_new();
        }
        workspace.enter_reader(reader, now);
        self.by_key.insert(key.clone(), workspace);
        Ok(Entered { key, created: true, retired, evicted_reader: None })
    }

    /// Drops the workspace without windows whose readers have been quiet for the longest time, and
    /// keeps its numbers. Returns its key; none when no workspace can make room.
    fn retire_one(&mut self) -> Option<WorkspaceKey> {
        if self.retired.len() >= RETIRED_MAX {
            return None;
        }
        let idle = self.by_key.iter().filter(|(_, workspace)| workspace.windows.is_empty());
        let oldest = idle.min_by_key(|(_, workspace)| workspace.readers.last_heard());
        let key = oldest.map(|(key, _)| key.clone())?;
        let workspace = self.by_key.remove(&key)?;
        self.retired.insert(key.clone(), workspace.first_unused_numbers());
        Some(key)
    }

    /// Returns the number of workspaces that made room and whose numbers are kept.
    pub fn retired_count(&self) -> usize {
        self.retired.len()
    }

    /// Returns the records of the workspaces that made room: where their numbers go on.
    pub fn snapshot_retired(&self) -> impl Iterator<Item = Record> {
        self.retired.iter().map(|(key, numbers)| {
            numbers.to_record(key, key.rsplit('/').next().unwrap_or_default())
        })
    }

    /// Restores a workspace of an earlier daemon. A workspace that is known already keeps what it
    /// has, and its numbers go on from those given.
    pub fn restore(&mut self, key: WorkspaceKey, name: String, first: FirstNumbers) {
        let workspace = match self.by_key.remove(&key) {
            Some(known) => known.restored_again(name, first),
            None => Workspace::new(key.clone(), name, first),
        };
        self.by_key.insert(key, workspace);
    }

    /// Passes over the numbers that lost records may have reserved: `leap` of each kind.
    pub fn skip_lost_numbers(&mut self, leap: u64) {
        for workspace in self.by_key.values_mut() {
            workspace.rise(workspace.first_unreserved_numbers().leap(leap));
        }
        for numbers in self.retired.values_mut() {
            *numbers = numbers.leap(leap);
        }
    }

    /// Has every workspace go on at these numbers at least.
    pub fn rise(&mut self, to: FirstNumbers) {
        for workspace in self.by_key.values_mut() {
            workspace.rise(to);
        }
        for numbers in self.retired.values_mut() {
            *numbers = numbers.max(to);
        }
    }

    /// Forgets all that workspaces keep of a session that ended for good.
    pub fn forget_session(&mut self, session: &SessionKey) {
        for workspace in self.by_key.values_mut() {
            workspace.forget_session(session);
        }
    }

    /// Makes what was seen of one process of a session count as seen of the next one, which has the
    /// same state.
    pub fn hand_over(&mut self, session: &SessionKey, from: Incarnation, to: Incarnation) {
        for workspace in self.by_key.values_mut() {
            workspace.hand_over(session, from, to);
            workspace.session_changed(session);
        }
    }

    /// Notes in every window of a session that its app's version went back.
    pub fn note_went_back(&mut self, session: &SessionKey, (from, to): (u64, u64)) {
        for window in self.by_key.values_mut().filter_map(|found| found.window_mut(session)) {
            window.projection = None;
            window.drop_other_readers();
            window.context.note_went_back(from, to);
        }
    }

    /// Adds a notice to every workspace that has a window of the session: the daemon's own, or that
    /// of an app.
    pub fn notify_windows(
        &mut self,
        session: &SessionKey,
        by: Option<&SessionKey>,
        text: &NoticeText,
        now: Now,
    ) {
        for workspace in self.by_key.values_mut().filter(|w| w.window(session).is_some()) {
            workspace.notify_by(text.clone(), by.cloned(), now);
        }
    }

    /// Remembers what an answer shows until its reader confirms it, or until too many later answers
    /// are unconfirmed.
    pub fn deliver(&mut self, at: &WorkspaceKey, reader: &str, delivery: Delivery) {
        let Some(workspace) = self.by_key.get_mut(at) else { return };
        let (number, bytes) = (delivery.number, delivery.bytes());
        let reader = workspace.readers.id(reader);
        let Some(kept) = workspace.reader_mut(&reader) else { return };
        for number in kept.deliver(delivery) {
            self.take_unconfirmed(number);
        }
        self.unconfirmed.insert(number, Unconfirmed { workspace: at.clone(), reader, bytes });
        self.unconfirmed_bytes += bytes;
        self.bound_unconfirmed(CLIENTS_MAX);
        self.count_delivered(bytes);
    }

    fn take_unconfirmed(&mut self, number: u64) -> Option<Unconfirmed> {
        let taken = self.unconfirmed.remove(&number)?;
        self.unconfirmed_bytes = self.unconfirmed_bytes.saturating_sub(taken.bytes);
        Some(taken)
    }

    /// Notes that a reader has received an answer.
    pub fn confirm(&mut self, delivery: u64) -> Option<Confirmed> {
        let Unconfirmed { workspace: at, reader, .. } = self.take_unconfirmed(delivery)?;
        let delivery = self.by_key.get_mut(&at)?.confirm(&reader, delivery)?;
        Some(Confirmed { workspace: at, reader, delivery })
    }

    /// Returns the records that must be on disk before an answer that uses new ids or epochs goes
    /// out: the new anchors, then the numbers.
    pub fn reserve(&mut self, at: &str) -> impl Iterator<Item = Record> + use<> {
        let workspace = self.by_key.get_mut(at);
        let records = workspace.map_or([None, None], Workspace::reserve);
        records.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests;
