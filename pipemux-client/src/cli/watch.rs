//! `pipemux watch`: events as they come.

use pipemux_client::ClientError;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Body, Verb, Watch};
use pipemux_client::proto::watch::Events;

use super::ask::Asker;
use super::follow::{Follow, Step, TURN_MS, follow, note, otherwise};
use crate::output;

/// Prints events until `count` of them were printed, or somebody ends it; returns the exit status.
///
/// # Errors
/// There is no daemon to ask, or it doesn't know what is asked.
pub fn carry_out(
    asker: &Asker,
    since: Option<u64>,
    count: Option<u32>,
    all: bool,
) -> Result<u8, ClientError> {
    follow(asker, Watching { after: since, life: 0, all, left: count })
}

struct Watching {
    after: Option<u64>,
    /// The daemon's; 0: none has answered yet.
    life: u64,
    all: bool,
    /// Events until the end, if there is one.
    left: Option<u32>,
}

impl Follow for Watching {
    fn next(&mut self, asker: &Asker, connection: &mut Connection) -> Result<Step, ClientError> {
        // The first answer comes at once: from then on it is known what comes after.
        let wait_ms = if self.life == 0 { 0 } else { TURN_MS };
        let Watching { after, life, all, .. } = *self;
        let watch = Verb::Watch(Watch { after, life, wait_ms, all });
        let answer = asker.answer(connection, watch)?;
        match answer.body {
            Body::Events(events) => Ok(self.told(asker, &events)),
            _ => otherwise(asker, &answer),
        }
    }
}

impl Watching {
    fn told(&mut self, asker: &Asker, events: &Events) -> Step {
        let mut out = Vec::new();
        if self.life != 0 && self.life != events.life {
            out = note(asker, "restarted", "this is another daemon: its events are numbered anew");
        }
        if events.dropped > 0 {
            let text =
                format!("events up to {} were dropped before they were read", events.dropped);
            out.extend(note(asker, "dropped", &text));
        }
        let left = self.left.map_or(usize::MAX, |left| left as usize);
        for event in events.events.iter().take(left) {
            let line = match asker.global.json {
                // What came off the wire has string keys: this can't fail.
                true => serde_json::to_string(event).unwrap_or_default(),
                false => output::event_line(event),
            };
            out.extend(format!("{line}\n").bytes());
        }
        self.after = Some(events.last);
        self.life = events.life;
        let told = events.events.len();
        match &mut self.left {
            Some(left) if told >= *left as usize => return Step::Last(out, 0),
            Some(left) => *left -= u32::try_from(told).unwrap_or(*left),
            None => {}
        }
        Step::Print(out)
    }
}
