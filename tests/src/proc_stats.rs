//! Memory, descriptors and processor time of a process, read from `/proc`; `None` on other systems.

use std::fs;

/// Returns the resident memory of a process, in KiB.
pub fn resident_kib(pid: i32) -> Option<u64> {
    status_field(pid, "VmRSS:")
}

/// Returns the most resident memory that a process had since [`reset_peak`], or since its start, in
/// KiB.
pub fn peak_kib(pid: i32) -> Option<u64> {
    status_field(pid, "VmHWM:")
}

/// Makes [`peak_kib`] count from now on. Where the kernel refuses, it goes on counting from the
/// start.
pub fn reset_peak(pid: i32) {
    let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

/// Returns how many descriptors a process has open.
pub fn open_descriptors(pid: i32) -> Option<usize> {
    fs::read_dir(format!("/proc/{pid}/fd")).ok().map(Iterator::count)
}

/// Returns the processor time that a process has used, in seconds.
pub fn cpu_seconds(pid: i32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything; the fields behind it start with the third.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    // The kernel counts in hundredths of a second on every machine that this runs on.
    Some((ticks(14)? + ticks(15)?) / 100.0)
}

fn status_field(pid: i32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
