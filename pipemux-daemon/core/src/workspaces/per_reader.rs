//! Windows of apps that show each reader something else, as when each turns pages for itself.
//!
//! A window holds what *one* reader was shown: all code that resolves a ref, a label or a name,
//! compares or renders, asks for the window of the reader who is being served. Before a request of
//! another reader is served, the window is turned to that one: what it held is put aside together
//! with the anchors that it showed, and comes back with its reader. So only apps that say so
//! ([`PER_READER`](pipemux_proto::hello::PER_READER)) cost a projection for each reader, and only
//! of the readers who came last.

use crate::keys::{ReaderId, SessionKey};
use crate::workspaces::{Window, Workspace};

impl Workspace {
    /// Marks windows as outdated that still show an earlier revision of an object whose current
    /// revision an outcome has shown.
    pub fn outdate_revised(&mut self) {
        for session in self.anchors.take_revised() {
            if let Some(window) = self.windows.get_mut(&session)
                && window.rendered.is_some()
            {
                window.other_readers.outdated = true;
            }
        }
    }

    /// Turns the windows of the sessions that `per_reader` names to a reader.
    pub fn turn_to_reader(&mut self, reader: &str, per_reader: impl Fn(&SessionKey) -> bool) {
        let turned_away = |window: &&Window| {
            !window.other_readers.is_turned_to(reader) && per_reader(&window.session)
        };
        let sessions = self.windows.iter().filter(turned_away).map(|w| w.session.clone());
        let sessions: Vec<SessionKey> = sessions.collect();
        let reader = self.readers.id(reader);
        for session in sessions {
            self.turn_window(&session, &reader);
        }
    }

    fn turn_window(&mut self, session: &SessionKey, reader: &ReaderId) {
        let window = self.windows.get_mut(session);
        let Some(turned) = window.and_then(|window| window.turn_to_reader(reader)) else { return };
        self.anchors.turn_to_reader(session, &turned.from, reader, self.epoch);
        if let Some(oldest) = turned.dropped {
            self.anchors.forget_reader(session, &oldest);
        }
    }
}
