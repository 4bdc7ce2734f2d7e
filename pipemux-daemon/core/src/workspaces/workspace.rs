//! One workspace: its windows, anchors, epochs, readers and notices.

use pipemux_proto::ids::{Incarnation, SessionAddr};

use crate::event::Now;
use crate::keys::{ReaderId, SessionKey, WorkspaceKey, plain_address};
use crate::limits::BLOCK;
use crate::persist::records::{Record, SavedOptions};
use crate::workspaces::anchors::AnchorTable;
use crate::workspaces::context_errors::anchor_conflict;
use crate::workspaces::history::History;
use crate::workspaces::notices::Notices;
use crate::workspaces::window::NewRendering;
use crate::workspaces::window_options::SavedDetail;
use crate::workspaces::{
    ContextVersionCounter, Delivery, Embeds, FirstNumbers, NoticeText, Reader, Readers, SeenWindow,
    ShownContent, Window, Windows,
};

/// A set of related windows, usually those of one project.
#[derive(Debug)]
pub struct Workspace {
    pub key: WorkspaceKey,
    /// The displayed name.
    pub name: String,
    /// The windows, in the order in which they were opened.
    pub windows: Windows,
    pub anchors: AnchorTable,
    /// The newest delivered epoch.
    pub epoch: u64,
    /// The options for the treatment of refs.
    pub options: SavedOptions,
    /// The history of rounds.
    pub history: History,
    pub readers: Readers,
    pub notices: Notices,
    /// The highest data version of a window's Context, unless the epoch is higher.
    newest_context: u64,
    /// Ids and epochs below these are reserved on disk.
    reserved: FirstNumbers,
}

impl Workspace {
    /// Makes an empty workspace whose numbers begin where `first` says.
    pub fn new(key: WorkspaceKey, name: String, first: FirstNumbers) -> Self {
        Self {
            key,
            name,
            windows: Windows::default(),
            anchors: AnchorTable::starting_at(first.id),
            epoch: first.epoch,
            options: SavedOptions::default(),
            history: History::default(),
            readers: Readers::default(),
            notices: Notices::default(),
            newest_context: first.epoch,
            reserved: first,
        }
    }

    /// Returns true when an address that a reader wrote names a session: by its own name or its
    /// unique one.
    pub fn names_session(&self, written: &SessionAddr, session: &SessionKey) -> bool {
        *written == session.addr || plain_address(&self.key, written) == session.addr
    }

    /// Returns the window of a session.
    pub fn window(&self, session: &SessionKey) -> Option<&Window> {
        self.windows.get(session)
    }

    /// Returns the window of a session, to change it.
    pub fn window_mut(&mut self, session: &SessionKey) -> Option<&mut Window> {
        self.windows.get_mut(session)
    }

    /// Returns the window of a session beside the anchor table in which its ids are minted.
    pub fn window_and_anchors(
        &mut self,
        session: &SessionKey,
    ) -> Option<(&Window, &mut AnchorTable)> {
        Some((self.windows.get(session)?, &mut self.anchors))
    }

    /// Keeps the rendering of a session's window, and tells readers of keys that the app gave to
    /// two objects.
    pub fn record_rendering(&mut self, session: &SessionKey, rendering: NewRendering, now: Now) {
        let embeds = rendering.rendered.embeds.windows().next().is_some();
        self.windows.set_embedding(session, embeds);
        let Some(window) = self.windows.get_mut(session) else { return };
        for key in window.record_rendering(rendering) {
            self.notify(anchor_conflict(session, &key).named_message(), now);
        }
    }

    /// Counts the version of what an answer shows of a session's window.
    pub fn count_context(
        &mut self,
        session: &SessionKey,
        shown: ShownContent,
        peek: bool,
        now: Now,
    ) {
        let Some(window) = self.windows.get_mut(session) else { return };
        window.context.count(shown, peek, now);
        self.newest_context = self.newest_context.max(window.context.major);
    }

    /// Forgets all that is kept of a session that ended for good, but for its window.
    pub(super) fn forget_session(&mut self, session: &SessionKey) {
        self.anchors.forget_session(session);
        for reader in self.readers.iter_mut() {
            reader.seen.remove(session);
        }
    }

    /// Makes what was seen of one process of a session count as seen of the next one.
    pub(super) fn hand_over(&mut self, session: &SessionKey, from: Incarnation, to: Incarnation) {
        if let Some(window) = self.windows.get_mut(session) {
            window.hand_over(from, to);
        }
        for window in self.windows.iter_mut() {
            if let Some((_, rendered)) = &mut window.rendered {
                Embeds::hand_over(rendered, session, (from, to));
            }
        }
        self.anchors.hand_over(session, from, to);
        for reader in self.readers.iter_mut() {
            reader.hand_over(session, from, to);
        }
    }
}

/// Readers, and what they have seen.
impl Workspace {
    /// Notes that a reader asks for something. Returns the name of the reader that made room for
    /// it, if one had to.
    pub fn enter_reader(&mut self, name: &str, now: Now) -> Option<ReaderId> {
        self.readers.enter(name, now, self.notices.count())
    }

    /// Returns what is kept of a reader.
    pub fn reader(&self, name: &str) -> Option<&Reader> {
        self.readers.get(name)
    }

    /// Returns what is kept of a reader, to change it.
    pub fn reader_mut(&mut self, name: &str) -> Option<&mut Reader> {
        self.readers.get_mut(name)
    }

    /// Returns the epoch in which a reader was last shown an id; 0: never.
    pub fn known_epoch(&self, reader: &str, id: u64) -> u64 {
        self.readers.get(reader).and_then(|reader| reader.known.get(&id)).map_or(0, |epoch| *epoch)
    }

    /// Returns true when the window that a reader last saw shows an id.
    pub fn in_view(&self, reader: &str, session: &SessionKey, id: u64) -> bool {
        self.seen(reader, session).is_some_and(|seen| seen.rendered.ids.contains(&id))
    }

    /// Returns what a reader has seen of a window.
    pub fn seen(&self, reader: &str, session: &SessionKey) -> Option<&SeenWindow> {
        self.readers.seen(reader, session)
    }

    /// Notes that a reader has received an answer: it has seen what that answer showed. Returns it.
    pub(super) fn confirm(&mut self, reader: &str, number: u64) -> Option<Delivery> {
        self.readers.get_mut(reader)?.confirm(number, &self.windows, &self.anchors)
    }
}

impl Workspace {
    /// Adds a notice of the daemon for all readers.
    pub fn notify(&mut self, text: impl Into<NoticeText>, at: Now) {
        self.notify_by(text.into(), None, at);
    }

    /// Adds a notice for all readers: the daemon's, or that of a session's app.
    pub fn notify_by(&mut self, text: NoticeText, by: Option<SessionKey>, at: Now) {
        self.notices.add(text, by, at);
    }

    /// Returns the notices that a reader hasn't been shown, as they read now: the daemon's own, and
    /// those of apps. The `newest` ones of all, which the answer shows elsewhere, aren't among
    /// them.
    pub fn unread_notices(
        &self,
        reader: &str,
        newest: usize,
        now: Now,
    ) -> (Vec<String>, Vec<String>) {
        let count = self.notices.count();
        let shown = self.readers.get(reader).map_or(count, |reader| reader.noticed);
        self.notices.after(shown, newest, now)
    }
}

/// The saved state of a workspace itself; anchors, history and windows have own records.
impl Workspace {
    /// Returns the records that restore the workspace and its options. They precede those of all
    /// that it holds.
    pub fn snapshot(&self) -> Vec<Record> {
        let mut records = vec![self.first_unreserved_numbers().to_record(&self.key, &self.name)];
        if self.options != SavedOptions::default() {
            let (workspace, options) = (self.key.to_string(), self.options);
            records.push(Record::Options { workspace, options });
        }
        records
    }

    /// Returns the record of the numbers that were really used.
    pub fn used_numbers(&self) -> Record {
        FirstNumbers { id: self.anchors.next_id(), epoch: self.newest_version() }
            .to_record(&self.key, &self.name)
    }

    /// Opens the window of a record, or gives the open window of that session the record's options.
    /// `number` gives the number of a new window.
    pub fn restore_window(
        &mut self,
        session: SessionKey,
        saved: &SavedDetail<'_>,
        number: impl FnOnce() -> u64,
    ) {
        if let Some(window) = self.window_mut(&session) {
            return window.restore(saved);
        }
        let mut window = Window::new(number(), session, self.epoch);
        window.restore(saved);
        self.open_window(window, None);
    }

    /// Closes the windows that a record names by `provider/session`.
    pub fn restore_closed_window(&mut self, session: &str) {
        let is_closed = |window: &&Window| window.session.to_string() == session;
        let closed = self.windows.iter().filter(is_closed).map(|window| window.session.clone());
        for session in closed.collect::<Vec<_>>() {
            self.close_window(&session);
        }
    }
}

/// Numbers that never go back.
impl Workspace {
    /// Returns the highest of the workspace's epoch and the data versions of its Contexts, from
    /// which a later daemon continues. A window that an app's restart renewed has a version that
    /// used no epoch.
    pub fn newest_version(&self) -> u64 {
        self.newest_context.max(self.epoch)
    }

    /// Returns the first numbers that no daemon has used or reserved.
    pub fn first_unreserved_numbers(&self) -> FirstNumbers {
        FirstNumbers {
            id: self.reserved.id.max(self.anchors.next_id()),
            epoch: self.reserved.epoch.max(self.epoch),
        }
    }

    /// Returns where the numbers go on when the workspace comes back after it made room.
    pub(super) fn first_unused_numbers(&self) -> FirstNumbers {
        let epoch = self.epoch.max(self.reserved.epoch);
        FirstNumbers { id: self.anchors.next_id(), epoch }
    }

    /// Returns the records of new anchors and of numbers that are about to be used.
    pub(super) fn reserve(&mut self) -> [Option<Record>; 2] {
        let (workspace, anchors) = (self.key.to_string(), self.anchors.take_unsaved());
        let anchors = (!anchors.is_empty()).then_some(Record::Anchors { workspace, anchors });
        let (next_id, next_epoch) = (self.anchors.next_id(), self.newest_version() + 1);
        let FirstNumbers { id, epoch } = self.reserved;
        if next_id <= id && next_epoch <= epoch {
            return [anchors, None];
        }
        self.reserved = FirstNumbers {
            id: if next_id > id { next_id + BLOCK } else { id },
            epoch: if next_epoch > epoch { next_epoch + BLOCK } else { epoch },
        };
        [anchors, Some(self.reserved.to_record(&self.key, &self.name))]
    }

    /// Handles another record of the same workspace during restoration: the workspace keeps its
    /// content and gets the new name and numbers.
    pub(super) fn restored_again(self, name: String, first: FirstNumbers) -> Self {
        let mut workspace = Self {
            windows: self.windows,
            options: self.options,
            history: self.history,
            anchors: self.anchors,
            ..Self::new(self.key, name, first)
        };
        workspace.anchors.continue_from(first.id);
        // Anchors are saved with the meaning that they were minted with: pins of an earlier daemon
        // are stale until what they name is shown again.
        workspace.anchors.reset_epochs(first.epoch + 1);
        for window in workspace.windows.iter_mut() {
            window.context = ContextVersionCounter::after(first.epoch);
        }
        workspace
    }

    /// Goes on at these numbers at least.
    pub(super) fn rise(&mut self, to: FirstNumbers) {
        let FirstNumbers { id, epoch } = self.first_unreserved_numbers();
        let (id, epoch) = (id.max(to.id), epoch.max(to.epoch));
        self.anchors.continue_from(id);
        self.epoch = epoch;
        self.reserved = FirstNumbers { id, epoch };
        for window in self.windows.iter_mut() {
            window.context.major = window.context.major.max(self.epoch);
        }
    }
}
