//! How much of what was shown is kept in memory: bounds in bytes, for one window, one reader and
//! the whole daemon.
//!
//! Everything that is given up here only costs a longer answer later: a window is shown whole
//! instead of as a difference, or asked of its app again. What was acted on, and what readers were
//! told of line numbers, is kept elsewhere.

use std::collections::HashSet;
use std::rc::Rc;

use crate::limits::{KEPT_VIEWS_BYTES, UNCONFIRMED_BYTES};
use crate::workspaces::content::Content;
use crate::workspaces::delivered_versions::DeliveredVersions;
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{HeldProjection, Rendered, Window, Workspace, Workspaces};

/// Bytes that are delivered between two looks at how much is kept.
const KEPT_VIEWS_CHECK_BYTES: usize = 16 * 1024 * 1024;

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
        delivered: &DeliveredVersions,
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
            for other in window.other_readers.contents() {
                self.shown(&other.projection, &other.rendered, &other.delivered);
            }
            window
                .last_delivered
                .iter()
                .flat_map(|(_, text)| text)
                .for_each(|text| self.rendered(text));
            for kept in window.embeds.iter() {
                self.projection(&kept.held.projection);
                kept.rendered.iter().for_each(|rendered| self.rendered(rendered));
            }
        }
        self.bytes += workspace.readers.iter().map(|reader| reader.context.len()).sum::<usize>();
        for seen in workspace.readers.iter().flat_map(|reader| reader.seen.values()) {
            self.rendered(&seen.rendered);
            self.rendered(&seen.names);
        }
    }
}

/// The number of memory measurements in each step of an eviction.
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

    /// Frees the least needed views until at most [`KEPT_VIEWS_BYTES`] are kept: first the history
    /// of deliveries of all workspaces, then renderings, then what readers have seen; each time
    /// beginning with the workspaces that have been unread for longest.
    fn make_room(&mut self) {
        let keys = self
            .by_key
            .iter()
            .map(|(key, workspace)| (workspace.readers.last_heard(), key.clone()));
        let mut keys: Vec<_> = keys.collect();
        keys.sort();
        // To add everything up for each workspace would be quadratic.
        let some = keys.len().div_ceil(CHECKS).max(1);
        let give_up: [fn(&mut Workspace); 3] = [
            |workspace| workspace.windows.iter_mut().for_each(Window::drop_past),
            |workspace| workspace.windows.iter_mut().for_each(Window::drop_rendered),
            |workspace| workspace.readers.forget_seen(),
        ];
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

    /// Drops the oldest answers that nobody has confirmed until they take no more than
    /// [`UNCONFIRMED_BYTES`].
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
