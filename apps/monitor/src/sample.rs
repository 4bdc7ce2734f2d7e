//! Figures of one moment, as plain data.

use std::time::Duration;

/// What the machine was doing at one moment. Sizes are in bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// CPU time.
    pub cpu: Cpu,
    /// Memory.
    pub memory: Memory,
    /// Swap, used and in all.
    pub swap: (u64, u64),
    /// Disks, by mount point.
    pub disks: Vec<Disk>,
    /// Load averages over 1, 5 and 15 minutes; none where the system has none.
    pub load: Option<[f64; 3]>,
    /// Seconds since boot; none where the system doesn't tell.
    pub uptime: Option<u64>,
    /// All processes, in no order.
    pub processes: Vec<Process>,
}

/// Shares of CPU time over a period, in percent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cpu {
    /// Of all cores together: 100 is all of them busy.
    pub total: f32,
    /// Of each core; empty when the period has none yet.
    pub cores: Vec<f32>,
    /// How many cores there are.
    pub count: usize,
    /// The period.
    pub over: Period,
}

/// What a share of CPU time is a share of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Period {
    /// The time since boot; for a process, its life.
    #[default]
    Boot,
    /// The time since the sample before.
    Last(Duration),
}

/// Memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// Taken.
    pub used: u64,
    /// What could still be taken without swapping.
    pub available: u64,
    /// In all.
    pub total: u64,
}

/// A mounted disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disk {
    /// Where it is mounted.
    pub mount: String,
    /// Its file system: `ext4`.
    pub kind: String,
    /// In all.
    pub total: u64,
    /// Free for a user.
    pub available: u64,
    /// True for what can't fill up.
    pub read_only: bool,
}

impl Disk {
    /// What a user can't write any more, blocks reserved for root among it: `df` counts those apart.
    pub fn used(&self) -> u64 {
        self.total.saturating_sub(self.available)
    }
}

/// A process.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Process {
    /// Its id, which the system gives again when it has ended.
    pub pid: u32,
    /// When it started, in seconds since 1970.
    pub start: u64,
    /// Its name.
    pub name: String,
    /// Share of one core's time in percent, over the sample's period.
    pub cpu: f32,
    /// Its resident memory.
    pub memory: u64,
}

impl Process {
    /// The process and no other one of the same pid.
    pub fn key(&self) -> String {
        format!("p{}-{}", self.pid, self.start)
    }

    /// The pid in a key, if it is one of ours.
    pub fn pid_in(key: &str) -> Option<u32> {
        key.strip_prefix('p')?.split_once('-')?.0.parse().ok()
    }
}

/// A process at a closer look.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inspected {
    /// Its figures.
    pub process: Process,
    /// The id of the user that it belongs to; none where the system doesn't tell.
    pub uid: Option<u32>,
    /// That user's name, or the id where there is no name.
    pub user: String,
    /// Its command line; empty when the system shows none.
    pub command: String,
    /// How long it has run.
    pub age: Duration,
    /// The process that it was started by, or is now kept by.
    pub parent: Option<u32>,
    /// True when it has ended and only its parent's taking note is missing.
    pub ended: bool,
}
