//! Windows as resources: `pipemux://editor/main`. Reading one doesn't count as seen, since nobody
//! knows whether the model gets it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pipemux_client::proto::client::{Body, Verb, ViewArgs, WatchArgs};
use pipemux_client::proto::watch::{EventKind, WorkspaceEvent};
use pipemux_client::proto::{SessionAddr, Value};
use pipemux_client::tools::ToolVerb;
use rmcp::model::{
    ReadResourceResult, Resource, ResourceContents, ResourceUpdatedNotificationParam,
};
use rmcp::service::{Peer, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};

use crate::bridge::Bridge;

/// The prefix of a window's address in its URI.
const SCHEME: &str = "pipemux://";

/// Windows that one client may subscribe to.
const SUBSCRIPTIONS_MAX: usize = 256;

/// The time in milliseconds that a request waits for an event before the next is sent.
const LONG_POLL_MS: u32 = 20_000;

/// The pause between checks for a daemon that another process is to start.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The windows that a client has subscribed to.
#[derive(Debug, Default)]
pub struct Windows {
    subscribed: Mutex<Subscribed>,
}

#[derive(Debug, Default)]
struct Subscribed {
    uris: BTreeSet<String>,
    is_watched: bool,
}

impl Windows {
    /// Lists the windows of the workspace.
    ///
    /// # Errors
    /// The daemon can't be asked.
    pub async fn list(&self, bridge: &Bridge) -> Result<Vec<Resource>, ErrorData> {
        let request = ToolVerb::new(Verb::Sessions).into_request(&bridge.options());
        let mut request = request;
        request.format = pipemux_client::proto::client::Format::Json;
        let answer = bridge.ask(&request).await.map_err(|error| unavailable(&error))?;
        let Body::Data(Value::List(rows)) = answer.body else { return Ok(Vec::new()) };
        let own = bridge.options().workspace.name.clone();
        let field = |row: &Value, name: &str| match row {
            Value::Map(fields) => {
                let found = fields.iter().find(|(key, _)| key == name).map(|(_, value)| value);
                match found {
                    Some(Value::Str(text)) => Some(text.clone()),
                    _ => None,
                }
            }
            _ => None,
        };
        let of_workspace =
            |row: &&Value| field(row, "workspace").is_none_or(|workspace| workspace == own);
        let sessions = rows.iter().filter(of_workspace).filter_map(|row| field(row, "session"));
        let resource = |session: String| {
            Resource::new(format!("{SCHEME}{session}"), session).with_mime_type("text/markdown")
        };
        Ok(sessions.map(resource).collect())
    }

    /// Reads a window.
    ///
    /// # Errors
    /// There is no such window, or the daemon can't be asked.
    pub async fn read(&self, bridge: &Bridge, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let session = session(uri)?;
        let verb = Verb::View(ViewArgs { session: Some(session), ..ViewArgs::default() });
        let request = ToolVerb::new(verb).into_request(&bridge.options());
        let answer = bridge.ask(&request).await.map_err(|error| unavailable(&error))?;
        match answer.body {
            Body::Text(text) if answer.exit == 0 => {
                let contents = ResourceContents::text(text, uri).with_mime_type("text/markdown");
                Ok(ReadResourceResult::new(vec![contents]))
            }
            Body::Text(text) => Err(ErrorData::resource_not_found(text, None)),
            _ => Err(ErrorData::resource_not_found(format!("no window {uri}"), None)),
        }
    }

    /// Tells a client of an older revision when a window changes, from now on.
    ///
    /// # Errors
    /// It is no window, or the client has too many subscriptions.
    pub fn subscribe(
        self: &Arc<Self>,
        bridge: &Bridge,
        uri: &str,
        peer: Peer<RoleServer>,
    ) -> Result<(), ErrorData> {
        session(uri)?;
        let mut subscribed = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        if subscribed.uris.len() >= SUBSCRIPTIONS_MAX {
            let why = format!("too many subscriptions (limit {SUBSCRIPTIONS_MAX})");
            return Err(ErrorData::invalid_request(why, None));
        }
        subscribed.uris.insert(uri.to_owned());
        if !subscribed.is_watched {
            subscribed.is_watched = true;
            let (windows, bridge) = (self.clone(), bridge.clone());
            tokio::spawn(async move { windows.tell_peer(&bridge, &peer).await });
        }
        Ok(())
    }

    /// Ends a subscription.
    pub fn unsubscribe(&self, uri: &str) {
        let mut subscribed = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        subscribed.uris.remove(uri);
    }

    fn is_subscribed(&self, uri: &str) -> bool {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).uris.contains(uri)
    }

    /// Tells a client of what it accepted, until it cancels.
    pub async fn listen(&self, bridge: &Bridge, context: &SubscriptionContext) {
        let wanted = context.accepted();
        let (uris, list) = (&wanted.resource_subscriptions, wanted.resources_list_changed);
        let mut watch = Watch::default();
        loop {
            let events = tokio::select! {
                events = watch.next(bridge) => events,
                () = context.cancelled() => return,
            };
            for event in events {
                let sent = match news(&event) {
                    Some(News::Changed(uri))
                        if uris.as_ref().is_some_and(|uris| uris.contains(&uri)) =>
                    {
                        context.sink().notify_resource_updated(uri).await
                    }
                    Some(News::Listed) if list == Some(true) => {
                        context.sink().notify_resource_list_changed().await
                    }
                    _ => Ok(()),
                };
                if sent.is_err() {
                    return;
                }
            }
        }
    }

    async fn tell_peer(&self, bridge: &Bridge, peer: &Peer<RoleServer>) {
        let mut watch = Watch::default();
        while !peer.is_transport_closed() {
            for event in watch.next(bridge).await {
                let sent = match news(&event) {
                    Some(News::Changed(uri)) if self.is_subscribed(&uri) => {
                        let param = ResourceUpdatedNotificationParam::new(uri);
                        peer.notify_resource_updated(param).await
                    }
                    Some(News::Listed) => peer.notify_resource_list_changed().await,
                    _ => Ok(()),
                };
                if sent.is_err() {
                    return;
                }
            }
        }
    }
}

/// A notification about an event that a client wants.
enum News {
    /// A window's content changed.
    Changed(String),
    /// The list of windows changed.
    Listed,
}

fn news(event: &WorkspaceEvent) -> Option<News> {
    match event.what {
        EventKind::Changed | EventKind::Restarted | EventKind::Failed | EventKind::Crashed => {
            Some(News::Changed(format!("{SCHEME}{}", event.session.as_deref()?)))
        }
        EventKind::Opened | EventKind::Closed | EventKind::Ended => Some(News::Listed),
        _ => None,
    }
}

/// The state of following the workspace's events, one request after the other.
#[derive(Debug, Default)]
struct Watch {
    after: Option<u64>,
    /// Identifies the daemon that numbers the events; 0 before the first answer.
    life: u64,
}

impl Watch {
    /// Waits for the next events; there may be none.
    async fn next(&mut self, bridge: &Bridge) -> Vec<WorkspaceEvent> {
        // The first request doesn't wait: its answer tells after which event the next one
        // continues.
        let wait_ms = if self.life == 0 { 0 } else { LONG_POLL_MS };
        let watch = WatchArgs { after: self.after, life: self.life, wait_ms, all: false };
        let request = ToolVerb::new(Verb::Watch(watch)).into_request(&bridge.options());
        match bridge.watch(&request, Duration::from_millis(wait_ms.into())).await.map(|a| a.body) {
            Ok(Body::Events(events)) => {
                (self.after, self.life) = (Some(events.last), events.life);
                events.events
            }
            _ => {
                tokio::time::sleep(RETRY_PAUSE).await;
                Vec::new()
            }
        }
    }
}

fn session(uri: &str) -> Result<SessionAddr, ErrorData> {
    let address = uri.strip_prefix(SCHEME).and_then(|address| address.parse().ok());
    address.ok_or_else(|| {
        let why = format!("{uri} is no window: expected {SCHEME}editor/main");
        ErrorData::resource_not_found(why, None)
    })
}

fn unavailable(error: &pipemux_client::ClientError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
