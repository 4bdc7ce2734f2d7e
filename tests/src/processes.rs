//! Which processes belong to a world: those that have its directory in their environment or arguments.
//!
//! Read from `/proc`; where there is none, no process is found and the checks that need them say nothing.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// A running process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// Program and arguments.
    pub command: String,
}

/// The processes of the world in that directory, this one apart; those that have ended but weren't
/// reaped by their parent don't count.
pub fn of_world(directory: &Path) -> Vec<Process> {
    let mark = directory.as_os_str().as_encoded_bytes();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let own = std::process::id();
    pids.filter(|pid| u32::try_from(*pid) != Ok(own))
        .filter_map(|pid| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let belongs = contains(&environment, mark) || contains(&command, mark);
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            belongs.then(|| Process { pid, command: command.trim_end().to_owned() })
        })
        .filter(|process| is_alive(process.pid))
        .collect()
}

/// True while the process runs or is stopped; false once it has ended, reaped or not.
pub fn is_alive(pid: i32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        // The state follows the name in parentheses, which may hold anything.
        Ok(stat) => {
            !matches!(stat.rsplit(')').next().map(str::trim_start), Some(rest) if rest.starts_with(['Z', 'X']))
        }
        Err(_) if Path::new("/proc/self/stat").exists() => false,
        Err(_) => nix::sys::signal::kill(Pid::from_raw(pid), None).is_ok(),
    }
}

/// Sends a signal; a process that is gone is none to complain about.
///
/// # Panics
/// The process may not be signalled.
pub fn kill(pid: i32, signal: Signal) {
    match nix::sys::signal::kill(Pid::from_raw(pid), signal) {
        Ok(()) | Err(nix::errno::Errno::ESRCH) => {}
        Err(error) => panic!("{signal} to {pid}: {error}"),
    }
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
