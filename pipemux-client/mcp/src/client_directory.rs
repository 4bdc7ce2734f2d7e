//! The directory that a client works in: its first root, where it declares roots, else this
//! process's own.
//!
//! A harness that is an editor often starts its servers in a directory of its own, and says only by
//! its roots which folder is open. The process then works in that folder: the workspace, relative
//! paths and what apps are told follow from it. As the server of a plugin it is started in the
//! plugin's directory, and works in that of the client's process.
#![expect(
    deprecated,
    reason = "the newest revision has no roots, and clients of the others use them"
)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pipemux_client::{Options, workspace};
use rmcp::model::{ProtocolVersion, Root};
use tokio::sync::Mutex as AsyncMutex;

use crate::context::Context;

/// The longest wait for a client's roots. A client that never sends them is served anyway.
const PATIENCE: Duration = Duration::from_secs(5);

/// Leaves the directory of a plugin, which clients of Agent Plugins 1.0 start servers in and name
/// in `PLUGIN_ROOT`, for that of this process's parent, where the system tells it.
pub fn leave_plugin() {
    let root =
        std::env::var_os("PLUGIN_ROOT").and_then(|root| Path::new(&root).canonicalize().ok());
    if root.is_some() && root == std::env::current_dir().ok() {
        let parent = std::os::unix::process::parent_id();
        // Without it the plugin's own directory is as good as any.
        let _ = std::env::set_current_dir(format!("/proc/{parent}/cwd"));
    }
}

/// The directory and workspace of a connection.
#[derive(Debug)]
pub struct ClientDirectory {
    options: Mutex<Arc<Options>>,
    /// The workspace that was named, which holds whatever the directory is.
    named: Option<String>,
    /// Whether the client is still to be asked for its roots. Locked while it is asked.
    unasked: AsyncMutex<bool>,
}

impl ClientDirectory {
    /// Makes the directory of a client that may be asked for its roots. The workspace is `named`,
    /// else the project's.
    pub fn of_client(options: Options, named: Option<String>) -> Self {
        Self { options: Mutex::new(Arc::new(options)), named, unasked: AsyncMutex::new(true) }
    }

    /// Makes a directory that stays as it is: clients over HTTP share the process.
    pub fn fixed(options: Options) -> Self {
        Self { unasked: AsyncMutex::new(false), ..Self::of_client(options, None) }
    }

    /// Returns what requests are made with.
    pub fn options(&self) -> Arc<Options> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the client for its roots, unless it was asked, and goes to the first one that is a
    /// directory here.
    pub async fn settle(&self, context: &Context) {
        let mut unasked = self.unasked.lock().await;
        if !std::mem::take(&mut *unasked) || !has_roots(context) {
            return;
        }
        let listed = tokio::time::timeout(PATIENCE, context.peer.list_roots()).await;
        let Ok(Ok(listed)) = listed else { return };
        let mut directories = listed.roots.iter().filter_map(directory);
        let entered = directories.find(|directory| std::env::set_current_dir(directory).is_ok());
        if entered.is_none() {
            return;
        }
        let own = std::env::current_dir().ok();
        let mut options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        let workspace = workspace::find(self.named.as_deref(), own.as_deref());
        *options = Arc::new(Options { workspace, ..Options::clone(&options) });
    }

    /// Asks for the roots again before the next request: they have changed.
    pub async fn roots_changed(&self) {
        *self.unasked.lock().await = true;
    }
}

/// True for a client that has roots and that a server may ask for them: since the revision of
/// 2026-07-28 none may.
fn has_roots(context: &Context) -> bool {
    let newest = ProtocolVersion::V_2026_07_28;
    let is_older =
        context.protocol_version().is_none_or(|version| version.as_str() < newest.as_str());
    let has_roots = context.client_capabilities().is_some_and(|client| client.roots.is_some());
    is_older && has_roots
}

/// Returns the directory that a root names: `file:///home/ann/a%20b`.
fn directory(root: &Root) -> Option<PathBuf> {
    let rest = root.uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = String::from_utf8(percent_decoded(path)?).ok()?;
    Some(PathBuf::from(path)).filter(|path| path.is_absolute() && Path::is_dir(path))
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_a_directory_of_this_machine() {
        let made = tempfile::tempdir().unwrap();
        let spaced = made.path().join("a b 深#");
        std::fs::create_dir(&spaced).unwrap();
        let base = made.path().to_str().unwrap();
        let found = |uri: String| directory(&Root::new(uri));
        assert_eq!(found(format!("file://{base}")).as_deref(), Some(made.path()));
        assert_eq!(found(format!("file://localhost{base}/")).as_deref(), Some(made.path()));
        assert_eq!(found(format!("file://{base}/a%20b%20%E6%B7%B1%23")), Some(spaced));
        let wrong = ["https://example.org/a", "file://elsewhere/tmp", "file:///no/such/place"];
        let broken = ["", "file://", "file:///%", "file:///%2", "file:///%zz", "file:///%ff"];
        for uri in wrong.into_iter().chain(broken) {
            assert_eq!(found(uri.to_owned()), None, "{uri}");
        }
    }
}
