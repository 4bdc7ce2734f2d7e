//! The things that every handler needs: its request, the request's workspace, its task.
//!
//! They are there as long as a request has no answer, with one exception: a workspace without
//! windows may have made room for another one while an app was starting. A handler that misses one
//! of them returns a fault, and `Core::follow` answers the request with it: no request is dropped
//! without an answer. A request that is missing itself has its answer already.

use pipemux_proto::Fault;

use crate::clients::Clients;
use crate::clients::client_request::ClientRequest;
use crate::keys::RequestId;
use crate::runs::caller::Caller;
use crate::workspaces::{Workspace, Workspaces};

/// Returns a request that has no answer yet.
///
/// # Errors
/// The request has its answer already; the fault reaches nobody.
pub(crate) fn request(clients: &Clients, id: RequestId) -> Result<&ClientRequest, Fault> {
    clients.request(id).ok_or_else(|| Fault::unknown("the request was answered already"))
}

/// Returns the workspace of a request.
///
/// # Errors
/// The workspace made room for another one.
pub(crate) fn workspace<'a>(
    workspaces: &'a Workspaces,
    request: &ClientRequest,
) -> Result<&'a Workspace, Fault> {
    workspaces.get(&request.workspace).ok_or_else(|| lost(request, "the workspace is gone"))
}

/// Returns the workspace of a request, to change it.
///
/// # Errors
/// The workspace made room for another one.
pub(crate) fn workspace_mut<'a>(
    workspaces: &'a mut Workspaces,
    request: &ClientRequest,
) -> Result<&'a mut Workspace, Fault> {
    workspaces.get_mut(&request.workspace).ok_or_else(|| lost(request, "the workspace is gone"))
}

/// Returns the workspace of a run that has begun.
///
/// # Errors
/// The workspace made room for another one: nobody can tell which steps took effect.
pub(crate) fn workspace_of_run<'a>(
    workspaces: &'a Workspaces,
    caller: &Caller,
) -> Result<&'a Workspace, Fault> {
    workspaces.get(&caller.workspace).ok_or_else(|| {
        let why = "the daemon lost track of this run; its steps may have taken effect";
        Fault::unknown(why).hint("pipemux view")
    })
}

/// Returns the fault of a request that waits for nothing.
pub(crate) fn lost_request(request: &ClientRequest) -> Fault {
    lost(request, "the daemon lost track of this request")
}

/// Returns the fault for a request that can't continue. Only requests that change nothing may be
/// reported as unavailable, because that promises that nothing took effect.
fn lost(request: &ClientRequest, why: &str) -> Fault {
    if request.call.verb.changes() {
        let fault = Fault::unknown(format!("{why}; it may have taken effect"));
        fault.hint("pipemux view")
    } else {
        Fault::unavailable(why)
    }
}
