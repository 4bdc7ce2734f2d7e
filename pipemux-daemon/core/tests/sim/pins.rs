//! Pinned windows, which keep their sessions awake.
//!
//! | law | why it must hold |
//! |---|---|
//! | a pinned session stays awake | its user wants no delay and no restart; it is never asked to save its state |

use std::collections::{BTreeMap, BTreeSet};

use pipemux_proto::client::{OpenArgs, Verb};

use crate::law::{LawResult, law};
use crate::requests::Request;
use crate::sessions::{READERS, SHARED, SessionKey};
use crate::sim::Sim;

/// Whether each window is pinned, as far as that is certain.
#[derive(Debug, Default)]
pub struct Pins {
    sure: BTreeMap<(usize, String), bool>,
    /// Windows for which a pin was ever requested.
    asked: BTreeSet<(usize, String)>,
    /// True once something was pinned: the daemon then checks for ever whether it may sleep, so
    /// timers never run out.
    pub ever: bool,
}

impl Pins {
    /// A request that may change a pin is sent: until it is answered, the pin is uncertain.
    pub fn unsure(&mut self, workspace: usize, verb: &Verb) {
        match verb {
            Verb::Open(open) if open.pin.is_some() => {
                if open.pin == Some(true) {
                    self.ever = true;
                    self.asked.insert((workspace, addr(open)));
                }
                self.sure.remove(&(workspace, addr(open)));
            }
            Verb::Close { session, .. } | Verb::End { session } => {
                let gone = session.to_string();
                let everywhere = gone == SHARED;
                self.sure
                    .retain(|(of, addr), _| *addr != gone || (!everywhere && *of != workspace));
            }
            _ => {}
        }
    }

    /// Returns the window that certainly keeps a session awake.
    pub fn holds(&self, session_key: SessionKey) -> Option<&(usize, String)> {
        let here = |(workspace, addr): &(usize, String)| {
            SessionKey::of(*workspace, addr) == Some(session_key)
        };
        self.sure.iter().find(|(at, pinned)| **pinned && here(at)).map(|(at, _)| at)
    }

    /// True when a window may keep it awake.
    pub fn may_keep_awake(&self, session_key: SessionKey) -> bool {
        let here = |(workspace, addr): &&(usize, String)| {
            SessionKey::of(*workspace, addr) == Some(session_key)
        };
        self.asked.iter().filter(here).any(|at| self.sure.get(at) != Some(&false))
    }

    /// Records may be lost, so nothing is certain.
    pub fn forget_all(&mut self) {
        self.sure.clear();
    }
}

impl Sim {
    /// An `open` was answered: its pin is certain, unless another request that may change it is
    /// under way.
    pub fn note_pin(&mut self, index: usize) {
        let request = &self.requests[index];
        let workspace = READERS[request.who].0;
        let Verb::Open(open @ OpenArgs { pin: Some(pin), .. }) = &request.call.verb else { return };
        let (pin, of) = (*pin, addr(open));
        let changes = |verb: &Verb| match verb {
            Verb::Open(other) => other.pin.is_some() && addr(other) == of,
            Verb::Close { session, .. } | Verb::End { session } => session.to_string() == of,
            _ => false,
        };
        // A request that was sent later may have been answered earlier.
        let later = self.requests[index..].iter().skip(1).any(|other| changes(&other.call.verb));
        let daemon = self.daemon.nth;
        // The request of a client that vanished may still be carried out.
        let goes_on = |other: &Request| other.exit.is_none() && other.daemon == daemon;
        let open = self.requests.iter().any(|other| goes_on(other) && changes(&other.call.verb));
        if request.exit == Some(0) && !later && !open {
            self.statistics.count(if pin { "pinned" } else { "unpinned" });
            self.pins.sure.insert((workspace, of), pin);
        }
    }

    /// Checks that a session that is asked to save its state is not pinned.
    pub fn check_sleep(&self, session_key: SessionKey) -> LawResult {
        let pinned = self.pins.holds(session_key);
        law!(pinned.is_none(), "a pinned session stays awake", "{pinned:?}");
        Ok(())
    }
}

fn addr(open: &OpenArgs) -> String {
    let session = open.session.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("{}/{session}", open.provider)
}
