//! Anchors on disk: a key keeps its id when a later daemon shows it again.

use std::rc::Rc;

use pipemux_proto::refs::RefKind;

use crate::foreign::data;
use crate::keys::SessionKey;
use crate::persist::records::{Record, SavedAnchor, SavedTarget};
use crate::workspaces::anchors::{
    Anchor, AnchorTable, BoundAction, SessionIndex, Target, shared_label,
};

/// The number of anchors in one record of a snapshot, which keeps records small.
const ANCHORS_A_RECORD: usize = 256;

impl AnchorTable {
    /// Returns the records of all anchors that may be shown again, in the order of their ids.
    pub fn snapshot(&self, workspace: &str) -> Vec<Record> {
        let record = |anchors: &[SavedAnchor]| {
            let (workspace, anchors) = (workspace.to_owned(), anchors.to_vec());
            Record::Anchors { workspace, anchors }
        };
        self.to_saved().chunks(ANCHORS_A_RECORD).map(record).collect()
    }

    fn to_saved(&self) -> Vec<SavedAnchor> {
        let mut all: Vec<SavedAnchor> =
            self.anchors.iter().filter_map(|(id, anchor)| saved_anchor(*id, anchor)).collect();
        all.sort_by_key(|anchor| anchor.id);
        all
    }

    /// Restores anchors that an earlier daemon minted. Refs to them are stale until they are shown
    /// again. The next id stays what it was, unless an anchor has it: an orderly shutdown records
    /// the ids that were used, which may be fewer than were reserved before.
    pub fn restore(&mut self, anchors: Vec<SavedAnchor>, epoch: u64) {
        let next = self.next;
        for anchor in anchors {
            self.restore_anchor(anchor, epoch);
        }
        self.continue_from(next);
    }

    fn restore_anchor(&mut self, saved: SavedAnchor, epoch: u64) {
        let session = SessionKey::from_saved(saved.workspace.as_deref(), &saved.session);
        let Some(session) = session else { return };
        let target = match saved.target {
            SavedTarget::Object { key } => Target::Object { key: key.into() },
            SavedTarget::Action { action, args, code } => match pipemux_proto::decode(&args) {
                Ok(args) => {
                    Target::Action(Rc::new(BoundAction { action, args, code, state: None }))
                }
                Err(_) => return,
            },
            SavedTarget::CancelJob { job } => Target::CancelJob { job },
        };
        let SessionIndex(index) = self.session_index(&session);
        let of_session = &mut self.sessions[index];
        of_session.insert(&target, saved.id);
        let anchor = Anchor {
            session: of_session.session.clone(),
            rev: saved.rev,
            since: epoch,
            ty: of_session.share_type(saved.ty.as_deref()),
            label: shared_label(&target, (&saved.label).into()),
            keyed: saved.key_form.is_some(),
            key_form: saved.key_form,
            shown: false,
            embeds: 0,
            last_epoch: epoch,
            offered: false,
            open: Box::default(),
            render_pass: 0,
            target,
        };
        self.next = self.next.max(saved.id + 1);
        if anchor.target.kind() == RefKind::Link {
            self.eviction_candidates.insert(saved.id);
        }
        self.anchors.insert(saved.id, Box::new(anchor));
    }
}

/// Returns an anchor as it is saved; none for one that only an answer offered.
pub(super) fn saved_anchor(id: u64, anchor: &Anchor) -> Option<SavedAnchor> {
    let target = match &anchor.target {
        Target::Object { key } => SavedTarget::Object { key: key.to_string() },
        Target::Action(bound) if !anchor.offered => SavedTarget::Action {
            action: bound.action.clone(),
            args: pipemux_proto::encode(&bound.args).ok()?.into(),
            code: bound.code.clone(),
        },
        Target::CancelJob { job } => SavedTarget::CancelJob { job: *job },
        Target::Action(_) | Target::Answer { .. } => return None,
    };
    Some(SavedAnchor {
        id,
        workspace: anchor.session.workspace.as_deref().map(Into::into),
        session: anchor.session.to_string(),
        target,
        rev: anchor.rev,
        ty: anchor.ty.as_deref().map(Into::into),
        label: data::exact(anchor.label.borrow()),
        key_form: anchor.key_form,
    })
}
