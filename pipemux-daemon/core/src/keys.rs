//! Names inside the core: sessions, workspaces, requests.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

use pipemux_proto::SessionAddr;
use pipemux_proto::limits::SESSION_MAX;
use pipemux_proto::projection::Lod;

/// The key of a workspace, by which the client distinguishes it from others.
pub type WorkspaceKey = Rc<str>;

/// The name of a reader, as given in its requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReaderId(Rc<str>);

impl ReaderId {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for ReaderId {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl From<String> for ReaderId {
    fn from(name: String) -> Self {
        Self(name.into())
    }
}

impl Deref for ReaderId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ReaderId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ReaderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A session: its address, and the workspace that owns it unless the user's workspaces share it.
#[derive(Debug, Clone, Eq)]
pub struct SessionKey {
    /// The owning workspace; `None` for a provider in the user's scope.
    pub workspace: Option<WorkspaceKey>,
    /// The displayed address.
    pub addr: SessionAddr,
}

// Looked up for each window of an answer, many times: the keys of one session mostly share their
// texts.
impl PartialEq for SessionKey {
    fn eq(&self, other: &Self) -> bool {
        self.addr == other.addr && self.compare_workspaces(other).is_eq()
    }
}

impl Ord for SessionKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare_workspaces(other).then_with(|| self.addr.cmp(&other.addr))
    }
}

impl PartialOrd for SessionKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for SessionKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.workspace, &self.addr).hash(state);
    }
}

impl SessionKey {
    /// Returns the key that a record names by its owning workspace and `provider/session`; `None`
    /// for another form.
    pub fn from_saved(workspace: Option<&str>, session: &str) -> Option<Self> {
        Some(Self { workspace: workspace.map(Into::into), addr: session.parse().ok()? })
    }

    fn compare_workspaces(&self, other: &Self) -> Ordering {
        match (&self.workspace, &other.workspace) {
            (Some(own), Some(others)) if Rc::ptr_eq(own, others) => Ordering::Equal,
            (own, others) => own.cmp(others),
        }
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.addr.fmt(f)
    }
}

/// Defines a text that names something, which is cheap to clone and isn't taken for another text.
macro_rules! text_key {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Rc<str>);

        impl<T: Into<Rc<str>>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }

        impl std::ops::Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_key! {
    /// The id by which apps know a run: a pseudonym of the id that its client gave.
    RunId
}

/// A client's request that is being worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// The rendering of a window that an app was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProjectionKey {
    pub window: u64,
    pub lod: Lod,
    /// The budget of the rendering, in tokens.
    pub budget: u32,
}

/// Returns a session's unique name in a workspace: `main-363e289cb38ee0cc`. No other session of the
/// daemon has it. Of a long name only the beginning is part of it.
pub fn unique_session_name(workspace: &str, addr: &SessionAddr) -> String {
    // Neither part of an address has a zero byte.
    let hash = directory_name(&format!("{addr}\0{workspace}"));
    let name = addr.session.as_str();
    // Session ids are ASCII.
    format!("{}-{hash}", &name[..name.len().min(SESSION_MAX - 1 - hash.len())])
}

/// Returns the address that is meant where a session is named: a unique name stands for the session
/// that has it.
pub fn plain_address(workspace: &str, addr: &SessionAddr) -> SessionAddr {
    let plain = || {
        let (name, _) = addr.session.as_str().rsplit_once('-')?;
        let plain = SessionAddr { session: name.parse().ok()?, ..addr.clone() };
        (unique_session_name(workspace, &plain) == addr.session.as_str()).then_some(plain)
    };
    plain().unwrap_or_else(|| addr.clone())
}

/// Makes a directory name from a key that may hold anything: a stable hash, so that a workspace has
/// the same directory in every release.
pub fn directory_name(key: &str) -> String {
    format!("{:016x}", pipemux_stable_hash::hash(key.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_known_by_its_unique_name_in_its_workspace_only() {
        let addr = |text: &str| text.parse::<SessionAddr>().unwrap();
        let name = unique_session_name("/a/b", &addr("notes/main"));
        let unique = addr(&format!("notes/{name}"));
        assert_eq!(plain_address("/a/b", &unique), addr("notes/main"));
        assert_eq!(plain_address("/a/c", &unique), unique);
        assert_ne!(name, unique_session_name("/a/c", &addr("notes/main")));
        assert_ne!(name, unique_session_name("/a/b", &addr("other/main")));
        for other in ["notes/main", "notes/a-b", "notes/main-363e289cb38ee0cc"] {
            assert_eq!(plain_address("/a/b", &addr(other)), addr(other));
        }
        // It is a session id however long the session's own is.
        let long = addr(&format!("notes/{}", "x".repeat(SESSION_MAX)));
        assert!(unique_session_name("/a/b", &long).parse::<pipemux_proto::SessionId>().is_ok());
    }

    #[test]
    fn a_workspace_has_the_same_directory_in_every_release() {
        assert_eq!(directory_name("/a/b"), "363e289cb38ee0cc");
        assert_eq!(directory_name("/home/ann/projekt ä"), "b97e014fd19f5aa6");
    }
}
