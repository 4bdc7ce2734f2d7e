//! The state shared by components while one event is handled: the time, the timers, the effects so
//! far.

use pipemux_proto::ids::Incarnation;
use pipemux_tokens::work::Meter;

use crate::audit::AuditEntry;
use crate::event::{Effect, Now, Signal};
use crate::measurement::Measurement;
use crate::persist::numbers::Numbers;
use crate::persist::records::Record;
use crate::timers::{Timer, Timers};

/// Passed as `&mut Turn` to every component that needs the time, a timer, an effect or a number.
#[derive(Debug, Default)]
pub struct Turn {
    /// The time of the event that is being handled.
    pub now: Now,
    /// The time of the daemon's first event.
    pub began: Now,
    pub timers: Timers,
    /// Effects so far, in the order in which they are carried out.
    pub effects: Vec<Effect>,
    /// Numbers that are never used again, not by a later daemon either.
    pub numbers: Numbers,
    /// The measurements since they were last collected; `None` if nobody collects them.
    pub measurements: Option<Vec<Measurement>>,
    /// Counts the work of this turn.
    work: Meter,
    /// The last number that is unique only within this daemon's life.
    last_local: u64,
}

impl Turn {
    /// Returns true once an event or a timeout was handed in.
    pub fn has_begun(&self) -> bool {
        self.began != Now::default()
    }

    /// Begins a turn: its work is counted from here.
    pub fn begin(&mut self, now: Now) {
        self.now = now;
        self.work = Meter::start();
    }

    /// Returns the units of work that this turn has taken so far.
    pub fn work(&self) -> u64 {
        self.work.units()
    }

    /// The monotonic time in milliseconds.
    pub fn mono_ms(&self) -> u64 {
        self.now.mono_ms
    }

    /// Notes something that is counted, if anybody counts.
    pub fn measure(&mut self, measurement: impl FnOnce() -> Measurement) {
        if let Some(measurements) = &mut self.measurements {
            measurements.push(measurement());
        }
    }

    /// Sets a timer at a monotonic time in milliseconds.
    pub fn set_timer(&mut self, at: u64, timer: Timer) {
        self.timers.set(at, timer);
    }

    /// Takes a timer back.
    pub fn clear_timer(&mut self, at: u64, timer: Timer) {
        self.timers.clear(at, timer);
    }

    /// Appends a record to the saved state before any later effect is carried out.
    pub fn persist(&mut self, record: Record) {
        self.effects.push(Effect::Persist(record));
    }

    /// Writes a line of the audit log, at the time of this turn.
    pub fn audit(&mut self, entry: AuditEntry) {
        let entry = AuditEntry { unix_ms: self.now.unix_ms, ..entry };
        self.effects.push(Effect::Audit(Box::new(entry)));
    }

    /// Writes a line of the daemon's own into the log of an incarnation's process.
    pub fn note_log(&mut self, app: Incarnation, line: String) {
        self.effects.push(Effect::NoteLog { app, line });
    }

    /// Sends a signal to an incarnation's process.
    pub fn signal(&mut self, app: Incarnation, signal: Signal) {
        self.effects.push(Effect::Signal { app, signal });
    }

    /// A number of an incarnation, window or question: no earlier or later daemon of this state
    /// uses it.
    pub fn next_number(&mut self) -> u64 {
        let (number, reserved) = self.numbers.take();
        self.effects.extend(reserved.map(Effect::Persist));
        number
    }

    /// A number that is unique within this daemon's life, for client requests and deliveries.
    pub fn next_local(&mut self) -> u64 {
        self.last_local += 1;
        self.last_local
    }
}
