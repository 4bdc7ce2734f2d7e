//! Finds the processes of an environment: those that name its directory in their variables or
//! arguments.
//!
//! They are read from `/proc`, so only Linux can list them. Elsewhere no process is found, and the
//! stories that count processes are not built.

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

/// Lists the processes of the environment in that directory, without this one and without those
/// that have ended and only wait to be reaped by their parent.
pub fn in_environment(directory: &Path) -> Vec<Process> {
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

/// Returns true while the process runs or is stopped, false once it has ended, even if it is not
/// reaped yet.
pub fn is_alive(pid: i32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        // The state follows the name in parentheses, which may contain anything.
        Ok(stat) => {
            !matches!(stat.rsplit(')').next().map(str::trim_start), Some(rest) if rest.starts_with(['Z', 'X']))
        }
        Err(_) if Path::new("/proc/self/stat").exists() => false,
        Err(_) => nix::sys::signal::kill(Pid::from_raw(pid), None).is_ok(),
    }
}

/// Sends a signal to a process, which may already have ended.
///
/// # Panics
/// This process is not permitted to.
pub fn kill(pid: i32, signal: Signal) {
    match nix::sys::signal::kill(Pid::from_raw(pid), signal) {
        Ok(()) | Err(nix::errno::Errno::ESRCH) => {}
        Err(error) => panic!("{signal} to {pid}: {error}"),
    }
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
