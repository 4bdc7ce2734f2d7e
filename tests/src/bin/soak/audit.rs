//! Looks whether what a client was promised is there.

use std::fs;
use std::thread;
use std::time::Duration;

use pipemux_proto::client::{Verb, View};
use pipemux_proto::projection::Lod;

use crate::client::{Client, PATIENCE};
use crate::model::Known;
use crate::plan::{Kind, Place};

/// Tries of the last look at a session.
const TRIES: usize = 20;

impl Client {
    /// Looks at every session, until each has been seen.
    pub fn audit_all(&mut self) {
        for place in self.places.clone() {
            let mut tries = 0;
            while !self.audit(&place) {
                tries += 1;
                if tries == TRIES {
                    let session = &place.session;
                    self.ground.complain(format!("{}: {session} can't be looked at", self.name));
                    break;
                }
                self.open(&place);
                thread::sleep(Duration::from_millis(200));
            }
        }
        let there = self.model.there() as u64;
        self.ground.count(|tally| tally.promised += there);
    }

    /// Looks at one session; false when it can't be seen now.
    pub fn audit(&mut self, place: &Place) -> bool {
        let text = match place.kind {
            Kind::Rogue => return true,
            Kind::Editor => {
                let saved = self.say(place, "save", &format!("{}.save()", place.session));
                if saved.exit != 0 {
                    return false;
                }
                match fs::read_to_string(self.ground.world.path(&place.file)) {
                    Ok(text) => text,
                    Err(error) => {
                        self.ground.complain(format!("{}: {error}", place.file));
                        return false;
                    }
                }
            }
            Kind::Notebook => {
                let Ok(session) = place.session.parse() else { return false };
                let view = Verb::View(View { session: Some(session), ..View::default() });
                let mut call = self.desk.call(view);
                (call.budget, call.lod) = (Some(100_000), Some(Lod::Summary));
                let seen = self.hear("view", |desk| desk.send(&call, PATIENCE));
                if seen.exit != 0 || seen.text.contains("busy") {
                    return false;
                }
                seen.text
            }
        };
        self.compare(place, &text);
        true
    }

    fn compare(&mut self, place: &Place, text: &str) {
        let (mut looked, mut wrong) = (0, Vec::new());
        for (mark, known) in self.model.known(&place.session) {
            let times = match place.kind {
                Kind::Notebook => text.matches(&format!("[{mark}](obj:")).count(),
                Kind::Editor | Kind::Rogue => text.matches(mark).count(),
            };
            let fine = match known {
                Known::There => times == 1,
                Known::Gone => times == 0,
                Known::Perhaps => times <= 1,
            };
            looked += 1;
            if !fine {
                wrong.push(format!(
                    "{}: {mark} is {known:?}, but {times} times there",
                    place.session
                ));
            }
        }
        self.ground.count(|tally| tally.looked += looked);
        for what in wrong {
            self.ground.complain(what);
        }
    }
}
