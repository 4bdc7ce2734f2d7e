//! How much of what was shown is kept in memory: bounds in bytes, for one window, one reader and the whole daemon.
//!
//! Everything that is given up here only costs a longer answer later: a window is shown whole instead of as a difference,
//! or asked of its app again. What was acted on, and what readers were told of line numbers, is kept elsewhere.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use crate::limits::{KEPT_VIEWS_BYTES, KEPT_VIEWS_CHECK_BYTES, UNCONFIRMED_BYTES};
use crate::workspaces::content::Content;
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::reader::Delivery;
use crate::workspaces::window::DeliveredVersion;
use crate::workspaces::{HeldProjection, Rendered, Workspace, Workspaces};

impl Rendered {
    /// Returns about how many bytes it takes, without its content, which others may share.
    pub(super) fn own_bytes(&self) -> usize {
        self.heading.len() + self.nav.len() + self.ids.len() * 8 + self.keyed.len() * 32 + 256
    }

    /// Returns about how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        self.own_bytes() + self.content.text().len()
    }
}

impl Delivery {
    /// Returns about how many bytes it keeps; a window that it shows and that counts as seen is counted once.
    pub(super) fn bytes(&self) -> usize {
        let shown: usize = self.shown.iter().map(|(_, rendered)| rendered.bytes()).sum();
        shown + (self.ids.len() + self.lines.len() * 8) * 8 + 256
    }
}

/// Adds up what is kept, each thing once however many share it.
#[derive(Default)]
struct Tally {
    bytes: usize,
    contents: HashSet<*const Content>,
    projections: HashSet<*const RawProjection>,
}

impl Tally {
    fn rendered(&mut self, rendered: &Rc<Rendered>) {
        self.bytes += rendered.own_bytes();
        if self.contents.insert(Rc::as_ptr(&rendered.content)) {
            self.bytes += rendered.content.text().len();
        }
    }

    fn projection(&mut self, projection: &Rc<RawProjection>) {
        if self.projections.insert(Rc::as_ptr(projection)) {
            self.bytes += projection.bytes();
        }
    }

    fn shown(
        &mut self,
        held: &Option<HeldProjection>,
        rendered: &Option<(Rc<RawProjection>, Rc<Rendered>)>,
        delivered: &VecDeque<DeliveredVersion>,
    ) {
        delivered.iter().for_each(|past| self.rendered(&past.rendered));
        if let Some((projection, rendered)) = rendered {
            self.rendered(rendered);
            self.projection(projection);
        }
        if let Some(held) = held {
            self.projection(&held.projection);
        }
    }

    fn workspace(&mut self, workspace: &Workspace) {
        for window in workspace.windows.iter() {
            self.shown(&window.projection, &window.rendered, &window.delivered);
            for other in window.readers.others() {
                self.shown(&other.projection, &other.rendered, &other.delivered);
            }
            window.told.iter().flat_map(|(_, text)| text).for_each(|text| self.rendered(text));
            for kept in &window.embeds {
                self.projection(&kept.held.projection);
                kept.rendered.iter().for_each(|rendered| self.rendered(rendered));
            }
        }
        self.bytes += workspace.readers.values().map(|reader| reader.context.len()).sum::<usize>();
        for seen in workspace.readers.values().flat_map(|reader| reader.seen.values()) {
            self.rendered(&seen.rendered);
            self.rendered(&seen.names);
        }
    }
}

/// How often it is added up how much is kept while room is made.
const CHECKS: usize = 16;

impl Workspaces {
    /// Counts what was delivered; from time to time, looks whether too much is kept.
    pub(super) fn count_delivered(&mut self, bytes: usize) {
        self.delivered_bytes += bytes;
        if self.delivered_bytes >= KEPT_VIEWS_CHECK_BYTES {
            self.delivered_bytes = 0;
            self.make_room();
        }
    }

    /// Returns about how many bytes of windows are kept.
    pub fn kept_bytes(&self) -> usize {
        let mut tally = Tally::default();
        self.by_key.values().for_each(|workspace| tally.workspace(workspace));
        tally.bytes + self.unconfirmed_bytes
    }

    /// Returns about how many bytes of answers wait to be confirmed.
    pub fn unconfirmed_bytes(&self) -> usize {
        self.unconfirmed_bytes
    }

    /// Gives up what is needed least until no more than [`KEPT_VIEWS_BYTES`] are kept: workspaces that nobody has read for
    /// the longest time come first; of all of them the history of deliveries, then what was rendered, then what readers
    /// have seen.
    fn make_room(&mut self) {
        let keys = self.by_key.iter().map(|(key, workspace)| (workspace.last_heard(), key.clone()));
        let mut keys: Vec<_> = keys.collect();
        keys.sort();
        // To add everything up for each workspace would be quadratic.
        let some = keys.len().div_ceil(CHECKS).max(1);
        let give_up: [fn(&mut Workspace); 3] =
            [Workspace::drop_past, Workspace::drop_rendered, Workspace::drop_seen];
        for give_up in give_up {
            for keys in keys.chunks(some) {
                if self.kept_bytes() <= KEPT_VIEWS_BYTES {
                    return;
                }
                for (_, key) in keys {
                    self.by_key.get_mut(key).into_iter().for_each(give_up);
                }
            }
        }
    }

    /// Drops the oldest answers that nobody has confirmed until they take no more than [`UNCONFIRMED_BYTES`].
    pub(super) fn bound_unconfirmed(&mut self, most: usize) {
        while self.unconfirmed.len() > most
            || (self.unconfirmed_bytes > UNCONFIRMED_BYTES && self.unconfirmed.len() > 1)
        {
            let Some((number, oldest)) = self.unconfirmed.pop_first() else { return };
            self.unconfirmed_bytes = self.unconfirmed_bytes.saturating_sub(oldest.bytes);
            let workspace = self.by_key.get_mut(&oldest.workspace);
            if let Some(reader) = workspace.and_then(|found| found.reader_mut(&oldest.reader)) {
                reader.take_delivery(number);
            }
        }
    }
}

impl Workspace {
    /// Drops the deliveries of windows but the newest: `--since` shows them whole.
    fn drop_past(&mut self) {
        for window in self.windows.iter_mut() {
            let older = window.delivered.len().saturating_sub(1);
            window.delivered.drain(..older);
            for shown in window.readers.others_mut() {
                let older = shown.delivered.len().saturating_sub(1);
                shown.delivered.drain(..older);
            }
        }
    }

    /// Drops what was rendered: windows are asked of their apps again.
    fn drop_rendered(&mut self) {
        for window in self.windows.iter_mut() {
            window.delivered.clear();
            // Another text with the same version can't be told from it any more.
            window.told.iter_mut().for_each(|(_, text)| *text = None);
            window.projection = None;
            window.rendered = None;
            window.drop_other_readers();
            window.embeds.clear();
        }
    }

    /// Drops what readers have seen: windows are shown to them whole.
    fn drop_seen(&mut self) {
        for reader in self.readers.values_mut() {
            reader.seen.clear();
            reader.context = "".into();
        }
    }
}
