//! Names inside the core: sessions, workspaces, requests.

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
    /// The address that is shown.
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

/// Makes a directory name from a key that may hold anything: a stable hash, so that a workspace has
/// the same directory in every release.
pub fn directory_name(key: &str) -> String {
    format!("{:016x}", pipemux_stable_hash::hash(key.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::directory_name;

    #[test]
    fn a_workspace_has_the_same_directory_in_every_release() {
        assert_eq!(directory_name("/a/b"), "363e289cb38ee0cc");
        assert_eq!(directory_name("/home/ann/projekt ä"), "b97e014fd19f5aa6");
    }
}
