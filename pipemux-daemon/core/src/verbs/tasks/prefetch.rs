//! A window that was requested ahead of time.

use pipemux_proto::projection::Lod;

use crate::keys::SessionKey;

/// A window that was requested before it is certain that an answer will show it.
#[derive(Debug)]
pub(crate) struct Prefetch {
    /// The number of the request to the app.
    pub app_request: u64,
    /// The session whose window it is.
    pub session: SessionKey,
    /// The number by which the app knows the window.
    pub window: u64,
    /// The level of detail.
    pub lod: Lod,
    /// The budget in tokens.
    pub budget: u32,
    /// True when the app was told which version the daemon holds.
    pub known: bool,
}
