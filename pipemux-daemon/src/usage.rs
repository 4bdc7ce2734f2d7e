//! Reads what the daemon and sessions use, when somebody asks. Each process and each file of a
//! session is looked at, which may take long, so that is done on a thread, one at a time.

use std::collections::HashMap;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::task::Waker;
use std::thread;

use pipemux_core::{Usage, UsageQuery, UsageReport};
use pipemux_launcher::{MarkOrigin, ProcessUsage, disk_usage, usage_of_marks, usage_of_self};

use crate::daemon_log::log;

/// Who asks, and for which sessions.
type UsageRequest = (u64, Vec<UsageQuery>);

/// Requests for usage, and what is being read.
#[derive(Debug)]
pub struct UsageReader {
    origin: MarkOrigin,
    state_dir: PathBuf,
    /// Wakes the driver once something was read.
    waker: Waker,
    /// What was asked for since the thread began.
    waiting: Vec<UsageRequest>,
    reading: Option<Receiver<Vec<(u64, UsageReport)>>>,
}

impl UsageReader {
    /// Reads nothing yet. Processes of apps have marks of `origin`.
    pub fn new(origin: MarkOrigin, state_dir: PathBuf, waker: Waker) -> Self {
        Self { origin, state_dir, waker, waiting: Vec::new(), reading: None }
    }

    /// Has what somebody asks for read. [`UsageReader::poll`] returns it.
    pub fn ask(&mut self, request: u64, sessions: Vec<UsageQuery>) {
        self.waiting.push((request, sessions));
        if self.reading.is_none() {
            self.begin();
        }
    }

    /// Returns what was read, each with the number of its request, and begins with what was asked
    /// for meanwhile.
    pub fn poll(&mut self) -> Vec<(u64, UsageReport)> {
        let read = match self.reading.as_ref().map(Receiver::try_recv) {
            None | Some(Err(TryRecvError::Empty)) => return Vec::new(),
            Some(read) => read.unwrap_or_default(),
        };
        self.reading = None;
        if !self.waiting.is_empty() {
            self.begin();
        }
        read
    }

    fn begin(&mut self) {
        let requests = mem::take(&mut self.waiting);
        let (send, receive) = channel();
        let (origin, state_dir) = (self.origin, self.state_dir.clone());
        let waker = self.waker.clone();
        let read = move || {
            // Nobody waits any more only when the daemon ends.
            let _ = send.send(read_all(requests, origin, &state_dir));
            waker.wake();
        };
        match thread::Builder::new().name("usage".into()).spawn(read) {
            Ok(_) => self.reading = Some(receive),
            // The requests end at their deadlines.
            Err(error) => log(format_args!("can't read what sessions use: {error}")),
        }
    }
}

fn read_all(
    requests: Vec<UsageRequest>,
    origin: MarkOrigin,
    state_dir: &Path,
) -> Vec<(u64, UsageReport)> {
    let queries = || requests.iter().flat_map(|(_, sessions)| sessions);
    let marks: Vec<_> =
        queries().filter_map(|query| query.process).map(|app| origin.mark(app.0)).collect();
    let used = usage_of_marks(&marks);
    let mut disks: HashMap<&str, u64> = HashMap::new();
    for query in queries() {
        let path = query.state_dir.as_str();
        disks.entry(path).or_insert_with(|| disk_usage(Path::new(path)));
    }
    let own = usage(usage_of_self(&marks), disk_usage(state_dir));
    let session = |query: &UsageQuery| {
        let mark = query.process.map(|app| origin.mark(app.0));
        let used = mark.and_then(|mark| used.get(&mark).copied());
        usage(used, disks.get(query.state_dir.as_str()).copied().unwrap_or_default())
    };
    let report = |sessions: &[UsageQuery]| UsageReport {
        own,
        sessions: sessions.iter().map(session).collect(),
    };
    requests.iter().map(|(request, sessions)| (*request, report(sessions))).collect()
}

fn usage(used: Option<ProcessUsage>, disk: u64) -> Usage {
    Usage {
        memory: used.map(|used| used.memory),
        cpu_ms: used.map(|used| used.cpu_ms),
        age_s: used.map(|used| used.age_s),
        disk: Some(disk),
    }
}
