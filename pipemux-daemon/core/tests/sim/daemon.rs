//! The daemon: the core, a twin core that gets the same events, and the disk.

use pipemux_core::saved::Record;
use pipemux_core::{Core, Effect, Event, Now};

use crate::law::{LawResult, law};
use crate::sessions::config;

/// A sequence of daemons on one disk.
#[derive(Debug)]
pub struct Daemon {
    hosts: bool,
    core: Core,
    /// A second core that gets the same events and must have the same effects.
    twin: Option<Core>,
    /// The records in the log.
    pub records: Vec<Record>,
    /// Records that wait for room on the disk.
    pub unwritten: Vec<Record>,
    pub disk_full: bool,
    /// The number of this daemon, from 1.
    pub nth: u32,
    /// The number of effects until it is killed.
    pub crash_in: Option<u8>,
    pub stopping: bool,
    pub stopped: bool,
}

impl Daemon {
    /// Starts the first daemon, on an empty disk.
    pub fn first(hosts: bool, twin: bool) -> Self {
        let core = || Core::new(config(hosts), Vec::new());
        Self {
            hosts,
            core: core(),
            twin: twin.then(core),
            records: core().snapshot(),
            unwritten: Vec::new(),
            disk_full: false,
            nth: 1,
            crash_in: None,
            stopping: false,
            stopped: false,
        }
    }

    /// Starts the next daemon on the same disk. As the real one does, it compacts the log first.
    pub fn restart(&mut self) -> LawResult {
        let records = std::mem::take(&mut self.records);
        let core = |records: &[Record]| Core::new(config(self.hosts), records.to_vec());
        let twin = self.twin.as_ref().map(|_| core(&records));
        (self.core, self.twin) = (core(&records), twin);
        self.records = self.core.snapshot();
        self.unwritten.clear();
        (self.disk_full, self.crash_in) = (false, None);
        (self.stopping, self.stopped) = (false, false);
        self.nth += 1;
        let again = Core::new(config(self.hosts), self.records.clone()).snapshot();
        // Restored windows take numbers, so the reserved numbers may differ.
        let told = |records: &[Record]| -> Vec<Record> {
            let numbers = |record: &&Record| matches!(record, Record::Reserved { .. });
            records.iter().filter(|record| !numbers(record)).cloned().collect()
        };
        let (one, other) = (told(&self.records), told(&again));
        let difference = || first_difference(&one, &other);
        law!(one == other, "a snapshot restores what its log restored", "{}", difference());
        Ok(())
    }

    /// Compacts the log.
    pub fn compact(&mut self) {
        if !self.disk_full {
            self.records = self.core.snapshot();
        }
    }

    pub fn next_timeout(&self) -> Option<u64> {
        self.core.next_timeout()
    }

    /// Hands an event to both cores.
    pub fn handle(&mut self, event: Event, now: Now) -> LawResult<Vec<Effect>> {
        let mut others = Vec::new();
        if let Some(twin) = &mut self.twin {
            twin.handle(copy(&event), now, &mut others);
        }
        let mut effects = Vec::new();
        self.core.handle(event, now, &mut effects);
        self.compare(effects, &others)
    }

    /// Lets both cores handle their timeouts.
    pub fn handle_timeout(&mut self, now: Now) -> LawResult<Vec<Effect>> {
        let mut others = Vec::new();
        if let Some(twin) = &mut self.twin {
            twin.handle_timeout(now, &mut others);
        }
        let mut effects = Vec::new();
        self.core.handle_timeout(now, &mut effects);
        let next = self.core.next_timeout();
        law!(
            next.is_none_or(|at| at > now.mono_ms),
            "a timer that was due is gone",
            "{next:?} at {now:?}"
        );
        self.compare(effects, &others)
    }

    fn compare(&self, effects: Vec<Effect>, others: &[Effect]) -> LawResult<Vec<Effect>> {
        if self.twin.is_some() {
            let same = effects.len() == others.len()
                && effects.iter().zip(others).all(|(one, other)| is_same(one, other));
            law!(same, "the same events have the same effects", "{effects:?}\nand\n{others:?}");
        }
        Ok(effects)
    }

    /// Writes a record to the log, or keeps it until the disk has room.
    pub fn persist(&mut self, record: Record) {
        if self.disk_full { self.unwritten.push(record) } else { self.records.push(record) }
    }
}

fn first_difference(one: &[Record], other: &[Record]) -> String {
    let at = one.iter().zip(other).position(|(one, other)| one != other);
    let at = at.unwrap_or(one.len().min(other.len()));
    format!("record {at}: {:?} and {:?}", one.get(at), other.get(at))
}

fn is_same(one: &Effect, other: &Effect) -> bool {
    match (one, other) {
        (Effect::ToClient { client, bytes }, Effect::ToClient { client: c, bytes: b }) => {
            client == c && bytes == b
        }
        (Effect::ToApp { app, bytes }, Effect::ToApp { app: a, bytes: b }) => {
            app == a && bytes == b
        }
        (Effect::Start(one), Effect::Start(other)) => one == other,
        (Effect::Persist(one), Effect::Persist(other)) => one == other,
        (one, other) => format!("{one:?}") == format!("{other:?}"),
    }
}

fn copy(event: &Event) -> Event {
    match event {
        Event::ClientOpened { client } => Event::ClientOpened { client: *client },
        Event::ClientFrame { client, frame } => {
            Event::ClientFrame { client: *client, frame: frame.clone() }
        }
        Event::ClientBroken { client, why } => {
            Event::ClientBroken { client: *client, why: why.clone() }
        }
        Event::ClientEnded { client } => Event::ClientEnded { client: *client },
        Event::ClientClosed { client } => Event::ClientClosed { client: *client },
        Event::ClientIdentified { client, peer } => {
            Event::ClientIdentified { client: *client, peer: peer.clone() }
        }
        Event::AppFrame { app, frame } => Event::AppFrame { app: *app, frame: frame.clone() },
        Event::AppBroken { app, why } => Event::AppBroken { app: *app, why: why.clone() },
        Event::AppClosed { app } => Event::AppClosed { app: *app },
        Event::Started { app, pid, left_out } => {
            Event::Started { app: *app, pid: *pid, left_out: left_out.clone() }
        }
        Event::StartFailed { app, why } => Event::StartFailed { app: *app, why: why.clone() },
        Event::Exited { app, exit, last_lines } => {
            Event::Exited { app: *app, exit: *exit, last_lines: last_lines.clone() }
        }
        Event::ProgramChanged { app } => Event::ProgramChanged { app: *app },
        Event::ValueStored { request, stored } => {
            Event::ValueStored { request: *request, stored: stored.clone() }
        }
        Event::LogRead { request, read } => {
            Event::LogRead { request: *request, read: read.clone() }
        }
        Event::UsageRead { request, report } => {
            Event::UsageRead { request: *request, report: report.clone() }
        }
        Event::Providers { request, read } => {
            Event::Providers { request: *request, read: read.clone() }
        }
        Event::Disk { failing } => Event::Disk { failing: failing.clone() },
        Event::Rules(rules) => Event::Rules(rules.clone()),
        Event::Stop => Event::Stop,
    }
}
