//! Enters the workspace that a request names.

use pipemux_proto::Fault;
use pipemux_proto::client::VerbRequest;

use crate::answers::delivery::reserve;
use crate::keys::WorkspaceKey;
use crate::persist::Persist;
use crate::runs::open_runs::OpenRuns;
use crate::turn::Turn;
use crate::workspaces::{Entered, FirstNumbers, Workspaces};

/// Enters the workspace of a request, and makes it if it is new.
///
/// # Errors
/// There are too many workspaces.
pub(super) fn enter_workspace(
    turn: &mut Turn,
    workspaces: &mut Workspaces,
    runs: &mut OpenRuns,
    persist: &mut Persist,
    call: &VerbRequest,
) -> Result<WorkspaceKey, Fault> {
    let (now, losses) = (turn.now, &persist.losses);
    let names = (call.workspace.key.as_str(), call.workspace.name.as_str());
    let Entered { key, created, retired, evicted_reader } =
        workspaces.enter(names, &call.reader, now, || {
            let (id, epoch) = losses.first_numbers();
            FirstNumbers { id, epoch }
        })?;
    if let Some(retired) = retired {
        runs.forget_workspace(&retired);
    }
    if let Some(evicted) = evicted_reader {
        runs.forget_kept(&key, &evicted);
    }
    if created {
        let news = persist.losses.take_news();
        if let (Some(text), Some(new)) = (news, workspaces.get_mut(&key)) {
            new.notify(text, now);
        }
        // The workspace must be on disk before any window of it is.
        reserve(workspaces, turn, &key);
    }
    Ok(key)
}
