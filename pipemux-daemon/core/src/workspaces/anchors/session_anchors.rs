//! The ids of one session's anchors, by what they stand for.

use std::collections::HashMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::keys::{ReaderId, SessionKey};
use crate::workspaces::anchors::{Anchor, AnchorQuery, Target};

#[derive(Debug)]
pub(super) struct SessionAnchors {
    pub(super) session: Rc<SessionKey>,
    /// Ids of objects, by the app's key.
    pub(super) objects: HashMap<Rc<str>, u64>,
    /// Ids of links and answers.
    pub(super) links: HashMap<Target, u64>,
    /// The ids that the session's newest projection shows.
    pub(super) shown: Vec<u64>,
    /// The ids shown to readers other than the one whose content the window now holds.
    pub(super) of_readers: Vec<(ReaderId, Vec<u64>)>,
    /// During a render pass, the ids that the previous projection showed. They are tried first,
    /// because a new projection mostly shows the same objects in the same order.
    pub(super) previous: Vec<u64>,
    /// The number of previous ids that the render pass has matched.
    pub(super) matched: usize,
    /// The type that was used last, to be shared: most objects of an app have one of few types.
    last_type: Option<Rc<str>>,
}

impl SessionAnchors {
    pub(super) fn new(session: Rc<SessionKey>) -> Self {
        Self {
            session,
            objects: HashMap::new(),
            links: HashMap::new(),
            shown: Vec::new(),
            of_readers: Vec::new(),
            previous: Vec::new(),
            matched: 0,
            last_type: None,
        }
    }

    /// Returns the number of its anchors.
    pub(super) fn len(&self) -> usize {
        self.objects.len() + self.links.len()
    }

    /// Iterates over the ids of its anchors.
    pub(super) fn ids(&self) -> impl Iterator<Item = u64> {
        self.objects.values().chain(self.links.values()).copied()
    }

    /// Iterates over the ids that some reader is shown.
    pub(super) fn shown_to_any(&self) -> impl Iterator<Item = u64> {
        let of_readers = self.of_readers.iter().flat_map(|(_, shown)| shown);
        self.shown.iter().chain(of_readers).copied()
    }

    /// Forgets the id of a target, unless the target has another one by now.
    pub(super) fn remove(&mut self, target: &Target, id: u64) {
        match target {
            Target::Object { key } if self.objects.get(key) == Some(&id) => {
                self.objects.remove(key);
            }
            Target::Object { .. } => {}
            link if self.links.get(link) == Some(&id) => drop(self.links.remove(link)),
            _ => {}
        }
    }

    /// Returns the id of an anchor.
    pub(super) fn find(
        &mut self,
        query: AnchorQuery<'_>,
        anchors: &FxHashMap<u64, Box<Anchor>>,
    ) -> Option<u64> {
        // The new projection may leave one out.
        for at in [self.matched, self.matched + 1] {
            let Some(id) = self.previous.get(at) else { break };
            if anchors.get(id).is_some_and(|anchor| query.matches(&anchor.target)) {
                self.matched = at + 1;
                return Some(*id);
            }
        }
        match query {
            AnchorQuery::Object(key) => self.objects.get(key).copied(),
            _ => self.links.get(&query.to_target()).copied(),
        }
    }

    pub(super) fn insert(&mut self, target: &Target, id: u64) {
        match target {
            Target::Object { key } => self.objects.insert(key.clone(), id),
            Target::Action(_) | Target::Answer { .. } | Target::CancelJob { .. } => {
                self.links.insert(target.clone(), id)
            }
        };
    }

    /// Returns a type, which shares the text of the one that was used last if both are the same.
    pub(super) fn share_type(&mut self, ty: Option<&str>) -> Option<Rc<str>> {
        let ty = ty?;
        if self.last_type.as_deref() != Some(ty) {
            self.last_type = Some(ty.into());
        }
        self.last_type.clone()
    }
}
