//! The content of a window that is kept for windows of other sessions that embed it.

use std::rc::Rc;

use pipemux_proto::projection::Lod;

use crate::limits::EMBED_DETAILS_MAX;
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{HeldProjection, Rendered};

/// A window's data at the level of detail and budget at which other windows embed it.
#[derive(Debug, Clone)]
pub struct HeldEmbed {
    /// The projection that the app sent.
    pub held: HeldProjection,
    /// The window rendered from the projection.
    pub rendered: Option<Rc<Rendered>>,
}

/// What is kept of a window for those that embed it: at most [`EMBED_DETAILS_MAX`] details, oldest
/// first.
#[derive(Debug, Default)]
pub struct HeldEmbeds(Vec<HeldEmbed>);

impl HeldEmbeds {
    /// Returns what is kept at a detail.
    pub fn get(&self, detail: EmbedDetail) -> Option<&HeldEmbed> {
        self.0.iter().find(|kept| kept.detail() == detail)
    }

    /// Keeps what the window's app sent; the oldest of too many makes room.
    pub fn hold(&mut self, held: HeldProjection) {
        self.forget((held.lod, held.budget));
        if self.0.len() >= EMBED_DETAILS_MAX {
            self.0.remove(0);
        }
        self.0.push(HeldEmbed { held, rendered: None });
    }

    /// Gives up what is kept at a detail: the app holds another version.
    pub fn forget(&mut self, detail: EmbedDetail) {
        self.0.retain(|kept| kept.detail() != detail);
    }

    /// Keeps what was written of a projection, unless a newer one came.
    pub fn record_rendering(&mut self, source: &Rc<RawProjection>, rendered: Rc<Rendered>) {
        let of_source = |kept: &&mut HeldEmbed| Rc::ptr_eq(&kept.held.projection, source);
        for kept in self.0.iter_mut().filter(of_source) {
            kept.rendered = Some(rendered.clone());
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &HeldEmbed> {
        self.0.iter()
    }

    pub(super) fn projections_mut(&mut self) -> impl Iterator<Item = &mut HeldProjection> {
        self.0.iter_mut().map(|kept| &mut kept.held)
    }
}

impl HeldEmbed {
    fn detail(&self) -> EmbedDetail {
        (self.held.lod, self.held.budget)
    }
}

pub type EmbedDetail = (Lod, u32);
