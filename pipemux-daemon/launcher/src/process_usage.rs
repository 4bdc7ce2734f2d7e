//! What processes use, for people who ask: read from `/proc`, with pages that several processes
//! have counted in parts.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::mark::ProcessMark;
use crate::processes;

/// The total usage of several processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Bytes of memory.
    pub memory: u64,
    /// Processor time, also of children that have ended, in milliseconds.
    pub cpu_ms: u64,
    /// The run time of the oldest process, in seconds.
    pub age_s: u64,
}

/// The length of a clock's tick in the kernel's files, in milliseconds: it is the same on all
/// machines.
const TICK_MS: u64 = 10;

/// Returns what the processes with each of these marks use together. A mark without a process is
/// missing.
pub fn usage_of_marks(marks: &[ProcessMark]) -> HashMap<ProcessMark, ProcessUsage> {
    let mut pids: HashMap<ProcessMark, Vec<i32>> = HashMap::new();
    for pid in processes::all_pids() {
        if let Some(mark) = processes::mark_of(pid).filter(|mark| marks.contains(mark)) {
            pids.entry(mark).or_default().push(pid);
        }
    }
    let found = pids.into_iter();
    found.filter_map(|(mark, pids)| Some((mark, sum(Path::new("/proc"), &pids)?))).collect()
}

/// Returns what this process and its children without a mark of these use together.
pub fn usage_of_self(marks: &[ProcessMark]) -> Option<ProcessUsage> {
    let is_other = |pid: &i32| processes::mark_of(*pid).is_none_or(|mark| !marks.contains(&mark));
    let mut pids: Vec<i32> = processes::children().into_iter().filter(is_other).collect();
    pids.push(nix::unistd::getpid().as_raw());
    sum(Path::new("/proc"), &pids)
}

/// Sums up the processes that are still there; none if there is none.
fn sum(proc: &Path, pids: &[i32]) -> Option<ProcessUsage> {
    let read = |name: &str| fs::read_to_string(proc.join(name)).ok();
    let up: f64 = read("uptime")?.split(' ').next()?.parse().ok()?;
    let mut usage = None;
    for pid in pids {
        let Some(stat) = read(&format!("{pid}/stat")) else { continue };
        // The program's name before this may contain anything.
        let Some((_, fields)) = stat.rsplit_once(") ") else { continue };
        let field = |at| fields.split(' ').nth(at).and_then(|field| field.parse::<u64>().ok());
        let ticks: u64 = (11..=14).filter_map(field).sum();
        let began_s = field(19).unwrap_or_default() * TICK_MS / 1000;
        let kib = |file: &str, name: &str| {
            let text = read(&format!("{pid}/{file}"))?;
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_ascii_whitespace().next()?.parse::<u64>().ok()
        };
        let proportional = || Some(kib("smaps_rollup", "Pss:")? + kib("smaps_rollup", "SwapPss:")?);
        let memory = proportional().or_else(|| kib("status", "VmRSS:")).unwrap_or_default();
        let all: &mut ProcessUsage = usage.get_or_insert_default();
        all.memory += memory * 1024;
        all.cpu_ms += ticks * TICK_MS;
        all.age_s = all.age_s.max((up as u64).saturating_sub(began_s));
    }
    usage
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_summed_and_memory_that_is_not_told_in_parts_counts_whole() {
        let proc = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = proc.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("uptime", "100.50 7.00\n");
        let stat =
            |began| format!("1 (a) b) S 1 1 1 0 -1 0 0 0 0 0 5 6 7 8 20 0 1 0 {began} 0 0\n");
        write("1/stat", &stat(4_000));
        write("1/smaps_rollup", "Rss: 9 kB\nPss:  30 kB\nPss_Anon: 2 kB\nSwapPss: 2 kB\n");
        write("2/stat", &stat(9_000));
        write("2/status", "Name:\tx\nVmRSS:\t 8 kB\n");
        let usage = ProcessUsage { memory: 40 * 1024, cpu_ms: 520, age_s: 60 };
        assert_eq!(sum(proc.path(), &[1, 2, 3]), Some(usage));
        assert_eq!(sum(proc.path(), &[3]), None);
    }

    #[test]
    fn this_process_is_measured_as_the_system_does() {
        let usage = usage_of_self(&[]).unwrap();
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kib: u64 = resident.trim().trim_end_matches(" kB").parse().unwrap();
        assert!((1..=kib * 1024).contains(&usage.memory), "{usage:?}, {kib} KiB at most");
    }
}
