//! The anchors of one session: where they are found.

use std::collections::HashMap;
use std::rc::Rc;

use pipemux_proto::table::Table;

use crate::keys::SessionKey;
use crate::workspaces::anchors::{Anchor, AnchorQuery, Target};

/// The anchors of one session.
#[derive(Debug)]
pub(super) struct SessionAnchors {
    pub(super) session: Rc<SessionKey>,
    /// By the app's own name.
    pub(super) things: HashMap<Rc<str>, u64>,
    pub(super) links: HashMap<Target, u64>,
    /// What its newest projection shows.
    pub(super) shown: Vec<u64>,
    /// What the one before showed, while a new one is painted: it shows mostly the same in the same
    /// order, so that is looked at first.
    pub(super) before: Vec<u64>,
    /// How much of that was met.
    pub(super) met: usize,
    /// The last type: most things of an app have the same few.
    ty: Option<Rc<str>>,
}

impl SessionAnchors {
    pub(super) fn new(session: Rc<SessionKey>) -> Self {
        Self {
            session,
            things: HashMap::new(),
            links: HashMap::new(),
            shown: Vec::new(),
            before: Vec::new(),
            met: 0,
            ty: None,
        }
    }

    /// The id of what is wanted.
    pub(super) fn find(
        &mut self,
        wanted: AnchorQuery<'_>,
        anchors: &Table<u64, Box<Anchor>>,
    ) -> Option<u64> {
        // One that was left out is passed over.
        for at in [self.met, self.met + 1] {
            let Some(id) = self.before.get(at) else { break };
            if anchors.get(id).is_some_and(|anchor| wanted.is(&anchor.target)) {
                self.met = at + 1;
                return Some(*id);
            }
        }
        match wanted {
            AnchorQuery::Object(key) => self.things.get(key).copied(),
            _ => self.links.get(&wanted.to_target()).copied(),
        }
    }

    pub(super) fn insert(&mut self, target: &Target, id: u64) {
        match target {
            Target::Object { key } => self.things.insert(key.clone(), id),
            Target::Action(_) | Target::Answer { .. } => self.links.insert(target.clone(), id),
        };
    }

    pub(super) fn type_of(&mut self, ty: Option<&str>) -> Option<Rc<str>> {
        let ty = ty?;
        if self.ty.as_deref() != Some(ty) {
            self.ty = Some(ty.into());
        }
        self.ty.clone()
    }
}
