//! Memory of processes, in KiB, as Linux reports it. Other systems report nothing.

/// Returns the proportional set size of a process: shared pages count by their share.
pub fn proportional_kib(pid: u64) -> Option<u64> {
    smaps_kib(pid, "Pss:")
}

/// Returns the anonymous part of it. That isn't shared, so other processes that start and end don't
/// change it.
pub fn anonymous_kib(pid: u64) -> Option<u64> {
    smaps_kib(pid, "Pss_Anon:")
}

fn smaps_kib(pid: u64, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
