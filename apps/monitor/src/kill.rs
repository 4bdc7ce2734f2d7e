//! Terminates one process: exactly the one that was shown, and none that the session depends on.

use docui::{Ask, Fault};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::format::{duration, percent, size};
use crate::sample::{Inspected, Process};
use crate::sampler::Sampler;

/// Most ancestors of this process that are protected.
const ANCESTORS_MAX: usize = 64;

/// Builds the question whether to terminate the process with this key, with the details of the
/// process.
///
/// # Errors
/// The process has ended, or must not be terminated from here.
pub fn question(sampler: &mut Sampler, key: &str) -> Result<Ask, Fault> {
    let found = permitted(sampler, key)?;
    let Inspected { process, user, command, age, .. } = &found;
    let figures = format!(
        "user {user} · CPU {} · memory {} · started {} ago",
        percent(process.cpu),
        size(process.memory),
        duration(*age),
    );
    let command = if command.is_empty() { "not available" } else { command };
    Ok(Ask::confirm(format!("SIGTERM to {}, cannot be undone", named(process)))
        .option("command", command)
        .option("", figures))
}

/// Sends SIGTERM to the process with this key, without waiting for its end. Returns what was done:
/// `SIGTERM sent to rustc (pid 123)`.
///
/// # Errors
/// The process has ended, even if its pid was reused; it must not be terminated from here; or the
/// system refuses the signal.
pub fn terminate(sampler: &mut Sampler, key: &str) -> Result<String, Fault> {
    let pid = Process::pid_in(key).and_then(|pid| i32::try_from(pid).ok());
    let pid = pid.and_then(Pid::from_raw).ok_or_else(|| gone(key))?;
    // The handle is opened before the check: what it refers to can no longer change after it.
    let handle = Handle::open(pid).map_err(|error| refused(error, key))?;
    let found = permitted(sampler, key)?;
    handle.terminate().map_err(|error| refused(error, key))?;
    Ok(format!("SIGTERM sent to {}", named(&found.process)))
}

/// Decides which processes may be terminated: those of the same user, but neither the monitor
/// itself nor what it runs under.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KillGuard {
    /// The monitor's pid.
    pub pid: u32,
    /// The user that the monitor runs as.
    pub uid: u32,
    /// The pids of the monitor's ancestors, its parent first.
    pub ancestors: Vec<u32>,
}

impl KillGuard {
    /// Reads the monitor's own pid, user and ancestors.
    fn new(sampler: &mut Sampler) -> Self {
        let pid = std::process::id();
        let mut ancestors = Vec::new();
        let mut parent = sampler.inspect(pid).and_then(|own| own.parent);
        while let Some(ancestor) = parent
            && ancestors.len() < ANCESTORS_MAX
        {
            ancestors.push(ancestor);
            parent = sampler.inspect(ancestor).and_then(|found| found.parent);
        }
        Self { pid, uid: rustix::process::getuid().as_raw(), ancestors }
    }

    /// Checks that a process may be terminated.
    ///
    /// # Errors
    /// The process is protected, belongs to another user, or has already ended.
    pub fn check(&self, found: &Inspected) -> Result<(), Fault> {
        let name = named(&found.process);
        let pid = found.process.pid;
        if pid == 1 {
            return Err(Fault::refused(format!("{name} is the system's first process")));
        }
        if pid == self.pid {
            return Err(Fault::refused(format!("{name} is this monitor itself"))
                .hint("its session can be ended; they are listed by: pipemux sessions"));
        }
        if self.ancestors.contains(&pid) {
            return Err(Fault::refused(format!("this monitor runs under {name}"))
                .hint("end the daemon with all apps: pipemux down"));
        }
        if found.uid != Some(self.uid) {
            let message = format!("{name} belongs to {}, not to you", found.user);
            return Err(
                Fault::refused(message).hint("only your own processes can be terminated from here")
            );
        }
        if found.ended {
            let message = format!("{name} has already ended; its parent has not reaped it yet");
            return Err(Fault::refused(message));
        }
        Ok(())
    }
}

/// Returns the current details of the process with this key, if it may be terminated.
fn permitted(sampler: &mut Sampler, key: &str) -> Result<Inspected, Fault> {
    let guard = KillGuard::new(sampler);
    let found = Process::pid_in(key).and_then(|pid| sampler.inspect(pid));
    let found = found.filter(|found| found.process.key() == key).ok_or_else(|| gone(key))?;
    guard.check(&found)?;
    Ok(found)
}

/// A way to signal a process.
enum Handle {
    /// A handle on the process itself, which stays valid if its pid is reused.
    #[cfg(target_os = "linux")]
    Process(rustix::fd::OwnedFd),
    /// The pid, on systems without handles; only its start time reveals a reuse.
    Pid(Pid),
}

impl Handle {
    fn open(pid: Pid) -> Result<Self, Errno> {
        #[cfg(target_os = "linux")]
        match rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
            Ok(handle) => return Ok(Self::Process(handle)),
            // The kernel is older than 5.3, or a sandbox forbids the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            Err(error) => return Err(error),
        }
        Ok(Self::Pid(pid))
    }

    fn terminate(&self) -> Result<(), Errno> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Process(handle) => rustix::process::pidfd_send_signal(handle, Signal::TERM),
            Self::Pid(pid) => kill_process(*pid, Signal::TERM),
        }
    }
}

fn named(process: &Process) -> String {
    format!("{} (pid {})", process.name, process.pid)
}

fn gone(key: &str) -> Fault {
    Fault::not_found("the process ended").about(key).hint("The process ended")
}

fn refused(error: Errno, key: &str) -> Fault {
    match error {
        Errno::SRCH => gone(key),
        Errno::PERM => Fault::refused("the system does not allow a signal to this process"),
        other => Fault::failed(format!("no signal was sent: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guard_protects_the_monitor_its_ancestors_and_other_users() {
        let guard = KillGuard { pid: 50, uid: 1000, ancestors: vec![40, 30] };
        let found = |pid, uid| Inspected {
            process: Process { pid, name: "x".into(), ..Process::default() },
            uid,
            user: "root".into(),
            ..Inspected::default()
        };
        assert!(guard.check(&found(60, Some(1000))).is_ok());
        for (pid, uid, part) in [
            (1, Some(1000), "first process"),
            (50, Some(1000), "this monitor itself"),
            (40, Some(1000), "monitor runs under"),
            (30, Some(1000), "monitor runs under"),
            (60, Some(0), "belongs to root, not to you"),
            (60, None, "not to you"),
        ] {
            let message = guard.check(&found(pid, uid)).unwrap_err().message;
            assert!(message.contains(&format!("x (pid {pid})")), "{message}");
            assert!(message.contains(part), "{message}");
        }
        let ended = Inspected { ended: true, ..found(60, Some(1000)) };
        assert!(guard.check(&ended).unwrap_err().message.contains("already ended"));
    }
}
