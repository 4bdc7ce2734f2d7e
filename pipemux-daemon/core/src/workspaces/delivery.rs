//! What an answer shows, kept until its reader confirms that it came: only then does it count as
//! seen.

use std::rc::Rc;

use pipemux_proto::ids::Incarnation;

use crate::keys::SessionKey;
use crate::workspaces::{LineUpdate, Panel, Rendered, ShownVersion};

/// The state of a window that a reader has seen.
#[derive(Debug, Clone)]
pub struct SeenWindow {
    /// The epoch of the answer that showed the window.
    pub epoch: u64,
    /// The process that the window showed.
    pub app: Incarnation,
    /// The app's version that the window showed.
    pub version: u64,
    /// The rendered window.
    pub rendered: Rc<Rendered>,
    /// The document shown last, including by answers that aren't compared with later windows.
    pub document: Option<Rc<str>>,
    /// The process and version of `rendered`, which may be older than the newest that it showed.
    pub base: ShownVersion,
    /// True if the answer showed exactly `rendered`; false if `rendered` is only the base for
    /// comparing later windows.
    pub complete: bool,
    /// The bound names as of the last answer that showed them.
    pub names: Rc<Rendered>,
    /// The text of the prototypes that were shown with the window or before.
    pub prototypes: Rc<str>,
}

/// An answer that is being delivered.
#[derive(Debug, Default)]
pub struct Delivery {
    pub number: u64,
    /// The windows that count as seen by the reader once the answer arrives.
    pub seen: Vec<(SessionKey, SeenWindow)>,
    /// The line numbers that the answer reports, in order.
    pub lines: Vec<(SessionKey, LineUpdate)>,
    /// The newest notice in the answer.
    pub noticed: u64,
    /// The open questions in the answer.
    pub questions: Vec<u64>,
    /// The running jobs in the answer, each with the number of changes to its display so far.
    pub running_jobs: Vec<(u64, u64)>,
    /// The jobs whose ends the answer reports.
    pub told_jobs: Vec<u64>,
    pub epoch: u64,
    /// The ids that the answer offers beside its windows.
    pub ids: Vec<u64>,
    /// The windows in the answer, with all ids that they show.
    pub shown: Vec<(SessionKey, Rc<Rendered>)>,
    /// The revision of the set of windows, if the answer shows all of them.
    pub window_set_revision: Option<u64>,
    /// The panels as known to the reader from this answer.
    pub panels: Vec<(Panel, Rc<str>)>,
    /// The windows that can't be shown, with the status that is reported instead.
    pub unshown: Vec<(SessionKey, String)>,
    /// The beginning of the answer, if it is a whole context.
    pub context: Option<Rc<str>>,
    /// The number of reported ends of steps whose own answers the reader didn't receive.
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
