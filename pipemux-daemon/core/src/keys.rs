//! Names inside the core: which session, which workspace.

use std::fmt;
use std::rc::Rc;

use pipemux_proto::SessionAddr;
use pipemux_proto::projection::Lod;

/// A workspace's key: what the client gave to tell it from others.
pub type WorkspaceKey = Rc<str>;

/// A session: its address, and the workspace that owns it unless the user's workspaces share it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    /// The owning workspace; none for a provider of the user's scope.
    pub workspace: Option<WorkspaceKey>,
    /// What is shown.
    pub addr: SessionAddr,
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.addr.fmt(f)
    }
}

/// A request of a client that is being worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Which rendering of a window an app was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProjectionKey {
    /// The window's number.
    pub window: u64,
    /// Its level of detail.
    pub lod: Lod,
    /// The tokens that it is for.
    pub budget: u32,
}

/// Makes a directory name from a key that may hold anything: FNV-1a, 64 bits, so that a workspace has
/// the same directory in every release.
pub fn directory_name(key: &str) -> String {
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}
