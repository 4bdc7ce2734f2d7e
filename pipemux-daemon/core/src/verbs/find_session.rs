//! Finds the session that an address names.

use pipemux_proto::call::nearest;
use pipemux_proto::{Fault, SessionAddr};

use crate::keys::{SessionKey, WorkspaceKey};
use crate::processes::Processes;
use crate::providers::Providers;

/// Returns the session that an address means in a workspace.
///
/// # Errors
/// There is no such session.
pub(crate) fn find_session(
    processes: &Processes,
    providers: &Providers,
    at: &WorkspaceKey,
    addr: &SessionAddr,
) -> Result<SessionKey, Fault> {
    let visible: Vec<&SessionKey> = processes
        .sessions()
        .keys()
        .filter(|key| key.workspace.as_ref().is_none_or(|owner| owner == at))
        .collect();
    if let Some(key) = visible.iter().find(|key| key.addr == *addr) {
        return Ok((*key).clone());
    }
    let same_app = visible.iter().filter(|key| key.addr.provider == addr.provider);
    let names: Vec<String> = same_app.map(|key| key.to_string()).collect();
    let guess = nearest(&addr.to_string(), names.iter().map(String::as_str))
        .map_or(String::new(), |guess| format!(": did you mean {guess}?"));
    let fault = Fault::not_found(format!("no session {addr} here{guess}"));
    Err(if names.is_empty() && providers.contains_key(&addr.provider) {
        fault.hint(format!("pipemux open {addr}"))
    } else {
        fault.hint("pipemux sessions")
    })
}
