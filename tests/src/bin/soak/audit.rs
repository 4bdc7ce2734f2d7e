//! Checks that the edits which were answered as done are there.

use std::fs;
use std::thread;
use std::time::Duration;

use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::projection::Lod;

use crate::client::{Client, TIMEOUT};
use crate::model::Expected;
use crate::plan::{Kind, SoakSession};

/// How often the last check of a session is tried.
const TRIES: usize = 20;

impl Client {
    /// Checks every session, until each of them could be viewed.
    pub fn audit_all(&mut self) {
        for session in self.sessions.clone() {
            let mut tries = 0;
            while !self.audit(&session) {
                tries += 1;
                if tries == TRIES {
                    let session = &session.address;
                    self.soak.report_failure(format!("{}: {session} can't be viewed", self.name));
                    break;
                }
                self.open(&session);
                thread::sleep(Duration::from_millis(200));
            }
        }
        let present = self.model.present_count() as u64;
        self.soak.count(|counters| counters.promised += present);
    }

    /// Checks one session; returns false when it can't be viewed now.
    pub fn audit(&mut self, session: &SoakSession) -> bool {
        let text = match session.kind {
            Kind::Rogue => return true,
            Kind::Editor => {
                let saved = self.run_code(session, "save", &format!("{}.save()", session.address));
                if saved.exit != 0 {
                    return false;
                }
                match fs::read_to_string(self.soak.env.path(&session.file)) {
                    Ok(text) => text,
                    Err(error) => {
                        self.soak.report_failure(format!("{}: {error}", session.file));
                        return false;
                    }
                }
            }
            Kind::Notebook => {
                let Ok(session) = session.address.parse() else { return false };
                let view = Verb::View(ViewArgs { session: Some(session), ..ViewArgs::default() });
                let mut call = self.connection.call(view);
                (call.budget, call.lod) = (Some(100_000), Some(Lod::Summary));
                let seen = self.ask("view", |connection| connection.send(&call, TIMEOUT));
                if seen.exit != 0 || seen.text.contains("busy") {
                    return false;
                }
                seen.text
            }
        };
        self.compare(session, &text);
        true
    }

    fn compare(&mut self, session: &SoakSession, text: &str) {
        let (mut checked, mut wrong) = (0, Vec::new());
        for (marker, known) in self.model.known(&session.address) {
            let times = match session.kind {
                Kind::Notebook => text.matches(&format!("[{marker}](obj:")).count(),
                Kind::Editor | Kind::Rogue => text.matches(marker).count(),
            };
            let fine = match known {
                Expected::Present => times == 1,
                Expected::Absent => times == 0,
                Expected::Uncertain => times <= 1,
            };
            checked += 1;
            if !fine {
                wrong.push(format!(
                    "{}: {marker} is {known:?}, but {times} times there",
                    session.address
                ));
            }
        }
        self.soak.count(|counters| counters.checked += checked);
        for what in wrong {
            self.soak.report_failure(what);
        }
    }
}
