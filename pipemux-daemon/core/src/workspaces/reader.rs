//! What a reader has seen of a workspace, and what is on its way to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use pipemux_proto::ids::Incarnation;
use pipemux_proto::table::Table;

use crate::event::Now;
use crate::keys::SessionKey;
use crate::limits::{DELIVERIES_MAX, FAILURES_MAX};
use crate::runs::Run;
use crate::views::window_renderer::Rendered;
use crate::workspaces::Rank;

/// What one reader has seen.
#[derive(Debug, Default)]
pub struct Reader {
    /// By session.
    pub seen: BTreeMap<SessionKey, SeenWindow>,
    /// The epoch of the newest answer that showed an id.
    pub known: Rc<Table<u64, u64>>,
    /// Answers that were sent but not confirmed yet.
    pub deliveries: VecDeque<Delivery>,
    /// Notices up to this one were shown.
    pub noticed: u64,
    /// When it last asked for something.
    pub heard: Now,
    /// A run whose next step was refused as stale, or whose end isn't known: `answer go` sends it.
    pub kept: Option<Box<Run>>,
    /// The call that failed last, and how often in a row.
    pub failures: (String, u32),
    /// The desk that it knows.
    pub window_set_revision: u64,
    /// Windows that may have changed since it saw them, all of those that have among them.
    pub dirty_windows: BTreeSet<Rank>,
}

/// What a reader has of one window.
#[derive(Debug, Clone)]
pub struct SeenWindow {
    /// The epoch of the answer that brought it.
    pub epoch: u64,
    /// The process and version that it showed.
    pub app: Incarnation,
    /// The app's version that it showed.
    pub version: u64,
    /// What it showed.
    pub rendered: Rc<Rendered>,
    /// True when that is what the answer showed, and not only what is compared with.
    pub whole: bool,
    /// What bound names stand for: as the last answer that showed them said.
    pub names: Rc<Rendered>,
    /// The prototypes that were shown with it or before, as text.
    pub prototypes: Rc<str>,
}

/// An answer on its way.
#[derive(Debug)]
pub struct Delivery {
    /// Its number.
    pub number: u64,
    /// What it shows.
    pub seen: Vec<(SessionKey, SeenWindow)>,
    /// The newest notice that it shows.
    pub noticed: u64,
    /// Its epoch.
    pub epoch: u64,
    /// The ids that it offers beside its windows.
    pub ids: Vec<u64>,
    /// The windows in it: every id that they show.
    pub shown: Vec<(SessionKey, Rc<Rendered>)>,
    /// The window_set_revision, when all windows are shown.
    pub window_set_revision: Option<u64>,
}

impl Reader {
    /// Counts a failure of a call. Returns true when it is time to step back.
    pub fn fails(&mut self, call: &str) -> bool {
        if self.failures.0 == call {
            self.failures.1 += 1;
        } else {
            self.failures = (call.to_owned(), 1);
        }
        self.failures.1 >= FAILURES_MAX
    }

    /// Keeps a delivery until it is confirmed; the oldest makes room.
    pub fn deliver(&mut self, delivery: Delivery) {
        self.deliveries.push_back(delivery);
        if self.deliveries.len() > DELIVERIES_MAX {
            self.deliveries.pop_front();
        }
    }
}
