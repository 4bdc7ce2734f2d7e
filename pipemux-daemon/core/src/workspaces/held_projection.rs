//! A projection that an app sent for a window, with the parameters of the request.

use std::rc::Rc;

use pipemux_proto::ids::Incarnation;
use pipemux_proto::projection::Lod;

use crate::workspaces::raw_projection::RawProjection;

#[derive(Debug, Clone)]
pub struct HeldProjection {
    /// The process that sent the projection.
    pub app: Incarnation,
    /// The requested level of detail.
    pub lod: Lod,
    /// The requested budget, in tokens.
    pub budget: u32,
    /// The projection that the app sent.
    pub projection: Rc<RawProjection>,
}
