//! `pipemux watch`: prints events as they happen.

use pipemux_client::ClientError;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Body, Verb, WatchArgs};
use pipemux_client::proto::watch::Events;

use super::requester::Requester;
use super::streaming::{Chunk, LONG_POLL_MS, Source, end_with_answer, notice, stream};
use crate::output;

/// Prints events until `count` of them were printed or the user ends it. Returns the exit status.
///
/// # Errors
/// No daemon can be asked, or it doesn't know the verb.
pub fn execute(
    requester: &Requester,
    since: Option<u64>,
    count: Option<u32>,
    all: bool,
) -> Result<u8, ClientError> {
    let wanted = count.map(|count| format!("{count} event{}", if count == 1 { "" } else { "s" }));
    let source = EventSource { after: since, daemon_life: 0, all, remaining: count };
    stream(requester, source, wanted.as_deref())
}

struct EventSource {
    after: Option<u64>,
    /// Identifies the daemon that numbers the events; 0 before the first answer.
    daemon_life: u64,
    all: bool,
    /// Events until the end, if there is an end.
    remaining: Option<u32>,
}

impl Source for EventSource {
    fn next(
        &mut self,
        requester: &Requester,
        connection: &mut Connection,
    ) -> Result<Chunk, ClientError> {
        // The first request doesn't wait: its answer tells after which event the next one
        // continues.
        let wait_ms = if self.daemon_life == 0 { 0 } else { LONG_POLL_MS };
        let EventSource { after, daemon_life: life, all, .. } = *self;
        let watch = Verb::Watch(WatchArgs { after, life, wait_ms, all });
        let answer = requester.request_on(connection, watch)?;
        match answer.body {
            Body::Events(events) => Ok(self.print_events(requester, &events)),
            _ => end_with_answer(requester, &answer),
        }
    }
}

impl EventSource {
    fn print_events(&mut self, requester: &Requester, events: &Events) -> Chunk {
        let mut out = Vec::new();
        if self.daemon_life != 0 && self.daemon_life != events.life {
            let text = "another daemon was started: its events are numbered from the beginning";
            out = notice(requester, "restarted", text);
        }
        if events.dropped > 0 {
            let text =
                format!("events up to {} were dropped before they were read", events.dropped);
            out.extend(notice(requester, "dropped", &text));
        }
        let most = self.remaining.map_or(usize::MAX, |remaining| remaining as usize);
        for event in events.events.iter().take(most) {
            let line = match requester.global.json {
                // An event from the wire has string keys, so this can't fail.
                true => serde_json::to_string(event).unwrap_or_default(),
                false => output::event_line(event),
            };
            out.extend(format!("{line}\n").bytes());
        }
        self.after = Some(events.last);
        self.daemon_life = events.life;
        let received = events.events.len();
        match &mut self.remaining {
            Some(remaining) if received >= *remaining as usize => return Chunk::Last(out, 0),
            Some(remaining) => *remaining -= u32::try_from(received).unwrap_or(*remaining),
            None => {}
        }
        Chunk::More(out)
    }
}
