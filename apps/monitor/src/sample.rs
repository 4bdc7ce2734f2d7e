//! The figures of one moment, as plain data.

use std::time::Duration;

/// The figures of the machine at one moment. Sizes are in bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    pub cpu: Cpu,
    pub memory: Memory,
    /// Swap space: used and total.
    pub swap: (u64, u64),
    pub disks: DiskSample,
    /// Load averages over 1, 5 and 15 minutes, if the system has them.
    pub load: Option<[f64; 3]>,
    /// Seconds since boot, if the system tells.
    pub uptime: Option<u64>,
    /// All processes, in no particular order.
    pub processes: Vec<Process>,
}

/// Shares of CPU time over a period, in percent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cpu {
    /// The CPU share of all cores together, in percent: 100 means that all are busy.
    pub total: f32,
    /// The CPU share of each core, in percent; empty before the second sample.
    pub cores: Vec<f32>,
    /// The number of cores.
    pub count: usize,
    /// The period over which the shares are measured.
    pub over: Period,
}

/// The period over which a share of CPU time is measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Period {
    /// The time since boot; for a process, the time since its start.
    #[default]
    Boot,
    /// The time since the previous sample.
    Last(Duration),
}

/// The use of memory, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    pub used: u64,
    /// The memory that can still be allocated without swapping.
    pub available: u64,
    /// The total memory of the machine.
    pub total: u64,
}

/// The mounted disks at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DiskSample {
    /// The disks, sorted by mount point.
    pub disks: Vec<Disk>,
    /// True when a disk doesn't answer: these are the figures of an earlier moment.
    pub silent: bool,
}

/// A mounted disk. Sizes are in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disk {
    /// The directory where the disk is mounted.
    pub mount: String,
    /// The type of the file system: `ext4`.
    pub kind: String,
    /// The size of the disk.
    pub total: u64,
    /// The space in use.
    pub used: u64,
    /// The space that is free for ordinary users. Some more is usually reserved for root.
    pub available: u64,
    /// True when it is mounted read-only.
    pub read_only: bool,
    /// True when the session's directory is on it.
    pub own: bool,
}

impl Disk {
    /// Returns the share of the space that ordinary users can't write any more, in percent. As in
    /// `df`, it is rounded up, and the space reserved for root doesn't count.
    pub fn percent(&self) -> u64 {
        let whole = u128::from(self.used) + u128::from(self.available);
        match whole {
            0 => 0,
            // At most 100.
            whole => (u128::from(self.used) * 100).div_ceil(whole) as u64,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Process {
    /// The process id, which the system may reuse after the process has ended.
    pub pid: u32,
    /// The start time, in seconds since the Unix epoch.
    pub start: u64,
    pub name: String,
    /// The share of one core over the sample's period, in percent.
    pub cpu: f32,
    /// The resident memory, in bytes.
    pub memory: u64,
}

impl Process {
    /// Returns a key that tells it from any other process that had or will have the same pid.
    pub fn key(&self) -> String {
        format!("p{}-{}", self.pid, self.start)
    }

    /// Returns the pid in a process's key, or `None` if the key is not a process's.
    pub fn pid_in(key: &str) -> Option<u32> {
        key.strip_prefix('p')?.split_once('-')?.0.parse().ok()
    }
}

/// A process with the details that a confirmation shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inspected {
    pub process: Process,
    /// The id of the user who owns the process; `None` if the system doesn't report it.
    pub uid: Option<u32>,
    /// The name of that user, or `uid 1000` if there is no name.
    pub user: String,
    /// The command line; empty if the system does not show it.
    pub command: String,
    /// The time since the process started.
    pub age: Duration,
    /// The pid of the parent process; `None` if there is none.
    pub parent: Option<u32>,
    /// True when it has ended, but its parent has not waited for it yet (a zombie).
    pub ended: bool,
}
