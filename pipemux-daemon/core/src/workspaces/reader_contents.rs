//! The content of a window for each reader, for apps that show readers different content.
//!
//! **Invariant: of the reader to whom the window is turned nothing is kept here:** the window
//! itself holds it.

use std::collections::VecDeque;
use std::rc::Rc;

use pipemux_proto::Incarnation;
use pipemux_proto::projection::Lod;

use crate::keys::ReaderId;
use crate::limits::READERS_SHOWN_MAX;
use crate::workspaces::delivered_versions::DeliveredVersions;
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{HeldProjection, Rendered, ShownVersion};

/// The reader whose content a window holds, and the content that is kept for others.
#[derive(Debug, Default)]
pub(super) struct ReaderContents {
    /// The reader whose content the window holds; `None` until the first one.
    present: Option<ReaderId>,
    /// The content of other readers, the most recent at the end.
    others: VecDeque<(ReaderId, ReaderContent)>,
    /// True while the reader's content is of another version than another reader was shown since,
    /// or than the result of a call that showed one of its objects.
    pub outdated: bool,
}

/// The content of a window for one reader.
#[derive(Debug, Default)]
pub(super) struct ReaderContent {
    pub projection: Option<HeldProjection>,
    pub rendered: Option<(Rc<RawProjection>, Rc<Rendered>)>,
    pub rendered_lod: Lod,
    pub own_rendered: Option<(ShownVersion, Rc<Rendered>)>,
    pub delivered: DeliveredVersions,
    /// The newest version that anybody had been shown when the window was turned to another reader.
    pub newest: Option<(Incarnation, u64)>,
    /// See [`ReaderContents::outdated`].
    pub outdated: bool,
}

impl ReaderContents {
    /// Returns true when the window is turned to a reader.
    pub fn is_turned_to(&self, reader: &str) -> bool {
        self.present.as_deref() == Some(reader)
    }

    /// Turns to a reader. Returns the reader to whom it was turned before, if there was one, and
    /// what is kept of the new one.
    pub fn take(&mut self, reader: &ReaderId) -> Option<(ReaderId, ReaderContent)> {
        let kept = self.others.iter().position(|(id, _)| id == reader);
        let kept = kept.and_then(|at| self.others.remove(at));
        let (id, content) = kept.unwrap_or_else(|| (reader.clone(), ReaderContent::default()));
        Some((self.present.replace(id)?, content))
    }

    /// Keeps what a reader was shown. Returns the reader whose content made room for it.
    pub fn put_aside(&mut self, reader: ReaderId, content: ReaderContent) -> Option<ReaderId> {
        self.others.push_back((reader, content));
        let is_full = self.others.len() >= READERS_SHOWN_MAX;
        let oldest = is_full.then(|| self.others.pop_front()).flatten();
        oldest.map(|(reader, _)| reader)
    }

    /// Notes that the present version was rendered for the reader to whom the window is turned.
    pub fn note_rendered(&mut self) {
        self.outdated = false;
    }

    /// Iterates over what is kept for readers to whom the window isn't turned.
    pub fn contents(&self) -> impl Iterator<Item = &ReaderContent> {
        self.others.iter().map(|(_, content)| content)
    }

    /// Iterates over the same, to change it.
    pub fn contents_mut(&mut self) -> impl Iterator<Item = &mut ReaderContent> {
        self.others.iter_mut().map(|(_, content)| content)
    }
}

impl ReaderContent {
    /// Makes what was seen of one process count as seen of the next one.
    pub fn hand_over(&mut self, from: Incarnation, to: Incarnation) {
        let held = self.projection.iter_mut().map(|held| &mut held.app);
        let newest = self.newest.iter_mut().map(|(app, _)| app);
        let own = self.own_rendered.iter_mut().map(|((app, _), _)| app);
        for app in held.chain(newest).chain(own).filter(|app| **app == from) {
            *app = to;
        }
        self.delivered.hand_over(from, to);
    }
}
