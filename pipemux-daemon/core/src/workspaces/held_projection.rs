//! What an app sent of a window, with what it was asked for.

use std::rc::Rc;

use pipemux_proto::ids::Incarnation;
use pipemux_proto::projection::Lod;

use crate::workspaces::raw_projection::RawProjection;

/// A projection that the daemon keeps.
#[derive(Debug, Clone)]
pub struct HeldProjection {
    /// The process that sent it.
    pub app: Incarnation,
    /// The level of detail that was asked for.
    pub lod: Lod,
    /// The budget in tokens that was asked for.
    pub budget: u32,
    /// What the app sent.
    pub projection: Rc<RawProjection>,
}
