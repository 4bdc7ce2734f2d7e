//! One anchor: a display id's meaning, how it looks, and where it is shown.

use std::rc::Rc;

use crate::foreign::ForeignRc;
use crate::keys::SessionKey;
use crate::persist::records::KeyForm;
use crate::workspaces::anchors::Target;

/// One anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The session that owns it.
    pub session: Rc<SessionKey>,
    /// What it stands for.
    pub target: Target,
    /// The revision of its meaning, as the app counts it.
    pub rev: u64,
    /// The epoch since which it stands for that meaning.
    pub since: u64,
    pub ty: Option<Rc<str>>,
    pub label: ForeignRc,
    /// True when its newest ref was written with its key.
    pub keyed: bool,
    /// The form of its refs with the key, if it ever had one.
    pub key_form: Option<KeyForm>,
    /// The epoch in which it was last shown.
    pub last_epoch: u64,
    /// Parameters that a link leaves open.
    pub open: Box<[String]>,
    /// The render pass that listed it last.
    pub(super) render_pass: u32,
    /// True while the newest projection of its window shows it, and for what an answer offered.
    pub(super) shown: bool,
    /// True for what an answer offered: it stays when the window changes.
    pub offered: bool,
    /// How many windows of other sessions show it inside of theirs.
    pub(super) embeds: u32,
}

impl Anchor {
    /// Returns true while a window shows it, its session's own or one that embeds it, and for what
    /// an answer offered.
    pub fn is_shown(&self) -> bool {
        self.shown || self.embeds > 0
    }
}

/// Why a ref doesn't lead to a live anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnchorError {
    /// Its meaning changed since the reader saw it.
    Stale,
    /// Never minted here, or from an epoch not issued yet.
    NotFound,
}
