//! Counts for the metrics. Without them each of these does nothing.

use std::time::Duration;

use pipemux_core::Event;
use pipemux_proto::envelope::{Kind, Method};

use super::Driver;
use crate::metrics::{Direction, Metrics, Present, Queue, Scrapes};
use crate::ready_queue::{Peer, ReadySource};

/// What is counted, and who reads it.
pub(super) struct Measuring {
    metrics: Metrics,
    scrapes: Scrapes,
}

impl Driver {
    /// Counts from now on. Returns the way in which readers ask for it.
    pub fn measure(&mut self) -> Scrapes {
        self.core.measure();
        let scrapes = Scrapes::new(self.ready_queue.waker(ReadySource::Metrics));
        let started = Duration::from_millis(self.read_clocks().unix_ms).as_secs_f64();
        let metrics = Metrics::new(started);
        self.measuring = Some(Box::new(Measuring { metrics, scrapes: scrapes.clone() }));
        scrapes
    }

    /// Notes when a request comes.
    pub(super) fn measure_event(&mut self, event: &Event) {
        let Some(measuring) = &mut self.measuring else { return };
        match event {
            Event::ClientFrame { client, frame } => {
                let envelope = &frame.envelope;
                if envelope.kind == Kind::Request && envelope.method == Method::Verb {
                    measuring.metrics.request_came(*client, envelope.id);
                }
            }
            Event::ClientClosed { client } => measuring.metrics.client_closed(*client),
            _ => {}
        }
    }

    /// Takes in what the core counted in this turn.
    pub(super) fn take_measurements(&mut self) {
        let Some(measuring) = &mut self.measuring else { return };
        for measured in self.core.take_measurements() {
            measuring.metrics.take_in(measured);
        }
    }

    /// Counts bytes that came or were queued.
    pub(super) fn measure_bytes(&self, peer: Peer, direction: Direction, bytes: usize) {
        if let Some(measuring) = &self.measuring {
            measuring.metrics.transferred(peer, direction, bytes);
        }
    }

    /// Answers those who read the metrics.
    pub(super) fn answer_scrapes(&self) {
        let Some(measuring) = &self.measuring else { return };
        measuring.scrapes.answer(|| measuring.metrics.text(&self.present()));
    }

    fn present(&self) -> Present {
        let queue = |is_one: fn(&Peer) -> bool| {
            let found = self.connections.iter().filter(|(peer, _)| is_one(peer));
            found.fold(Queue::default(), |queue, (_, connection)| Queue {
                connections: queue.connections + 1,
                waiting: queue.waiting + usize::from(connection.has_output()),
                bytes: queue.bytes + connection.queued(),
            })
        };
        Present {
            sessions: self.core.sessions_by_state(),
            open_requests: self.core.open_requests(),
            queues: [
                ("client", queue(|peer| matches!(peer, Peer::Client(_)))),
                ("app", queue(|peer| matches!(peer, Peer::App(_)))),
            ],
        }
    }
}
