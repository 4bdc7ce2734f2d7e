//! `watch`: what happened after an entry of the feed, at once or when something does.

use pipemux_proto::client::{Body, WatchArgs};
use pipemux_proto::limits::WAIT_MAX_MS;
use pipemux_proto::watch::Events;

use crate::clients::client_request::ClientRequest;
use crate::feed::Feed;
use crate::keys::WorkspaceKey;
use crate::limits::{EVENTS_A_TURN, WATCH_PAUSE_MS};
use crate::turn::Turn;
use crate::verbs::next::{Next, Work};
use crate::verbs::tasks::Wait;
use crate::workspaces::Workspaces;

/// Returns the entries of the feed after a number, at once or when there are any.
pub(crate) fn watch(
    feed: &Feed,
    workspaces: &Workspaces,
    life: u64,
    request: &ClientRequest,
    mut watch: WatchArgs,
) -> Next {
    let after = match watch.after {
        None => feed.last(),
        // Numbers of another daemon's life mean nothing here.
        Some(_) if watch.life != 0 && watch.life != life => 0,
        Some(after) => after.min(feed.last()),
    };
    watch.after = Some(after);
    let wait_ms = u64::from(watch.wait_ms.min(WAIT_MAX_MS));
    if wait_ms == 0 || has_events_after(feed, request, &watch) {
        return events_after(feed, workspaces, life, request, &watch);
    }
    Next::Work(Work::Await {
        wait: Box::new(Wait::Watch(watch)),
        wait_ms,
        pause_ms: WATCH_PAUSE_MS,
    })
}

/// True when there are entries that a request waits for.
pub(crate) fn has_events_after(feed: &Feed, request: &ClientRequest, watch: &WatchArgs) -> bool {
    let workspace = (!watch.all).then_some(&request.workspace);
    feed.after(watch.after.unwrap_or(0), workspace).next().is_some()
}

/// Answers with the oldest entries that a request waits for, as many as fit in an answer.
pub(crate) fn events_after(
    feed: &Feed,
    workspaces: &Workspaces,
    life: u64,
    request: &ClientRequest,
    watch: &WatchArgs,
) -> Next {
    let workspace = (!watch.all).then_some(&request.workspace);
    let after = watch.after.unwrap_or(0);
    let dropped = if feed.dropped() > after { feed.dropped() } else { 0 };
    let name = |key: &WorkspaceKey| match workspaces.get(key) {
        Some(workspace) => workspace.name.clone(),
        None => key.to_string(),
    };
    let mut later = feed.after(after, workspace);
    let events: Vec<_> =
        later.by_ref().take(EVENTS_A_TURN).map(|entry| entry.to_occurrence(name)).collect();
    let more = later.next().is_some();
    let last = match events.last() {
        Some(event) if more => event.number,
        _ => feed.last(),
    };
    Next::Body(Body::Events(Events { life, last, dropped, events }))
}

/// Returns the time at which this daemon began, which distinguishes its life from others.
pub(crate) fn life(turn: &Turn) -> u64 {
    turn.began.unix_ms.max(1)
}
