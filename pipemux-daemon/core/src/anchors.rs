//! The anchor table of a workspace: display ids, what they stand for, and since when.
//!
//! **Invariant: an id is never given to another thing.** Ids only rise; an identity keeps its id for
//! as long as it is remembered.
//!
//! **Invariant: what isn't minted is never live.** Only [`AnchorTable::mint`] makes an anchor.

use std::collections::{HashMap, HashSet};

use pipemux_proto::projection::Args;
use pipemux_proto::refs::RefKind;

use crate::keys::SessionKey;
use crate::limits::{ANCHORS_MAX, VANISHED_EPOCHS};
use crate::saved::{SavedAnchor, SavedTarget};

/// What an anchor stands for, for ever.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A thing of a session.
    Object {
        /// The app's own name of it.
        key: String,
    },
    /// An action of a session with its bound arguments.
    Action {
        /// The action.
        action: String,
        /// The arguments: another argument is another link.
        args: Args,
    },
    /// An answer to a question.
    Answer {
        /// The question.
        question: u64,
        /// What is answered, as it would be typed.
        answer: String,
    },
}

impl Target {
    fn kind(&self) -> RefKind {
        match self {
            Target::Object { .. } => RefKind::Obj,
            Target::Action { .. } | Target::Answer { .. } => RefKind::Link,
        }
    }
}

/// One anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The owner.
    pub session: SessionKey,
    /// What it stands for.
    pub target: Target,
    /// Its meaning, as the app counts it.
    pub rev: u64,
    /// The epoch since which it stands for that meaning.
    pub since: u64,
    /// Its type.
    pub ty: Option<String>,
    /// What is shown for it.
    pub label: String,
    /// True while the newest projection of its window shows it, and for what an answer offered.
    pub shown: bool,
    /// The epoch in which it was last shown.
    pub last_epoch: u64,
    /// True for what an answer offered: it stays when the window changes.
    pub offered: bool,
    /// Parameters that a link leaves open.
    pub open: Vec<String>,
}

/// Why a ref doesn't lead to a live thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Miss {
    /// Its meaning changed since the reader saw it.
    Stale,
    /// Never minted here, or from an epoch not issued yet.
    NotFound,
}

/// All anchors of a workspace.
#[derive(Debug, Default)]
pub struct AnchorTable {
    anchors: HashMap<u64, Anchor>,
    ids: HashMap<(SessionKey, Target), u64>,
    /// Things by the app's own name of them, whichever app's.
    keys: HashMap<String, Vec<u64>>,
    /// What each session's newest projection shows.
    windows: HashMap<SessionKey, Vec<u64>>,
    /// What the answer that is being written offers beside its windows.
    offered: Vec<u64>,
    /// Minted since that was last asked, but for what was offered.
    fresh: Vec<u64>,
    /// The epoch in which vanished anchors were last forgotten.
    forgot: u64,
    next: u64,
}

impl AnchorTable {
    /// With ids from `next` on: what may have been used before isn't used again.
    pub fn starting_at(next: u64) -> Self {
        Self { next: next.max(1), ..Self::default() }
    }

    /// Every anchor stands since an epoch, and was shown in it: nobody saw a later one of theirs.
    pub fn all_stand_since(&mut self, epoch: u64) {
        for anchor in self.anchors.values_mut() {
            (anchor.since, anchor.last_epoch) = (epoch, epoch);
        }
    }

    /// The next id that would be minted.
    pub fn next_id(&self) -> u64 {
        self.next
    }

    /// The id for a thing that is being shown in `epoch`; the same as before when it has one. Returns
    /// the id, and true when it is new or its meaning changed.
    pub fn mint(
        &mut self,
        session: &SessionKey,
        target: Target,
        shown: Shown<'_>,
        epoch: u64,
    ) -> (u64, bool) {
        let identity = (session.clone(), target);
        if let Some(id) = self.ids.get(&identity)
            && let Some(anchor) = self.anchors.get_mut(id)
        {
            let changed = anchor.rev != shown.rev;
            if changed {
                anchor.rev = shown.rev;
                anchor.since = epoch;
            }
            anchor.shown = true;
            anchor.last_epoch = epoch;
            if shown.offered {
                anchor.offered = true;
                self.offered.push(*id);
            } else {
                self.windows.entry(session.clone()).or_default().push(*id);
            }
            anchor.ty = shown.ty.map(Into::into);
            anchor.open = shown.open.to_vec();
            if anchor.label != shown.label {
                anchor.label = shown.label.into();
            }
            return (*id, changed);
        }
        let id = self.next;
        self.next += 1;
        let anchor = Anchor {
            session: session.clone(),
            target: identity.1.clone(),
            rev: shown.rev,
            since: epoch,
            ty: shown.ty.map(Into::into),
            label: shown.label.into(),
            shown: true,
            last_epoch: epoch,
            offered: shown.offered,
            open: shown.open.to_vec(),
        };
        self.note_key(id, &identity.1);
        self.anchors.insert(id, anchor);
        if shown.offered {
            self.offered.push(id);
        } else {
            self.fresh.push(id);
            self.windows.entry(session.clone()).or_default().push(id);
        }
        self.ids.insert(identity, id);
        (id, true)
    }

    /// Marks all of a session's anchors as no longer shown: a new projection is about to be written,
    /// or the window was closed.
    pub fn hide_session(&mut self, session: &SessionKey, epoch: u64) {
        for id in self.windows.remove(session).unwrap_or_default() {
            if let Some(anchor) = self.anchors.get_mut(&id) {
                anchor.shown = anchor.offered;
                anchor.last_epoch = epoch;
            }
        }
    }

    /// What was minted since this was last asked, to be written down: a key keeps its id when a later
    /// daemon shows it again.
    pub fn take_fresh(&mut self) -> Vec<SavedAnchor> {
        let fresh = std::mem::take(&mut self.fresh);
        fresh.into_iter().filter_map(|id| saved_anchor(id, self.anchors.get(&id)?)).collect()
    }

    /// All that may be shown again.
    pub fn to_saved(&self) -> Vec<SavedAnchor> {
        let mut all: Vec<SavedAnchor> =
            self.anchors.iter().filter_map(|(id, anchor)| saved_anchor(*id, anchor)).collect();
        all.sort_by_key(|anchor| anchor.id);
        all
    }

    /// Takes in what an earlier daemon minted. Nobody has seen it in this one's time: a ref to it is
    /// stale until it is shown.
    pub fn restore(&mut self, saved: SavedAnchor, epoch: u64) {
        let Ok(addr) = saved.session.parse() else { return };
        let session = SessionKey { workspace: saved.workspace.map(Into::into), addr };
        let target = match saved.target {
            SavedTarget::Object { key } => Target::Object { key },
            SavedTarget::Action { action, args } => match pipemux_proto::decode(&args) {
                Ok(args) => Target::Action { action, args },
                Err(_) => return,
            },
        };
        let anchor = Anchor {
            session: session.clone(),
            target: target.clone(),
            rev: saved.rev,
            since: epoch,
            ty: saved.ty,
            label: saved.label,
            shown: false,
            last_epoch: epoch,
            offered: false,
            open: Vec::new(),
        };
        self.next = self.next.max(saved.id + 1);
        if !self.anchors.contains_key(&saved.id) {
            self.note_key(saved.id, &target);
        }
        self.ids.insert((session, target), saved.id);
        self.anchors.insert(saved.id, anchor);
    }

    /// Goes on from these ids, or from behind the last one that is known.
    pub fn go_on_from(&mut self, next: u64) {
        let used = self.anchors.keys().max().map_or(0, |id| id + 1);
        self.next = next.max(used).max(1);
    }

    /// What was offered since this was last asked.
    pub fn take_offered(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.offered)
    }

    /// How many anchors there are.
    pub fn len(&self) -> usize {
        self.anchors.len()
    }

    /// True when an id is remembered.
    pub fn has(&self, id: u64) -> bool {
        self.anchors.contains_key(&id)
    }

    /// The anchor of an id, whatever its state.
    pub fn get(&self, kind: RefKind, id: u64) -> Option<&Anchor> {
        self.anchors.get(&id).filter(|anchor| anchor.target.kind() == kind)
    }

    /// The things that a session's newest projection shows, in the order of their ids.
    pub fn shown_objects(&self, session: &SessionKey) -> Vec<(u64, &Anchor)> {
        let mut ids: Vec<u64> = self.windows.get(session).cloned().unwrap_or_default();
        ids.sort_unstable();
        ids.dedup();
        let found = ids.into_iter().filter_map(|id| Some((id, self.get(RefKind::Obj, id)?)));
        found.collect()
    }

    /// The id of a thing, if it has one.
    pub fn id_of(&self, session: &SessionKey, key: &str) -> Option<u64> {
        let target = Target::Object { key: key.to_owned() };
        self.ids.get(&(session.clone(), target)).copied()
    }

    /// Things with that key, in the order of their ids.
    pub fn by_key<'a>(&'a self, key: &'a str) -> Vec<(u64, &'a Anchor)> {
        let ids = self.keys.get(key).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<_> =
            ids.iter().filter_map(|id| Some((*id, self.anchors.get(id)?))).collect();
        found.retain(|(_, anchor)| matches!(&anchor.target, Target::Object { key: k } if k == key));
        found.sort_by_key(|(id, _)| *id);
        found
    }

    /// Checks that a reader who saw the workspace in epoch `seen` means what the anchor stands for
    /// now; `issued` is the newest epoch there is.
    ///
    /// # Errors
    /// Unknown, from the future, or changed since.
    pub fn check(&self, kind: RefKind, id: u64, seen: u64, issued: u64) -> Result<&Anchor, Miss> {
        let anchor = self.get(kind, id).ok_or(Miss::NotFound)?;
        if seen > issued {
            Err(Miss::NotFound)
        } else if seen < anchor.since {
            Err(Miss::Stale)
        } else {
            Ok(anchor)
        }
    }

    /// Forgets links that vanished [`VANISHED_EPOCHS`] ago, and past [`ANCHORS_MAX`] the things
    /// longest unseen. A thing that comes back after that gets a new id, never an old one.
    pub fn forget(&mut self, epoch: u64) {
        let crowded = self.anchors.len() > ANCHORS_MAX;
        if epoch < self.forgot + VANISHED_EPOCHS / 4 && !crowded {
            return;
        }
        self.forgot = epoch;
        let past = epoch.saturating_sub(VANISHED_EPOCHS);
        let visible: HashSet<u64> = self.windows.values().flatten().copied().collect();
        self.remove(|id, anchor| {
            let link = anchor.target.kind() == RefKind::Link;
            link && anchor.last_epoch < past && !visible.contains(&id)
        });
        if crowded {
            let mut epochs: Vec<u64> = self.anchors.values().map(|a| a.last_epoch).collect();
            epochs.sort_unstable();
            let cut = epochs.get(epochs.len().saturating_sub(ANCHORS_MAX / 2)).copied();
            let cut = cut.unwrap_or(epoch);
            self.remove(|id, anchor| anchor.last_epoch < cut && !visible.contains(&id));
        }
    }

    /// Forgets all of a session that ended for good.
    pub fn forget_session(&mut self, session: &SessionKey) {
        self.windows.remove(session);
        self.remove(|_, anchor| anchor.session == *session);
    }

    fn remove(&mut self, gone: impl Fn(u64, &Anchor) -> bool) {
        self.anchors.retain(|id, anchor| !gone(*id, anchor));
        let anchors = &self.anchors;
        self.ids.retain(|_, id| anchors.contains_key(id));
        self.keys.retain(|_, ids| {
            ids.retain(|id| anchors.contains_key(id));
            !ids.is_empty()
        });
    }

    fn note_key(&mut self, id: u64, target: &Target) {
        if let Target::Object { key } = target {
            self.keys.entry(key.clone()).or_default().push(id);
        }
    }
}

fn saved_anchor(id: u64, anchor: &Anchor) -> Option<SavedAnchor> {
    let target = match &anchor.target {
        Target::Object { key } => SavedTarget::Object { key: key.clone() },
        Target::Action { action, args } if !anchor.offered => SavedTarget::Action {
            action: action.clone(),
            args: pipemux_proto::encode(args).ok()?.into(),
        },
        Target::Action { .. } | Target::Answer { .. } => return None,
    };
    Some(SavedAnchor {
        id,
        workspace: anchor.session.workspace.as_deref().map(Into::into),
        session: anchor.session.to_string(),
        target,
        rev: anchor.rev,
        ty: anchor.ty.clone(),
        label: anchor.label.clone(),
    })
}

/// How a thing is shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown<'a> {
    /// Its meaning, as the app counts it.
    pub rev: u64,
    /// Its type.
    pub ty: Option<&'a str>,
    /// What is shown for it.
    pub label: &'a str,
    /// Parameters that a link leaves open.
    pub open: &'a [String],
    /// True for what an answer offers beside the window: `undo`. It stays when the window changes.
    pub offered: bool,
}
