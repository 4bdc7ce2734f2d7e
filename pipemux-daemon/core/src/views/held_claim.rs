//! The window versions that a client claims to hold.

use pipemux_proto::client::HeldWindow;
use pipemux_proto::context::ContextVersion;
use pipemux_proto::{Code, Fault, SessionAddr};

use crate::keys::{SessionKey, plain_address};
use crate::text::clip;
use crate::views::inert;
use crate::workspaces::Workspace;

/// Characters that are shown of what a client named and what is no window or no version.
const SHOWN_CHARS: usize = 64;

/// Stands for the version of a window of which a client has nothing.
const NOTHING: &str = "none";

/// A client's claim that it has a window in some version.
#[derive(Debug, Clone)]
pub struct HeldClaim {
    /// The name that the client gave, or the session's address.
    pub name: String,
    /// The session, if it has a window in this workspace.
    pub session: Option<SessionKey>,
    /// `None` if the client has nothing of it; an error if it isn't a valid version.
    pub(super) version: Result<Option<ContextVersion>, Fault>,
}

impl HeldClaim {
    /// Finds the window that a client means.
    pub fn find(workspace: &Workspace, held: &HeldWindow) -> Self {
        let named = match held.window.contains('/') {
            true => held.window.parse(),
            false => format!("{}/{}", held.window, SessionAddr::DEFAULT_SESSION).parse(),
        };
        let plain = |addr: SessionAddr| plain_address(&workspace.key, &addr);
        let addr = named.ok().map(plain);
        let window = addr.as_ref().and_then(|addr| workspace.windows.named(addr).next());
        let written = addr.as_ref().map(ToString::to_string);
        Self {
            name: written.unwrap_or_else(|| inert::line(&*clip(&held.window, SHOWN_CHARS))),
            session: window.map(|window| window.session.clone()),
            version: match &*held.version {
                NOTHING => Ok(None),
                written => written.parse().map(Some).map_err(|_| {
                    let written = clip(written, SHOWN_CHARS);
                    mismatch(format!("`{}` is no version like 2.0.6", inert::line(&*written)))
                }),
            },
        }
    }

    /// Returns the version, if one is written.
    pub fn version(&self) -> Option<ContextVersion> {
        self.version.as_ref().ok().copied().flatten()
    }
}

/// Returns the error of a version that nothing is compared with.
pub(super) fn mismatch(why: String) -> Fault {
    Fault::new(Code::VersionMismatch, why)
}
