//! Metrics for Prometheus, off unless the user names an address for them. Without one, nothing is
//! counted.
//!
//! | module | contents |
//! |---|---|
//! | `metrics` | what is counted, and its text |
//! | `metrics::address` | where they can be read: a Unix socket or a loopback port |
//! | `metrics::server` | answers whoever reads them |

mod address;
mod server;

use std::sync::atomic::AtomicU64;
use std::time::Instant;

use pipemux_core::{ClientId, Measurement};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry, Unit};
use rustc_hash::FxHashMap;

use crate::limits::METRICS_REQUESTS_MAX;
use crate::ready_queue::Peer;

pub use address::{MetricsAddress, MetricsListener};
pub use server::{Scrapes, serve};

/// The environment variable for the address.
pub const VARIABLE: &str = "PIPEMUX_METRICS";

/// Upper bounds of the classes of latencies, in seconds: from a view that needs nobody to one that
/// waits for an app.
const LATENCIES: [f64; 13] =
    [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0];

type Labels<const N: usize> = [(&'static str, String); N];
type Latencies = Family<Labels<1>, Histogram, fn() -> Histogram>;

/// The counters and gauges.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    /// The arrival times of the requests that have no answer yet.
    came: FxHashMap<(ClientId, u64), Instant>,
    requests: Family<Labels<2>, Counter>,
    latencies: Latencies,
    tokens_shown: Counter,
    tokens_available: Counter,
    app_starts: Family<Labels<1>, Counter>,
    app_restarts: Family<Labels<1>, Counter>,
    bytes: Family<Labels<2>, Counter>,
    sessions: Family<Labels<1>, Gauge>,
    clients: Gauge,
    open_requests: Gauge,
    queues: Family<Labels<1>, Gauge>,
    queued_bytes: Family<Labels<1>, Gauge>,
    started: Gauge<f64, AtomicU64>,
}

/// The current state, as far as the driver knows it.
#[derive(Debug, Default)]
pub struct Present {
    /// Sessions by state.
    pub sessions: Vec<(&'static str, usize)>,
    /// Requests of clients that have no answer yet.
    pub open_requests: usize,
    /// For clients and for apps: connections, those with something to send, and the bytes of that.
    pub queues: [(&'static str, Queue); 2],
}

/// Connections of one kind, and what they leave unread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Queue {
    pub connections: usize,
    /// The number of connections with something to send.
    pub waiting: usize,
    /// The number of bytes to be sent.
    pub bytes: usize,
}

/// The direction of bytes from the daemon's point of view.
#[derive(Debug, Clone, Copy)]
pub enum Direction {
    /// Read by the daemon.
    In,
    /// Sent by the daemon.
    Out,
}

/// Counts bytes, for [`Metrics`].
#[derive(Debug)]
pub struct ByteCounter(Family<Labels<2>, Counter>);

impl Metrics {
    /// Counts from now on. `unix_seconds` is the present time.
    pub fn new(unix_seconds: f64) -> Self {
        let mut registry = Registry::with_prefix("pipemux");
        let r = &mut registry;
        let new_histogram: fn() -> Histogram = || Histogram::new(LATENCIES);
        let latencies = Family::new_with_constructor(new_histogram);
        let metrics = Self {
            came: FxHashMap::default(),
            requests: add(r, "requests", None, "Answered requests of clients"),
            latencies: {
                let help = "Time from a request to its answer";
                r.register_with_unit("request_duration", help, Unit::Seconds, latencies.clone());
                latencies
            },
            tokens_shown: add(r, "tokens_shown", None, "Tokens of answers"),
            tokens_available: add(
                r,
                "tokens_available",
                None,
                "Tokens that those answers would have had in whole",
            ),
            app_starts: add(r, "app_starts", None, "Processes of sessions started"),
            app_restarts: add(
                r,
                "app_restarts",
                None,
                "Processes of sessions started after a crash",
            ),
            bytes: add(
                r,
                "transferred",
                Some(Unit::Bytes),
                "Bytes between the daemon and its peers",
            ),
            sessions: add(r, "sessions", None, "Sessions by state"),
            clients: add(r, "clients", None, "Connected clients"),
            open_requests: add(r, "open_requests", None, "Requests of clients without an answer"),
            queues: add(r, "waiting_peers", None, "Peers with something left to send to them"),
            queued_bytes: add(r, "queued", Some(Unit::Bytes), "What is left to send"),
            started: add(
                r,
                "start_time",
                Some(Unit::Seconds),
                "When the daemon started, since 1970",
            ),
            registry: Registry::default(),
        };
        metrics.started.set(unix_seconds);
        Self { registry, ..metrics }
    }

    /// Notes when a request came.
    pub fn request_came(&mut self, client: ClientId, request: u64) {
        if self.came.len() < METRICS_REQUESTS_MAX {
            self.came.insert((client, request), Instant::now());
        }
    }

    /// Forgets the requests of a client that is gone, except for counting those that are answered
    /// yet.
    pub fn client_closed(&mut self, client: ClientId) {
        self.came.retain(|(owner, _), _| *owner != client);
    }

    /// Adds what the core has counted.
    pub fn add(&mut self, measurement: Measurement) {
        match measurement {
            Measurement::Answered { client, request, verb, exit } => {
                let labels = [("verb", verb.to_owned()), ("outcome", outcome(exit).to_owned())];
                self.requests.get_or_create(&labels).inc();
                if let Some(came) = self.came.remove(&(client, request)) {
                    let labels = [("verb", verb.to_owned())];
                    let took = came.elapsed().as_secs_f64();
                    self.latencies.get_or_create(&labels).observe(took);
                }
            }
            Measurement::Shown { shown, available } => {
                self.tokens_shown.inc_by(shown);
                self.tokens_available.inc_by(available);
            }
            Measurement::Started { provider, again } => {
                let labels = [("provider", provider.to_string())];
                self.app_starts.get_or_create(&labels).inc();
                let restarts = self.app_restarts.get_or_create(&labels);
                if again {
                    restarts.inc();
                }
            }
        }
    }

    /// Counts the bytes that the daemon reads and sends.
    pub fn byte_counter(&self) -> ByteCounter {
        ByteCounter(self.bytes.clone())
    }

    /// Writes all metrics in the text format of OpenMetrics.
    pub fn text(&self, present: &Present) -> String {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        self.sessions.clear();
        for (state, number) in &present.sessions {
            let labels = [("state", (*state).to_owned())];
            self.sessions.get_or_create(&labels).set(count(*number));
        }
        self.open_requests.set(count(present.open_requests));
        for (peer, queue) in &present.queues {
            let labels = [("peer", (*peer).to_owned())];
            self.queues.get_or_create(&labels).set(count(queue.waiting));
            self.queued_bytes.get_or_create(&labels).set(count(queue.bytes));
            if *peer == "client" {
                self.clients.set(count(queue.connections));
            }
        }
        let mut text = String::new();
        // Writing into a string can't fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

impl ByteCounter {
    /// Counts bytes.
    pub fn add(&self, peer: Peer, direction: Direction, bytes: usize) {
        let peer = match peer {
            Peer::Client(_) => "client",
            Peer::App(_) => "app",
        };
        let direction = match direction {
            Direction::In => "in",
            Direction::Out => "out",
        };
        let labels = [("peer", peer.to_owned()), ("direction", direction.to_owned())];
        self.0.get_or_create(&labels).inc_by(bytes as u64);
    }
}

/// Registers a metric that begins at zero.
fn add<M: Metric + Clone + Default>(
    registry: &mut Registry,
    name: &str,
    unit: Option<Unit>,
    help: &str,
) -> M {
    let metric = M::default();
    match unit {
        Some(unit) => registry.register_with_unit(name, help, unit, metric.clone()),
        None => registry.register(name, help, metric.clone()),
    }
    metric
}

/// The name of an exit status.
fn outcome(exit: u8) -> &'static str {
    match exit {
        0 => "done",
        1 => "failed",
        2 => "usage",
        3 => "not_found",
        4 => "stale",
        5 => "question",
        6 => "unavailable",
        7 => "unknown",
        8 => "version",
        9 => "refused",
        _ => "other",
    }
}
