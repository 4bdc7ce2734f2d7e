//! Collects the metrics, if the user wants them.

use std::task::Waker;
use std::time::Duration;

use pipemux_core::{Core, Event, Now};
use pipemux_proto::envelope::{Kind, Method};

use super::connections::Connections;
use crate::metrics::{Metrics, Present, Scrapes};
use crate::ready_queue::Peer;

/// The metrics, and who reads them.
pub(super) struct Measuring {
    metrics: Metrics,
    scrapes: Scrapes,
}

impl Measuring {
    /// Counts from now on. Readers wake `waker`.
    pub(super) fn start(
        core: &mut Core,
        connections: &mut Connections,
        now: Now,
        waker: Waker,
    ) -> Self {
        let metrics = Metrics::new(Duration::from_millis(now.unix_ms).as_secs_f64());
        core.measure();
        connections.measure(metrics.byte_counter());
        Self { metrics, scrapes: Scrapes::new(waker) }
    }

    /// The way in which readers ask for the metrics.
    pub(super) fn scrapes(&self) -> Scrapes {
        self.scrapes.clone()
    }

    /// Notes when a request comes.
    pub(super) fn record_event(&mut self, event: &Event) {
        match event {
            Event::ClientFrame { client, frame } => {
                let envelope = &frame.envelope;
                if envelope.kind == Kind::Request && envelope.method == Method::Verb {
                    self.metrics.request_came(*client, envelope.id);
                }
            }
            Event::ClientClosed { client } => self.metrics.client_closed(*client),
            _ => {}
        }
    }

    /// Adds what the core has counted since the last call.
    pub(super) fn collect(&mut self, core: &mut Core) {
        for measurement in core.take_measurements() {
            self.metrics.add(measurement);
        }
    }

    /// Answers those who read the metrics.
    pub(super) fn answer(&self, core: &Core, connections: &Connections) {
        let present = || Present {
            sessions: core.status().sessions_by_state(),
            open_requests: core.status().open_requests(),
            queues: [
                ("client", connections.queue(Peer::is_client)),
                ("app", connections.queue(Peer::is_app)),
            ],
        };
        self.scrapes.answer(|| self.metrics.text(&present()));
    }
}
