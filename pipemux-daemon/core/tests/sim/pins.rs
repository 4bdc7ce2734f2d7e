//! Windows that keep their sessions awake.
//!
//! | law | what it holds |
//! |---|---|
//! | a pinned session stays awake | none whose window was surely pinned is asked to save its state |

use std::collections::{BTreeMap, BTreeSet};

use pipemux_proto::client::{OpenArgs, Verb};

use crate::clients::Request;
use crate::law::{Lawful, law};
use crate::places::{Place, READERS, SHARED};
use crate::sim::Sim;

/// Windows that are surely pinned: by workspace and address.
#[derive(Debug, Default)]
pub struct Pins {
    sure: BTreeMap<(usize, String), bool>,
    /// Windows that were ever to be pinned.
    asked: BTreeSet<(usize, String)>,
    /// True once something was pinned: whether it may sleep is looked at for ever.
    pub ever: bool,
}

impl Pins {
    /// Something is asked for that may change a pin: until it is answered, nothing is sure.
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

    /// The window that surely keeps a place's session awake.
    pub fn holds(&self, place: Place) -> Option<&(usize, String)> {
        let here = |(workspace, addr): &(usize, String)| Place::of(*workspace, addr) == Some(place);
        self.sure.iter().find(|(at, pinned)| **pinned && here(at)).map(|(at, _)| at)
    }

    /// True when a window may keep it awake.
    pub fn may_hold(&self, place: Place) -> bool {
        let here =
            |(workspace, addr): &&(usize, String)| Place::of(*workspace, addr) == Some(place);
        self.asked.iter().filter(here).any(|at| self.sure.get(at) != Some(&false))
    }

    /// What was written down may be lost.
    pub fn forget_all(&mut self) {
        self.sure.clear();
    }
}

impl Sim {
    /// An `open` was answered: its pin holds, unless another one, or an end, is under way.
    pub fn note_pin(&mut self, index: usize) {
        let request = &self.requests[index];
        let workspace = READERS[request.who].0;
        let Verb::Open(OpenArgs { pin: Some(pin), .. }) = &request.call.verb else { return };
        let Verb::Open(open) = &request.call.verb else { return };
        let (pin, of) = (*pin, addr(open));
        let changes = |verb: &Verb| match verb {
            Verb::Open(other) => other.pin.is_some() && addr(other) == of,
            Verb::Close { session, .. } | Verb::End { session } => session.to_string() == of,
            _ => false,
        };
        // Also what was sent after it, and has been answered before it.
        let later = self.requests[index..].iter().skip(1).any(|other| changes(&other.call.verb));
        let daemon = self.daemon.nth;
        // What a client left behind goes on.
        let goes_on = |other: &Request| other.exit.is_none() && other.daemon == daemon;
        let open = self.requests.iter().any(|other| goes_on(other) && changes(&other.call.verb));
        if request.exit == Some(0) && !later && !open {
            self.figures.count(if pin { "pinned" } else { "unpinned" });
            self.pins.sure.insert((workspace, of), pin);
        }
    }

    /// A session is asked to save its state, to be put to sleep then.
    pub fn check_sleep(&self, place: Place) -> Lawful {
        let pinned = self.pins.holds(place);
        law!(pinned.is_none(), "a pinned session stays awake", "{pinned:?}");
        Ok(())
    }
}

fn addr(open: &OpenArgs) -> String {
    let session = open.session.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("{}/{session}", open.provider)
}
