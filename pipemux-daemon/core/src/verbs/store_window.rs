//! Stores a window that an app sent for a run or a click, beside the answers that show windows.

use std::rc::Rc;

use pipemux_proto::Fault;

use crate::answers::delivery::reserve;
use crate::answers::held_window::render_held_window;
use crate::keys::{ProjectionKey, SessionKey, WorkspaceKey};
use crate::processes::Processes;
use crate::processes::reply::AppReply;
use crate::runs::ArrivedWindow;
use crate::turn::Turn;
use crate::workspaces::Workspaces;
use crate::workspaces::raw_projection::RawProjection;

/// Stores a window that an app sent in its workspace. With `render` it is also rendered and its ids
/// are reserved on disk, so that the ids of the objects that it shows are known.
///
/// # Errors
/// The app sent no window.
pub(crate) fn store_window(
    turn: &mut Turn,
    workspaces: &mut Workspaces,
    processes: &Processes,
    at: &WorkspaceKey,
    (key, projection_key): (&SessionKey, ProjectionKey),
    render: bool,
    reply: AppReply,
) -> Result<ArrivedWindow, Fault> {
    let body = match reply {
        AppReply::Reply(body) => body,
        AppReply::Fault(fault) => return Err(fault),
        AppReply::Lost { why, .. } => return Err(Fault::unavailable(why)),
    };
    let Some(app) = processes.get(key).and_then(|session| session.app()) else {
        return Err(Fault::unavailable(format!("{key} has ended")));
    };
    let projection = RawProjection::read(&body)
        .map_err(|error| Fault::unavailable(format!("{key} sent no window: {error}")))?;
    let Some(workspace) = workspaces.get_mut(at) else {
        return Err(Fault::unavailable("the workspace is gone"));
    };
    let version = projection.version;
    if let Some(window) = workspace.window_mut(key) {
        window.hold(projection_key, app, Rc::new(projection));
    }
    let ids = match render {
        true => render_held_window(workspace, key, processes, turn.now),
        false => Vec::new(),
    };
    let epoch = workspace.epoch;
    if render {
        reserve(workspaces, turn, at);
    }
    Ok(ArrivedWindow { app, version, ids, epoch })
}
