//! What a process holds: memory and descriptors, read from `/proc`; nothing where there is none.

use std::fs;

/// Memory that a process has in use, in KiB.
pub fn resident(pid: i32) -> Option<u64> {
    status_of(pid, "VmRSS:")
}

/// The most memory that a process had in use since [`forget_peak`], or since its start, in KiB.
pub fn peak(pid: i32) -> Option<u64> {
    status_of(pid, "VmHWM:")
}

/// Lets [`peak`] count from now on; where that can't be done, it goes on counting from the start.
pub fn forget_peak(pid: i32) {
    let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

/// Descriptors that a process has open.
pub fn descriptors(pid: i32) -> Option<usize> {
    fs::read_dir(format!("/proc/{pid}/fd")).ok().map(Iterator::count)
}

/// Seconds of processor time that a process has used.
pub fn processor_seconds(pid: i32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything; behind it come the fields from the third on.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    // The kernel tells these in hundredths on every machine that this runs on.
    Some((ticks(14)? + ticks(15)?) / 100.0)
}

fn status_of(pid: i32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
