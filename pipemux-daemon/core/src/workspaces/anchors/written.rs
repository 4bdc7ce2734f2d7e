//! Writes refs to objects: `obj:enemy:23`, or with the key if the app asks for it.
//!
//! **Invariant: of the refs with a key, no two objects have the same one.** The first object of a
//! type and key is written `obj:file:a.rs`; the same key in another session names the session:
//! `obj:ide/other:file:a.rs`.

use pipemux_proto::refs::{Local, Ref, RefKind};

use crate::persist::records::KeyForm;
use crate::workspaces::anchors::{Anchor, AnchorTable, Target};

impl Anchor {
    /// Returns the ref to the anchor with this id as windows show it.
    pub fn written(&self, id: u64) -> Ref {
        let ty = || self.shown_type().map(Into::into);
        match &self.target {
            Target::Object { key } if self.keyed => {
                let owner = (self.key_form == Some(KeyForm::WithSession))
                    .then(|| self.session.addr.clone());
                Ref { owner, ty: ty(), local: Local::Key(key.to_string()), ..Ref::obj(id) }
            }
            Target::Object { .. } => Ref { ty: ty(), ..Ref::obj(id) },
            Target::Action(_) | Target::Answer { .. } | Target::CancelJob { .. } => Ref::link(id),
        }
    }

    /// Returns true when this is the object that a ref with a key, but without a session was
    /// written for.
    pub fn has_plain_form(&self, ty: Option<&str>) -> bool {
        self.key_form == Some(KeyForm::Plain) && self.shown_type() == ty
    }

    /// Returns the type as refs show it.
    pub fn shown_type(&self) -> Option<&str> {
        self.ty.as_deref().filter(|ty| Ref::shows_type(ty))
    }
}

impl AnchorTable {
    /// Lets the refs to an object have its key. An object keeps the form that it gets here.
    pub fn show_key(&mut self, id: u64) {
        let Some(anchor) = self.anchors.get_mut(&id) else { return };
        anchor.keyed = true;
        let Target::Object { key } = &anchor.target else { return };
        if anchor.key_form.is_some() {
            return;
        }
        let (key, ty) = (key.clone(), anchor.ty.clone());
        let ty = ty.as_deref().filter(|ty| Ref::shows_type(ty));
        let taken = self.by_key(&key).iter().any(|(_, other)| other.has_plain_form(ty));
        if let Some(anchor) = self.anchors.get_mut(&id) {
            anchor.key_form = Some(if taken { KeyForm::WithSession } else { KeyForm::Plain });
        }
        // The form is saved with the anchor.
        if self.unsaved.last() != Some(&id) {
            self.unsaved.push(id);
        }
    }

    /// Returns the ref to an object or link as windows show it; the short form for one that isn't
    /// known.
    pub fn written(&self, kind: RefKind, id: u64) -> Ref {
        let short = Ref { kind, ..Ref::obj(id) };
        self.get(kind, id).map_or(short, |anchor| anchor.written(id))
    }
}
