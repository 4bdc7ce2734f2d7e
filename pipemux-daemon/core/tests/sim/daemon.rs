//! The daemon's life: the core, its twin that is told the same, and the disk.

use pipemux_core::saved::Record;
use pipemux_core::{Core, Effect, Event, Now};

use crate::law::{Lawful, law};
use crate::places::config;

/// One daemon after the other on one disk.
#[derive(Debug)]
pub struct Daemon {
    hosts: bool,
    core: Core,
    /// Told the same events: it must want the same.
    twin: Option<Core>,
    /// The log.
    pub records: Vec<Record>,
    /// Records that wait for room.
    pub unwritten: Vec<Record>,
    pub disk_full: bool,
    /// Which daemon this is, from 1.
    pub nth: u32,
    /// Effects until it is killed.
    pub crash_in: Option<u8>,
    pub stopping: bool,
    pub stopped: bool,
}

impl Daemon {
    /// The first one, on an empty disk.
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

    /// Another one begins on what is on the disk: as the real one does, it writes the log anew first.
    pub fn succeed(&mut self) -> Lawful {
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
        // Windows that are restored take numbers.
        let told = |records: &[Record]| -> Vec<Record> {
            let numbers = |record: &&Record| matches!(record, Record::Reserved { .. });
            records.iter().filter(|record| !numbers(record)).cloned().collect()
        };
        let (one, other) = (told(&self.records), told(&again));
        let difference = || first_difference(&one, &other);
        law!(one == other, "a snapshot says what the log said", "{}", difference());
        Ok(())
    }

    /// Writes the log anew.
    pub fn compact(&mut self) {
        if !self.disk_full {
            self.records = self.core.snapshot();
        }
    }

    pub fn next_timeout(&self) -> Option<u64> {
        self.core.next_timeout()
    }

    /// Hands an event to both cores.
    pub fn handle(&mut self, event: Event, now: Now) -> Lawful<Vec<Effect>> {
        let mut others = Vec::new();
        if let Some(twin) = &mut self.twin {
            twin.handle(copy(&event), now, &mut others);
        }
        let mut effects = Vec::new();
        self.core.handle(event, now, &mut effects);
        self.compare(effects, &others)
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Now) -> Lawful<Vec<Effect>> {
        let mut others = Vec::new();
        if let Some(twin) = &mut self.twin {
            twin.handle_timeout(now, &mut others);
        }
        let mut effects = Vec::new();
        self.core.handle_timeout(now, &mut effects);
        let next = self.core.next_timeout();
        law!(next.is_none_or(|at| at > now.mono_ms), "what was due is done", "{next:?} at {now:?}");
        self.compare(effects, &others)
    }

    fn compare(&self, effects: Vec<Effect>, others: &[Effect]) -> Lawful<Vec<Effect>> {
        if self.twin.is_some() {
            let same = effects.len() == others.len()
                && effects.iter().zip(others).all(|(one, other)| is_same(one, other));
            law!(same, "the same events have the same effects", "{effects:?}\nand\n{others:?}");
        }
        Ok(effects)
    }

    /// Writes a record down, or keeps it until there is room.
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
        Event::ClientClosed { client } => Event::ClientClosed { client: *client },
        Event::AppFrame { app, frame } => Event::AppFrame { app: *app, frame: frame.clone() },
        Event::AppBroken { app, why } => Event::AppBroken { app: *app, why: why.clone() },
        Event::AppClosed { app } => Event::AppClosed { app: *app },
        Event::Started { app, pid } => Event::Started { app: *app, pid: *pid },
        Event::StartFailed { app, why } => Event::StartFailed { app: *app, why: why.clone() },
        Event::Exited { app, exit, last_lines } => {
            Event::Exited { app: *app, exit: *exit, last_lines: last_lines.clone() }
        }
        Event::LogRead { request, read } => {
            Event::LogRead { request: *request, read: read.clone() }
        }
        Event::Providers { request, read } => {
            Event::Providers { request: *request, read: read.clone() }
        }
        Event::Disk { failing } => Event::Disk { failing: failing.clone() },
        Event::Stop => Event::Stop,
    }
}
