//! Windows of apps that show each reader something else, as when each turns pages for itself.
//!
//! A window holds what *one* reader was shown: all code that resolves a ref, a label or a name, compares or renders, asks
//! for the window of the reader who is being served. Before a request of another reader is served, the window is turned to
//! that one: what it held is put aside together with the anchors that it showed, and comes back with its reader. So only
//! apps that say so ([`PER_READER`](pipemux_proto::hello::PER_READER)) cost a projection for each reader, and only of
//! the readers who came last.

use std::collections::VecDeque;
use std::mem;
use std::rc::Rc;

use crate::keys::SessionKey;
use crate::limits::READERS_SHOWN_MAX;
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::window::DeliveredVersion;
use crate::workspaces::{HeldProjection, Rendered, ShownVersion, Window, Workspace};
use pipemux_proto::Incarnation;
use pipemux_proto::projection::Lod;

/// Whose content a window holds, and what is kept of it for others.
#[derive(Debug, Default)]
pub struct Readers {
    /// The reader to whom it is turned; none before it was turned for the first time.
    present: Option<Rc<str>>,
    /// What other readers were shown, the one who came last at the end.
    others: VecDeque<(Rc<str>, Shown)>,
    /// True while what the window holds for its reader is of another version than what another one was shown since, or
    /// than the result of a call that showed one of its things.
    outdated: bool,
}

/// What a window holds for one reader.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) projection: Option<HeldProjection>,
    pub(super) rendered: Option<(Rc<RawProjection>, Rc<Rendered>)>,
    rendered_lod: Lod,
    own_rendered: Option<(ShownVersion, Rc<Rendered>)>,
    pub(super) delivered: VecDeque<DeliveredVersion>,
    /// The newest version that anybody had been shown when the window was turned to another reader.
    newest: Option<(Incarnation, u64)>,
    /// See [`Readers::outdated`].
    outdated: bool,
}

impl Readers {
    /// Notes that the present version was rendered for the reader to whom the window is turned.
    pub(super) fn note_rendered(&mut self) {
        self.outdated = false;
    }

    /// Iterates over what is kept for readers to whom the window isn't turned.
    pub(super) fn others(&self) -> impl Iterator<Item = &Shown> {
        self.others.iter().map(|(_, shown)| shown)
    }

    /// Iterates over the same, to change it.
    pub(super) fn others_mut(&mut self) -> impl Iterator<Item = &mut Shown> {
        self.others.iter_mut().map(|(_, shown)| shown)
    }
}

impl Shown {
    /// Makes what was seen of one process count as seen of the next one.
    pub(super) fn hand_over(&mut self, from: Incarnation, to: Incarnation) {
        let held = self.projection.iter_mut().map(|held| &mut held.app);
        let delivered = self.delivered.iter_mut().map(|version| &mut version.seen.0);
        let newest = self.newest.iter_mut().map(|(app, _)| app);
        let own = self.own_rendered.iter_mut().map(|((app, _), _)| app);
        for app in held.chain(delivered).chain(newest).chain(own).filter(|app| **app == from) {
            *app = to;
        }
    }
}

impl Window {
    /// Takes what it holds, and holds something else instead.
    fn exchange(&mut self, other: Shown) -> Shown {
        let now = self.context.counted.map(|(app, version, _)| (app, version));
        let Shown { projection, rendered, rendered_lod, own_rendered, delivered, newest, outdated } =
            other;
        // Things that it shows may mean something else by now, which another reader was told in this very epoch.
        let outdated = rendered.is_some() && (outdated || newest != now);
        Shown {
            newest: now,
            outdated: mem::replace(&mut self.readers.outdated, outdated),
            projection: mem::replace(&mut self.projection, projection),
            rendered: mem::replace(&mut self.rendered, rendered),
            rendered_lod: mem::replace(&mut self.rendered_lod, rendered_lod),
            own_rendered: mem::replace(&mut self.own_rendered, own_rendered),
            delivered: mem::replace(&mut self.delivered, delivered),
        }
    }

    /// True when it can be shown as it was, since its app doesn't answer.
    pub fn can_be_shown_as_it_was(&self) -> bool {
        self.rendered.is_some() && !self.is_outdated()
    }

    /// True when another version was shown since it was rendered, newer or, where an answer was late, older: its refs may
    /// stand for that one.
    pub fn is_outdated(&self) -> bool {
        self.readers.outdated
    }

    /// Forgets what it holds for readers to whom it isn't turned: they are asked for again.
    pub(super) fn drop_other_readers(&mut self) {
        for shown in self.readers.others_mut() {
            *shown = Shown::default();
        }
    }

    /// Returns true when the content that its app sent last is what this rendering was made of, whatever its version.
    pub fn holds_content_of(&self, rendered: &Rc<Rendered>) -> bool {
        match (&self.projection, &self.rendered) {
            (Some(held), Some((source, own))) => {
                (Rc::ptr_eq(own, rendered) || own == rendered)
                    && held.projection.shows_the_same_as(source)
            }
            _ => false,
        }
    }
}

impl Workspace {
    /// Marks the windows as outdated that still show the earlier revision of a thing whose present one an outcome has shown.
    pub fn outdate_revised(&mut self) {
        for session in self.anchors.take_revised() {
            if let Some(window) = self.windows.get_mut(&session)
                && window.rendered.is_some()
            {
                window.readers.outdated = true;
            }
        }
    }

    /// Turns the windows of the sessions that `per_reader` names to a reader.
    pub fn turn_to_reader(&mut self, reader: &str, per_reader: impl Fn(&SessionKey) -> bool) {
        let turned_away = |window: &&Window| {
            window.readers.present.as_deref() != Some(reader) && per_reader(&window.session)
        };
        let sessions = self.windows.iter().filter(turned_away).map(|w| w.session.clone());
        let sessions: Vec<SessionKey> = sessions.collect();
        for session in sessions {
            self.turn_window(&session, reader);
        }
    }

    fn turn_window(&mut self, session: &SessionKey, reader: &str) {
        let epoch = self.epoch;
        let Some(window) = self.windows.get_mut(session) else { return };
        let kept = window.readers.others.iter().position(|(name, _)| **name == *reader);
        let kept = kept.and_then(|at| window.readers.others.remove(at));
        let (name, shown) = kept.unwrap_or_else(|| (reader.into(), Shown::default()));
        // What came before anybody was known to be shown it is the first reader's.
        let Some(before) = window.readers.present.replace(name) else { return };
        let put_aside = window.exchange(shown);
        self.anchors.turn_to_reader(session, &before, reader, epoch);
        window.readers.others.push_back((before, put_aside));
        if window.readers.others.len() >= READERS_SHOWN_MAX
            && let Some((oldest, _)) = window.readers.others.pop_front()
        {
            self.anchors.forget_reader(session, &oldest);
        }
    }
}
