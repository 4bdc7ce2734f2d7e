//! The anchor table of a workspace: display ids, what they stand for, and since when.
//!
//! **Invariant: an id is never given to another thing.** Ids only rise; a target keeps its id for
//! as long as it is remembered.
//!
//! **Invariant: an id that wasn't minted is never live.** Only [`AnchorTable::mint`] makes an
//! anchor.

mod anchor;
mod embedded;
mod forget;
mod readers;
mod saved;
mod session_anchors;
mod target;
mod written;

use std::rc::Rc;

use pipemux_proto::Incarnation;
use pipemux_proto::refs::RefKind;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::foreign::{ForeignRc, ForeignStr};
use crate::keys::SessionKey;
use crate::persist::records::SavedAnchor;

pub use anchor::{Anchor, AnchorError};
use saved::saved_anchor;
use session_anchors::SessionAnchors;
pub use target::{
    AnchorQuery, Appearance, BoundAction, Minted, StateVersion, Target, open_params,
    open_params_of_call,
};

/// All anchors of a workspace.
#[derive(Debug, Default)]
pub struct AnchorTable {
    anchors: FxHashMap<u64, Box<Anchor>>,
    /// The anchors of each session, by [`SessionIndex`].
    sessions: Vec<SessionAnchors>,
    index_by_session: FxHashMap<Rc<SessionKey>, usize>,
    /// The ids that the answer being written offers beside its windows.
    offered: Vec<u64>,
    /// The sessions of objects that the answer offers and whose meaning changed since they were
    /// last shown.
    revised: Vec<Rc<SessionKey>>,
    /// The ids in embedded windows of other sessions, by the session that embeds them.
    embedded: FxHashMap<SessionKey, Box<[u64]>>,
    /// The ids minted for the embedded window that is being written.
    embedding: Vec<u64>,
    /// Ids that were minted but not saved yet, without links that were offered.
    unsaved: Vec<u64>,
    /// Links that may no longer be shown; every link that isn't shown is among them.
    eviction_candidates: FxHashSet<u64>,
    /// Counts the render passes of windows: see [`Anchor::render_pass`].
    render_passes: u32,
    /// The epoch of the last eviction of vanished anchors.
    last_eviction: u64,
    next: u64,
}

/// The place of a session's anchors in the table. It is valid until a session is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionIndex(usize);

impl AnchorTable {
    /// Makes a table whose ids begin at `next`: ids below may have been used before.
    pub fn starting_at(next: u64) -> Self {
        Self { next: next.max(1), ..Self::default() }
    }

    /// Makes every anchor count as minted and last shown in one epoch: nobody has seen a later one.
    pub fn reset_epochs(&mut self, epoch: u64) {
        for anchor in self.anchors.values_mut() {
            (anchor.since, anchor.last_epoch) = (epoch, epoch);
        }
    }

    /// Returns the next id that would be minted.
    pub fn next_id(&self) -> u64 {
        self.next
    }

    /// Returns the place of a session's anchors, which is made when there are none.
    pub fn session_index(&mut self, session: &SessionKey) -> SessionIndex {
        if let Some(index) = self.index_by_session.get(session) {
            return SessionIndex(*index);
        }
        let session = Rc::new(session.clone());
        self.index_by_session.insert(session.clone(), self.sessions.len());
        self.sessions.push(SessionAnchors::new(session));
        SessionIndex(self.sessions.len() - 1)
    }

    /// Returns the id of a target that is being shown in `epoch`: the one that it has, or a new
    /// one.
    pub fn mint(
        &mut self,
        SessionIndex(index): SessionIndex,
        query: AnchorQuery<'_>,
        appearance: Appearance<'_>,
        epoch: u64,
    ) -> Minted {
        let known = self.sessions[index].find(query, &self.anchors);
        match known.filter(|id| self.anchors.contains_key(id)) {
            Some(id) => self.show_again(index, id, appearance, epoch),
            None => self.mint_new(index, query.to_target(), appearance, epoch),
        }
    }

    /// Shows an anchor that already has an id. Within one render pass, the meaning it was first
    /// listed with is kept; another one is a conflict.
    fn show_again(
        &mut self,
        index: usize,
        id: u64,
        appearance: Appearance<'_>,
        epoch: u64,
    ) -> Minted {
        let unchanged = Minted { id, changed: false, conflict: false };
        let of_session = &mut self.sessions[index];
        let Some(anchor) = self.anchors.get_mut(&id) else { return unchanged };
        let retyped = anchor.ty.as_deref() != appearance.ty;
        // Refs show the type: with another one they mean something else.
        let changed = anchor.rev != appearance.rev || retyped;
        if appearance.listed {
            if anchor.render_pass == self.render_passes && changed {
                return Minted { conflict: true, ..unchanged };
            }
            anchor.render_pass = self.render_passes;
            anchor.keyed = false;
        }
        if changed {
            anchor.rev = appearance.rev;
            anchor.since = epoch;
        }
        // What stands for its meaning since an epoch that nobody was given yet has to be shown with
        // that one.
        let unissued = anchor.since >= epoch;
        anchor.shown |= !appearance.embedded;
        anchor.last_epoch = epoch;
        if appearance.embedded {
            anchor.embeds += 1;
            self.embedding.push(id);
        } else if appearance.offered {
            anchor.offered = true;
            self.offered.push(id);
            if changed {
                self.revised.push(of_session.session.clone());
            }
            if anchor.target.kind() == RefKind::Link {
                self.eviction_candidates.insert(id);
            }
        } else {
            of_session.shown.push(id);
        }
        if retyped {
            anchor.ty = of_session.share_type(appearance.ty);
            anchor.key_form = None;
        }
        if *anchor.open != *appearance.open {
            anchor.open = appearance.open.into();
        }
        if anchor.label.borrow() != appearance.label {
            anchor.label = shared_label(&anchor.target, appearance.label);
        }
        Minted { changed: changed || unissued, ..unchanged }
    }

    fn mint_new(
        &mut self,
        index: usize,
        target: Target,
        appearance: Appearance<'_>,
        epoch: u64,
    ) -> Minted {
        let id = self.next;
        self.next += 1;
        let of_session = &mut self.sessions[index];
        of_session.insert(&target, id);
        let is_object = target.kind() == RefKind::Obj;
        let cancels = matches!(target, Target::CancelJob { .. });
        let anchor = Anchor {
            session: of_session.session.clone(),
            rev: appearance.rev,
            since: epoch,
            ty: of_session.share_type(appearance.ty),
            label: shared_label(&target, appearance.label),
            keyed: false,
            key_form: None,
            shown: !appearance.embedded,
            embeds: u32::from(appearance.embedded),
            last_epoch: epoch,
            offered: appearance.offered,
            open: appearance.open.into(),
            render_pass: if appearance.listed { self.render_passes } else { 0 },
            target,
        };
        self.anchors.insert(id, Box::new(anchor));
        if appearance.embedded {
            self.unsaved.push(id);
            self.embedding.push(id);
        } else if appearance.offered {
            self.offered.push(id);
            // A key keeps its id in the next daemon, and so does a job; another link of an answer
            // ends with this one.
            if is_object || cancels {
                self.unsaved.push(id);
            }
            if !is_object {
                self.eviction_candidates.insert(id);
            }
        } else {
            self.unsaved.push(id);
            of_session.shown.push(id);
        }
        Minted { id, changed: true, conflict: false }
    }

    /// Makes links that belong to a state of one process of a session belong to that of the next
    /// one, which went on from it.
    pub fn hand_over(&mut self, session: &SessionKey, from: Incarnation, to: Incarnation) {
        let index = self.index_by_session.get(session);
        let Some(of_session) = index.and_then(|index| self.sessions.get_mut(*index)) else {
            return;
        };
        let moved: Vec<(Target, u64)> = of_session
            .links
            .iter()
            .filter(|(target, _)| target.state().is_some_and(|(app, _)| app == from))
            .map(|(target, id)| (target.clone(), *id))
            .collect();
        for (target, id) in moved {
            of_session.links.remove(&target);
            let target = target.handed_over(to);
            of_session.links.insert(target.clone(), id);
            if let Some(anchor) = self.anchors.get_mut(&id) {
                anchor.target = target;
            }
        }
    }

    /// Marks all anchors of a session as no longer shown, since a new projection is about to be
    /// written or the window was closed.
    pub fn hide_session(&mut self, session: &SessionKey, epoch: u64) {
        self.render_passes = self.render_passes.wrapping_add(1).max(1);
        let index = self.index_by_session.get(session);
        let Some(of_session) = index.and_then(|index| self.sessions.get_mut(*index)) else {
            return;
        };
        (of_session.previous, of_session.matched) = (std::mem::take(&mut of_session.shown), 0);
        for id in &of_session.previous {
            if let Some(anchor) = self.anchors.get_mut(id) {
                anchor.shown = anchor.offered;
                anchor.last_epoch = epoch;
                if anchor.target.kind() == RefKind::Link {
                    self.eviction_candidates.insert(*id);
                }
            }
        }
        of_session.shown.reserve_exact(of_session.previous.len());
    }

    /// Ends what [`hide_session`](Self::hide_session) began: the session's new projection is
    /// written.
    pub fn end_render_pass(&mut self, SessionIndex(index): SessionIndex) {
        if let Some(of_session) = self.sessions.get_mut(index) {
            of_session.previous = Vec::new();
            of_session.shown.shrink_to_fit();
        }
    }

    /// Returns the anchors that were minted since the last call, to be saved: a key keeps its id
    /// when a later daemon shows it again.
    pub fn take_unsaved(&mut self) -> Vec<SavedAnchor> {
        let unsaved = std::mem::take(&mut self.unsaved);
        unsaved.into_iter().filter_map(|id| saved_anchor(id, self.anchors.get(&id)?)).collect()
    }

    /// Goes on minting from an id, or after the highest known one if that is higher.
    pub fn continue_from(&mut self, next: u64) {
        let used = self.anchors.keys().max().map_or(0, |id| id + 1);
        self.next = next.max(used).max(1);
    }

    /// Keeps the offered ids whose refs fulfil a condition. The others weren't shown in the end.
    pub fn keep_offered(&mut self, is_shown: impl Fn(&str) -> bool) {
        let mut offered = std::mem::take(&mut self.offered);
        offered.retain(|id| {
            let anchor = self.anchors.get(id);
            anchor.is_some_and(|anchor| is_shown(&anchor.written(*id).to_string()))
        });
        self.offered = offered;
    }

    /// Returns the sessions of objects offered since the last call whose meaning changed: the
    /// sessions' windows show outdated objects.
    pub fn take_revised(&mut self) -> Vec<Rc<SessionKey>> {
        std::mem::take(&mut self.revised)
    }

    /// Returns the ids that were offered since the last call.
    pub fn take_offered(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.offered)
    }

    /// Returns the number of anchors.
    pub fn len(&self) -> usize {
        self.anchors.len()
    }

    /// Returns true when an id is remembered.
    pub fn has(&self, id: u64) -> bool {
        self.anchors.contains_key(&id)
    }

    /// Returns the anchor of an id, shown or not.
    pub fn get(&self, kind: RefKind, id: u64) -> Option<&Anchor> {
        let anchor = self.anchors.get(&id)?;
        (anchor.target.kind() == kind).then_some(anchor)
    }

    /// Returns the ids that were minted for a session's newest projection.
    pub fn shown_ids(&self, session: &SessionKey) -> Vec<u64> {
        self.of_session(session).map_or(Vec::new(), |of_session| of_session.shown.clone())
    }

    /// Returns the objects that a session's newest projection shows, in the order of their ids.
    pub fn shown_objects(&self, session: &SessionKey) -> Vec<(u64, &Anchor)> {
        let of_session = self.of_session(session);
        let mut ids = of_session.map_or(Vec::new(), |of_session| of_session.shown.clone());
        ids.sort_unstable();
        ids.dedup();
        let found = ids.into_iter().filter_map(|id| Some((id, self.get(RefKind::Obj, id)?)));
        found.collect()
    }

    /// Returns the objects that a session showed before and that nothing shows now, in the order of
    /// their ids.
    pub fn hidden_objects(&self, session: &SessionKey) -> Vec<(u64, &Anchor)> {
        let known = self.of_session(session).into_iter().flat_map(|of| of.objects.values());
        let found = known.filter_map(|id| Some((*id, self.get(RefKind::Obj, *id)?)));
        let mut hidden: Vec<_> = found.filter(|(_, anchor)| !anchor.is_shown()).collect();
        hidden.sort_by_key(|(id, _)| *id);
        hidden
    }

    /// Returns the id of an object, if it has one.
    pub fn id_of(&self, session: &SessionKey, key: &str) -> Option<u64> {
        self.of_session(session)?.objects.get(key).copied()
    }

    /// Returns the objects of all sessions that have a key, in the order of their ids.
    pub fn by_key(&self, key: &str) -> Vec<(u64, &Anchor)> {
        let ids = self.sessions.iter().filter_map(|of_session| of_session.objects.get(key));
        let mut found: Vec<_> = ids.filter_map(|id| Some((*id, self.anchors.get(id)?))).collect();
        found.sort_by_key(|(id, _)| *id);
        found.into_iter().map(|(id, anchor)| (id, &**anchor)).collect()
    }

    fn of_session(&self, session: &SessionKey) -> Option<&SessionAnchors> {
        self.sessions.get(*self.index_by_session.get(session)?)
    }

    /// Checks that a ref of epoch `seen` means what the anchor stands for now; `issued` is the
    /// newest epoch.
    ///
    /// # Errors
    /// The id is unknown, the epoch wasn't issued yet, or the meaning has changed since.
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

/// Returns a label, which shares the key's text where both are the same.
fn shared_label(target: &Target, label: ForeignStr<'_>) -> ForeignRc {
    match target {
        Target::Object { key } => ForeignRc::new(label, Some(key)),
        _ => ForeignRc::new(label, None),
    }
}
