//! What an app and all that it started use together, as far as `/proc` shows it.
//!
//! Memory is counted so that it is never too much: pages that processes share count once. What is
//! only in a file of memory that no process has open or mapped isn't seen.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::mark::ProcessMark;
use crate::processes;

/// Descriptors of one process that are looked at, at most.
const DESCRIPTORS_MAX: usize = 1024;
/// The size of a block in the numbers that the file system reports, in bytes.
const BLOCK: u64 = 512;

/// The total usage of the processes with one mark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TreeUsage {
    /// Bytes of memory, with what they share counted once.
    pub memory: u64,
    /// Threads.
    pub threads: u64,
}

/// Sums up the processes with these marks; of a mark that needs more than `memory_max` bytes the
/// memory is counted exactly, which takes longer.
pub(crate) fn of_marks(
    limits: &HashMap<ProcessMark, Option<u64>>,
) -> HashMap<ProcessMark, TreeUsage> {
    let mut trees: HashMap<ProcessMark, Vec<i32>> = HashMap::new();
    for pid in processes::all_pids() {
        if let Some(mark) = processes::mark_of(pid).filter(|mark| limits.contains_key(mark)) {
            trees.entry(mark).or_default().push(pid);
        }
    }
    let usage = |(mark, pids): (ProcessMark, Vec<i32>)| {
        let mut usage = sum(Path::new("/proc"), &pids);
        let max = limits.get(&mark).copied().flatten();
        if max.is_some_and(|max| usage.memory > max) {
            usage.memory = usage.memory.min(proportional(Path::new("/proc"), &pids));
        }
        (mark, usage)
    };
    trees.into_iter().map(usage).collect()
}

/// Sums up processes: pages of a forked process count once more than they are there.
fn sum(proc: &Path, pids: &[i32]) -> TreeUsage {
    let mut usage = TreeUsage::default();
    let (mut largest_shared, mut files) = (0, HashMap::new());
    for pid in pids {
        let directory = proc.join(pid.to_string());
        let Ok(status) = fs::read_to_string(directory.join("status")) else { continue };
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok())
        };
        let kib = |name: &str| number(name).unwrap_or_default() * 1024;
        usage.memory += kib("RssAnon") + kib("VmSwap");
        usage.threads += number("Threads").unwrap_or_default();
        largest_shared = kib("RssShmem").max(largest_shared);
        add_memory_files(&directory.join("fd"), &mut files);
    }
    // A file of memory that is mapped is in both numbers.
    usage.memory += files.values().sum::<u64>().max(largest_shared);
    usage
}

/// Adds the files of memory that a process has open: each one's identity and size in memory.
fn add_memory_files(descriptors: &Path, files: &mut HashMap<(u64, u64), u64>) {
    let Ok(entries) = fs::read_dir(descriptors) else { return };
    for entry in entries.flatten().take(DESCRIPTORS_MAX) {
        let path = entry.path();
        let Ok(target) = fs::read_link(&path) else { continue };
        let target = target.to_string_lossy();
        if !target.starts_with("/memfd:") && !target.starts_with("/dev/shm/") {
            continue;
        }
        if let Ok(found) = fs::metadata(&path) {
            files.insert((found.dev(), found.ino()), found.blocks() * BLOCK);
        }
    }
}

/// Sums up the memory of processes exactly: a page that several processes have counts in parts. At
/// least what their open files of memory have counts.
fn proportional(proc: &Path, pids: &[i32]) -> u64 {
    let mut files = HashMap::new();
    let mut total = 0;
    for pid in pids {
        let directory = proc.join(pid.to_string());
        add_memory_files(&directory.join("fd"), &mut files);
        let Ok(rollup) = fs::read_to_string(directory.join("smaps_rollup")) else { continue };
        for name in ["Pss_Anon:", "SwapPss:"] {
            let line = rollup.lines().find_map(|line| line.strip_prefix(name));
            let kib =
                line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
            total += kib.unwrap_or_default() * 1024;
        }
    }
    total + files.values().sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(proc: &Path, pid: i32, anon: u64, shared: u64, threads: u64) {
        let directory = proc.join(pid.to_string());
        fs::create_dir_all(&directory).unwrap();
        let status = format!(
            "Name:\tx) y\nRssAnon:\t{anon} kB\nRssFile:\t9999 kB\nRssShmem:\t{shared} kB\nVmSwap:\t1 kB\nThreads:\t{threads}\n"
        );
        fs::write(directory.join("status"), status).unwrap();
        let rollup = format!("Rss: 1 kB\nPss: 77 kB\nPss_Anon: {} kB\nSwapPss: 1 kB\n", anon / 2);
        fs::write(directory.join("smaps_rollup"), rollup).unwrap();
    }

    #[test]
    fn a_tree_is_summed_and_what_it_shares_counts_once() {
        let proc = tempfile::tempdir().unwrap();
        process(proc.path(), 1, 100, 64, 3);
        process(proc.path(), 2, 100, 64, 4);
        let usage = sum(proc.path(), &[1, 2, 3]);
        assert_eq!(usage, TreeUsage { memory: (100 + 100 + 64 + 2) * 1024, threads: 7 });
        assert_eq!(proportional(proc.path(), &[1, 2, 3]), (50 + 50 + 2) * 1024);
    }
}
