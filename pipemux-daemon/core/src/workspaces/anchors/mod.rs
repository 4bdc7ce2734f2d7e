//! The anchor table of a workspace: display ids, what they stand for, and since when.
//!
//! **Invariant: an id is never given to another thing.** Ids only rise; an identity keeps its id for
//! as long as it is remembered.
//!
//! **Invariant: what isn't minted is never live.** Only [`AnchorTable::mint`] makes an anchor.

mod forget;
mod session_anchors;
mod target;

use std::collections::HashMap;
use std::rc::Rc;

use pipemux_proto::refs::RefKind;
use pipemux_proto::table::Table;

use crate::keys::SessionKey;
use crate::persist::records::{SavedAnchor, SavedTarget};

use session_anchors::SessionAnchors;
pub use target::{AnchorQuery, Appearance, Bound, Minted, Target};

/// One anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The owner.
    pub session: Rc<SessionKey>,
    /// What it stands for.
    pub target: Target,
    /// Its meaning, as the app counts it.
    pub rev: u64,
    /// The epoch since which it stands for that meaning.
    pub since: u64,
    /// Its type.
    pub ty: Option<Rc<str>>,
    /// What is shown for it.
    pub label: Rc<str>,
    /// The epoch in which it was last shown.
    pub last_epoch: u64,
    /// Parameters that a link leaves open.
    pub open: Box<[String]>,
    /// The painting of a window that listed it last.
    render_pass: u32,
    /// True while the newest projection of its window shows it, and for what an answer offered.
    pub shown: bool,
    /// True for what an answer offered: it stays when the window changes.
    pub offered: bool,
}

/// Why a ref doesn't lead to a live thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnchorError {
    /// Its meaning changed since the reader saw it.
    Stale,
    /// Never minted here, or from an epoch not issued yet.
    NotFound,
}

/// All anchors of a workspace.
#[derive(Debug, Default)]
pub struct AnchorTable {
    anchors: Table<u64, Box<Anchor>>,
    /// Those of each session, and where they are: a [`SessionIndex`].
    owned: Vec<SessionAnchors>,
    slots: HashMap<Rc<SessionKey>, usize>,
    /// What the answer that is being written offers beside its windows.
    offered: Vec<u64>,
    /// Minted since that was last asked, but for what was offered.
    fresh: Vec<u64>,
    /// Links that may be shown no more, all of those that aren't among them.
    eviction_candidates: Table<u64, ()>,
    /// Counts render_passes of windows: see [`Anchor`].
    render_passes: u32,
    /// The epoch in which vanished anchors were last forgotten.
    forgot: u64,
    next: u64,
}

/// Where a session's anchors are. Holds until anchors are forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionIndex(usize);

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

    /// Where a session's anchors are, or will be.
    pub fn slot(&mut self, session: &SessionKey) -> SessionIndex {
        if let Some(slot) = self.slots.get(session) {
            return SessionIndex(*slot);
        }
        let session = Rc::new(session.clone());
        self.slots.insert(session.clone(), self.owned.len());
        self.owned.push(SessionAnchors::new(session));
        SessionIndex(self.owned.len() - 1)
    }

    /// The id for a thing that is being shown in `epoch`; the same as before when it has one.
    pub fn mint(
        &mut self,
        slot: SessionIndex,
        wanted: AnchorQuery<'_>,
        shown: Appearance<'_>,
        epoch: u64,
    ) -> Minted {
        let owned = &mut self.owned[slot.0];
        if let Some(id) = owned.find(wanted, &self.anchors)
            && let Some(anchor) = self.anchors.get_mut(&id)
        {
            let changed = anchor.rev != shown.rev;
            let retyped = anchor.ty.as_deref() != shown.ty;
            if shown.listed {
                if anchor.render_pass == self.render_passes && (changed || retyped) {
                    return Minted { id, changed: false, conflict: true };
                }
                anchor.render_pass = self.render_passes;
            }
            if changed {
                anchor.rev = shown.rev;
                anchor.since = epoch;
            }
            anchor.shown = true;
            anchor.last_epoch = epoch;
            if shown.offered {
                anchor.offered = true;
                self.offered.push(id);
                self.eviction_candidates.insert(id, ());
            } else {
                owned.shown.push(id);
            }
            if retyped {
                anchor.ty = owned.type_of(shown.ty);
            }
            if *anchor.open != *shown.open {
                anchor.open = shown.open.into();
            }
            if *anchor.label != *shown.label {
                anchor.label = shared_label(&anchor.target, shown.label);
            }
            return Minted { id, changed, conflict: false };
        }
        let id = self.next;
        self.next += 1;
        let target = wanted.to_target();
        owned.insert(&target, id);
        let anchor = Anchor {
            session: owned.session.clone(),
            rev: shown.rev,
            since: epoch,
            ty: owned.type_of(shown.ty),
            label: shared_label(&target, shown.label),
            shown: true,
            last_epoch: epoch,
            offered: shown.offered,
            open: shown.open.into(),
            render_pass: if shown.listed { self.render_passes } else { 0 },
            target,
        };
        self.anchors.insert(id, Box::new(anchor));
        if shown.offered {
            self.offered.push(id);
            self.eviction_candidates.insert(id, ());
        } else {
            self.fresh.push(id);
            owned.shown.push(id);
        }
        Minted { id, changed: true, conflict: false }
    }

    /// Marks all of a session's anchors as no longer shown: a new projection is about to be written,
    /// or the window was closed.
    pub fn hide_session(&mut self, session: &SessionKey, epoch: u64) {
        self.render_passes = self.render_passes.wrapping_add(1).max(1);
        let Some(owned) = self.slots.get(session).and_then(|slot| self.owned.get_mut(*slot)) else {
            return;
        };
        (owned.before, owned.met) = (std::mem::take(&mut owned.shown), 0);
        for id in &owned.before {
            if let Some(anchor) = self.anchors.get_mut(id) {
                anchor.shown = anchor.offered;
                anchor.last_epoch = epoch;
                if anchor.target.kind() == RefKind::Link {
                    self.eviction_candidates.insert(*id, ());
                }
            }
        }
        owned.shown.reserve_exact(owned.before.len());
    }

    /// The session's new projection is written.
    pub fn end_render_pass(&mut self, slot: SessionIndex) {
        if let Some(owned) = self.owned.get_mut(slot.0) {
            owned.before = Vec::new();
            owned.shown.shrink_to_fit();
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
            SavedTarget::Object { key } => Target::Object { key: key.into() },
            SavedTarget::Action { action, args } => match pipemux_proto::decode(&args) {
                Ok(args) => Target::Action(Rc::new(Bound { action, args })),
                Err(_) => return,
            },
        };
        let SessionIndex(slot) = self.slot(&session);
        let owned = &mut self.owned[slot];
        owned.insert(&target, saved.id);
        let anchor = Anchor {
            session: owned.session.clone(),
            rev: saved.rev,
            since: epoch,
            ty: owned.type_of(saved.ty.as_deref()),
            label: shared_label(&target, &saved.label),
            shown: false,
            last_epoch: epoch,
            offered: false,
            open: Box::default(),
            render_pass: 0,
            target,
        };
        self.next = self.next.max(saved.id + 1);
        if anchor.target.kind() == RefKind::Link {
            self.eviction_candidates.insert(saved.id, ());
        }
        self.anchors.insert(saved.id, Box::new(anchor));
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
        let anchor = self.anchors.get(&id)?;
        (anchor.target.kind() == kind).then_some(anchor)
    }

    /// The things that a session's newest projection shows, in the order of their ids.
    pub fn shown_objects(&self, session: &SessionKey) -> Vec<(u64, &Anchor)> {
        let slot = self.slots.get(session).and_then(|slot| self.owned.get(*slot));
        let mut ids = slot.map_or(Vec::new(), |owned| owned.shown.clone());
        ids.sort_unstable();
        ids.dedup();
        let found = ids.into_iter().filter_map(|id| Some((id, self.get(RefKind::Obj, id)?)));
        found.collect()
    }

    /// The id of a thing, if it has one.
    pub fn id_of(&self, session: &SessionKey, key: &str) -> Option<u64> {
        let owned = self.slots.get(session).and_then(|slot| self.owned.get(*slot))?;
        owned.things.get(key).copied()
    }

    /// Things with that key, whichever app's, in the order of their ids.
    pub fn by_key(&self, key: &str) -> Vec<(u64, &Anchor)> {
        let ids = self.owned.iter().filter_map(|owned| owned.things.get(key));
        let mut found: Vec<_> = ids.filter_map(|id| Some((*id, self.anchors.get(id)?))).collect();
        found.sort_by_key(|(id, _)| *id);
        found.into_iter().map(|(id, anchor)| (id, &**anchor)).collect()
    }

    /// Checks that a reader who saw the workspace in epoch `seen` means what the anchor stands for
    /// now; `issued` is the newest epoch there is.
    ///
    /// # Errors
    /// Unknown, from the future, or changed since.
    pub fn check(
        &self,
        kind: RefKind,
        id: u64,
        seen: u64,
        issued: u64,
    ) -> Result<&Anchor, AnchorError> {
        let anchor = self.get(kind, id).ok_or(AnchorError::NotFound)?;
        if seen > issued {
            Err(AnchorError::NotFound)
        } else if seen < anchor.since {
            Err(AnchorError::Stale)
        } else {
            Ok(anchor)
        }
    }
}

/// A label, as one with the key where it is the same.
fn shared_label(target: &Target, label: &str) -> Rc<str> {
    match target {
        Target::Object { key } if **key == *label => key.clone(),
        _ => label.into(),
    }
}

fn saved_anchor(id: u64, anchor: &Anchor) -> Option<SavedAnchor> {
    let target = match &anchor.target {
        Target::Object { key } => SavedTarget::Object { key: key.to_string() },
        Target::Action(bound) if !anchor.offered => SavedTarget::Action {
            action: bound.action.clone(),
            args: pipemux_proto::encode(&bound.args).ok()?.into(),
        },
        Target::Action(_) | Target::Answer { .. } => return None,
    };
    Some(SavedAnchor {
        id,
        workspace: anchor.session.workspace.as_deref().map(Into::into),
        session: anchor.session.to_string(),
        target,
        rev: anchor.rev,
        ty: anchor.ty.as_deref().map(Into::into),
        label: anchor.label.to_string(),
    })
}
