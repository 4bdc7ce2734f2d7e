//! What an answer shows, kept until its reader confirms that it came: only then does it count as
//! seen.

use std::rc::Rc;

use pipemux_proto::ids::Incarnation;

use crate::keys::SessionKey;
use crate::workspaces::{LineUpdate, Panel, Rendered, ShownVersion};

/// What a reader has seen of one window.
#[derive(Debug, Clone)]
pub struct SeenWindow {
    /// The epoch of the answer that showed it.
    pub epoch: u64,
    /// The process that it showed.
    pub app: Incarnation,
    /// The app's version that it showed.
    pub version: u64,
    /// What it showed.
    pub rendered: Rc<Rendered>,
    /// The document that was shown last, also by an answer with which later windows aren't
    /// compared.
    pub document: Option<Rc<str>>,
    /// The process and version of `rendered`, which may be older than the newest that it showed.
    pub base: ShownVersion,
    /// True when the answer showed exactly that; false when later windows are only compared with
    /// it.
    pub complete: bool,
    /// What bound names stand for, by the last answer that showed them.
    pub names: Rc<Rendered>,
    /// The prototypes that were shown with it or before, as text.
    pub prototypes: Rc<str>,
}

/// An answer on its way.
#[derive(Debug, Default)]
pub struct Delivery {
    pub number: u64,
    /// What its reader has seen once it is there.
    pub seen: Vec<(SessionKey, SeenWindow)>,
    /// What it says of line numbers, in order.
    pub lines: Vec<(SessionKey, LineUpdate)>,
    /// The newest notice that it shows.
    pub noticed: u64,
    /// The open questions that it shows.
    pub questions: Vec<u64>,
    /// The running jobs that it shows, each with how often what is shown of it had changed.
    pub running_jobs: Vec<(u64, u64)>,
    /// The jobs whose end it tells.
    pub told_jobs: Vec<u64>,
    pub epoch: u64,
    /// The ids that it offers beside its windows.
    pub ids: Vec<u64>,
    /// The windows in it, with all ids that they show.
    pub shown: Vec<(SessionKey, Rc<Rendered>)>,
    /// The revision of the set of windows, when it shows all of them.
    pub window_set_revision: Option<u64>,
    /// What its reader knows of panels by it.
    pub panels: Vec<(Panel, Rc<str>)>,
    /// The windows that it only says why it can't show, with that status.
    pub unshown: Vec<(SessionKey, String)>,
    /// The beginning of the whole context that it is.
    pub context: Option<Rc<str>>,
    /// How many ends of steps it tells whose answers its reader didn't hear.
    pub unheard: usize,
}

impl Delivery {
    /// Returns about how many bytes it keeps; a window that it shows and that counts as seen is
    /// counted once.
    pub(super) fn bytes(&self) -> usize {
        let shown: usize = self.shown.iter().map(|(_, rendered)| rendered.bytes()).sum();
        shown + (self.ids.len() + self.lines.len() * 8) * 8 + 256
    }
}
