//! One anchor: a display id's meaning, how it looks, and where it is shown.

use std::rc::Rc;

use crate::foreign::ForeignRc;
use crate::keys::SessionKey;
use crate::persist::records::KeyForm;
use crate::workspaces::anchors::Target;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The session that owns the anchor.
    pub session: Rc<SessionKey>,
    pub target: Target,
    /// The revision of the anchor's meaning, as the app counts it.
    pub rev: u64,
    /// The epoch since which the anchor has had its present meaning.
    pub since: u64,
    pub ty: Option<Rc<str>>,
    pub label: ForeignRc,
    /// True when its newest ref was written with its key.
    pub keyed: bool,
    /// The form of the anchor's refs with the key, if it ever had one.
    pub key_form: Option<KeyForm>,
    /// The epoch in which the anchor was last shown.
    pub last_epoch: u64,
    /// Parameters that a link leaves open.
    pub open: Box<[String]>,
    /// The last render pass that listed the anchor.
    pub(super) render_pass: u32,
    /// True while the newest projection of its window shows it, and for what an answer offered.
    pub(super) shown: bool,
    /// True for what an answer offered: it stays when the window changes.
    pub offered: bool,
    /// The number of other sessions' windows that embed the anchor.
    pub(super) embeds: u32,
}

impl Anchor {
    /// Returns true while a window shows it, its session's own or one that embeds it, and for what
    /// an answer offered.
    pub fn is_shown(&self) -> bool {
        self.shown || self.embeds > 0
    }
}

/// The reason why a ref doesn't resolve to a live anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnchorError {
    /// The anchor's meaning changed since the reader saw it.
    Stale,
    /// Never minted here, or from an epoch not issued yet.
    NotFound,
}
