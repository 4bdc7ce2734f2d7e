//! Takes samples from the system.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use docui::{Fault, regular_file};
use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

use crate::disks::DiskSampler;
use crate::format::printable;
use crate::sample::{Cpu, Inspected, Memory, Period, Process, Sample};

/// Shortest period that shares of CPU time are taken over. The system counts in ticks of 10 ms, so
/// a shorter one would be inaccurate.
const PERIOD_MIN: Duration = Duration::from_millis(250);

/// Takes samples. It remembers the previous counters, from which shares of CPU time are computed.
pub struct Sampler {
    system: System,
    disks: DiskSampler,
    /// When the counters were last read, and the CPU time that each process had used, in
    /// milliseconds.
    counters: Option<(Instant, HashMap<String, u64>)>,
    cpu: Cpu,
    /// Shares of processes, by key, over the same period as `cpu`.
    shares: HashMap<String, f32>,
}

impl Sampler {
    /// Prepares sampling. Takes no sample yet.
    ///
    /// # Errors
    /// The system is not supported.
    pub fn new(disks: DiskSampler) -> Result<Self, Fault> {
        let unknown = |error| Fault::failed(format!("this system provides no figures: {error}"));
        Ok(Self {
            system: System::new().map_err(unknown)?,
            disks,
            counters: None,
            cpu: Cpu::default(),
            shares: HashMap::new(),
        })
    }

    /// Takes a sample.
    pub fn sample(&mut self) -> Sample {
        let now = Instant::now();
        let since = self.counters.as_ref().map(|(then, _)| now.duration_since(*then));
        self.system.refresh_memory();
        // Threads are not shown, and reading one costs as much as reading a process.
        let kind = ProcessRefreshKind::nothing().with_memory().with_cpu().without_tasks();
        if since.is_none_or(|since| since >= PERIOD_MIN) {
            // CPUs come first: refreshing processes also refreshes the total, but not the cores.
            self.system.refresh_cpu_usage();
        }
        self.system.refresh_processes_specifics(ProcessesToUpdate::All, true, kind);
        if since.is_none_or(|since| since >= PERIOD_MIN) {
            self.count(now, since);
        }
        Sample {
            cpu: self.cpu.clone(),
            memory: Memory {
                used: self.system.used_memory(),
                available: self.system.available_memory(),
                total: self.system.total_memory(),
            },
            swap: (self.system.used_swap(), self.system.total_swap()),
            disks: self.disks.sample(),
            load: System::load_average().ok().map(|load| [load.one, load.five, load.fifteen]),
            uptime: System::uptime().ok(),
            processes: self.processes(),
        }
    }

    /// Reads the details of one process. Returns `None` if there is no process with this pid.
    pub fn inspect(&mut self, pid: u32) -> Option<Inspected> {
        let pid = Pid::from_u32(pid);
        let always = UpdateKind::Always;
        let kind = ProcessRefreshKind::nothing().with_memory().with_cmd(always).with_user(always);
        let only = [pid];
        let some = ProcessesToUpdate::Some(&only);
        self.system.refresh_processes_specifics(some, true, kind.without_tasks());
        let found = self.system.process(pid)?;
        let uid = found.user_id().map(|uid| **uid);
        let words = found.cmd().iter().map(|word| word.to_string_lossy());
        Some(Inspected {
            process: self.process(found),
            uid,
            user: printable(&uid.map_or_else(|| "an unknown user".to_owned(), user)),
            command: command(&words.collect::<Vec<_>>().join(" ")),
            age: Duration::from_secs(found.run_time()),
            parent: found.parent().map(Pid::as_u32),
            ended: matches!(found.status(), ProcessStatus::Zombie | ProcessStatus::Dead),
        })
    }

    /// Computes shares of CPU time over the period that ends now.
    fn count(&mut self, now: Instant, since: Option<Duration>) {
        let before = self.counters.take().map(|(_, used)| used).unwrap_or_default();
        let mut used = HashMap::with_capacity(before.len());
        self.shares.clear();
        for process in self.system.processes().values() {
            let process_key = key(process);
            let total = process.accumulated_cpu_time();
            let share = match (since, before.get(&process_key)) {
                (Some(since), Some(before)) => {
                    total.saturating_sub(*before) as f64 / since.as_millis().max(1) as f64
                }
                // The process started within the period, or this is the first sample.
                _ => lifetime_share(process),
            };
            self.shares.insert(process_key.clone(), (share * 100.0) as f32);
            used.insert(process_key, total);
        }
        self.counters = Some((now, used));
        self.cpu = Cpu {
            total: self.system.global_cpu_usage(),
            cores: match since {
                Some(_) => self.system.cpus().iter().map(sysinfo::Cpu::usage).collect(),
                None => Vec::new(),
            },
            count: self.system.cpus().len(),
            over: since.map_or(Period::Boot, Period::Last),
        };
    }

    fn processes(&self) -> Vec<Process> {
        self.system.processes().values().map(|process| self.process(process)).collect()
    }

    fn process(&self, process: &sysinfo::Process) -> Process {
        Process {
            pid: process.pid().as_u32(),
            start: process.start_time(),
            name: printable(&process.name().to_string_lossy()),
            cpu: match self.shares.get(&key(process)) {
                Some(share) => *share,
                None => (lifetime_share(process) * 100.0) as f32,
            },
            memory: process.memory(),
        }
    }
}

fn key(process: &sysinfo::Process) -> String {
    let (pid, start) = (process.pid().as_u32(), process.start_time());
    Process { pid, start, ..Process::default() }.key()
}

/// Returns the share of one core since a process started. Less than a second counts as one second.
fn lifetime_share(process: &sysinfo::Process) -> f64 {
    process.accumulated_cpu_time() as f64 / (process.run_time().max(1) * 1000) as f64
}

/// Returns a user's name from `/etc/passwd`, or `uid 1000` if it is not there. Other directories of
/// users are not asked, because they may block.
fn user(uid: u32) -> String {
    let users = regular_file::read_to_string(Path::new("/etc/passwd")).unwrap_or_default();
    let id = uid.to_string();
    let mut lines = users.lines().map(|line| line.split(':'));
    let name = lines.find_map(|mut fields| {
        let name = fields.next()?;
        (fields.nth(1)? == id).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("uid {id}"))
}

/// Makes a command line, which anybody may have chosen, fit into one line.
fn command(line: &str) -> String {
    const LONGEST: usize = 200;
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut shown: String = line.chars().take(LONGEST).map(clean).collect();
    if line.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disks() -> DiskSampler {
        DiskSampler::new("/".into(), docui::Handle::default())
    }

    #[test]
    fn sample_of_this_machine_is_plausible() {
        let mut sampler = Sampler::new(disks()).unwrap();
        let sample = sampler.sample();
        assert!(sample.memory.total > 0 && sample.memory.used <= sample.memory.total);
        assert!(sample.cpu.count > 0 && (0.0..=100.0).contains(&sample.cpu.total));
        assert_eq!(sample.cpu.over, Period::Boot);
        assert!(sample.processes.iter().any(|process| process.pid == std::process::id()));
        // If the second sample came too soon, the shares of the first one are kept.
        let again = sampler.sample();
        if again.cpu.over == Period::Boot {
            assert_eq!(again.cpu, sample.cpu);
        }
    }

    #[test]
    fn period_is_the_time_since_the_previous_sample() {
        let mut sampler = Sampler::new(disks()).unwrap();
        sampler.sample();
        // Pretends that the first sample was taken three seconds earlier.
        let (then, _) = sampler.counters.as_mut().unwrap();
        *then = then.checked_sub(Duration::from_secs(3)).unwrap();
        let sample = sampler.sample();
        let Period::Last(over) = sample.cpu.over else { panic!("{:?}", sample.cpu) };
        assert!(over >= Duration::from_secs(3) && over < Duration::from_secs(30), "{over:?}");
        assert_eq!(sample.cpu.cores.len(), sample.cpu.count);
    }

    #[test]
    fn inspection_identifies_this_process() {
        let mut sampler = Sampler::new(disks()).unwrap();
        let own = sampler.inspect(std::process::id()).unwrap();
        assert_eq!(Process::pid_in(&own.process.key()), Some(std::process::id()));
        assert_eq!(own.parent, Some(std::os::unix::process::parent_id()));
        assert!(own.process.memory > 0 && !own.command.is_empty() && !own.ended, "{own:?}");
        // A sample gives the process the same key.
        let sample = sampler.sample();
        assert!(sample.processes.iter().any(|process| process.key() == own.process.key()));
        assert_eq!(sampler.inspect(u32::MAX), None);
    }

    #[test]
    fn names_and_command_lines_are_made_printable() {
        assert_eq!(printable("a|b\n`c`"), "a?b??c?");
        assert_eq!(printable(&"x".repeat(100)).len(), 60);
        assert_eq!(command("sh -c\necho\u{1b}[1m |"), "sh -c echo [1m |");
        assert_eq!(command(&"語".repeat(300)).chars().count(), 201);
    }
}
