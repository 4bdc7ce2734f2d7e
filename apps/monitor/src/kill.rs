//! Ending one process: exactly the one that was shown, and none that others stand on.

use docui::{Ask, Fault};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::figures::{duration, percent, size};
use crate::sample::{Inspected, Process};
use crate::sampler::Sampler;

/// Most processes between this one and the first of the system.
const ANCESTORS_MAX: usize = 64;

/// Asks whether the process of a key is to be ended, showing what it is.
///
/// # Errors
/// It has ended, or is none that is ended from here.
pub fn question(sampler: &mut Sampler, key: &str) -> Result<Ask, Fault> {
    let found = permitted(sampler, key)?;
    let Inspected { process, user, command, age, .. } = &found;
    let figures = format!(
        "user {user} · CPU {} · memory {} · started {} ago",
        percent(process.cpu),
        size(process.memory),
        duration(*age),
    );
    let command = if command.is_empty() { "not shown by the system" } else { command };
    Ok(Ask::confirm(format!("SIGTERM to {}, cannot be undone", named(process)))
        .option("command", command)
        .option("", figures))
}

/// Sends SIGTERM to the process of a key, and doesn't wait for its end: `SIGTERM sent to rustc (pid 123)`.
///
/// # Errors
/// It has ended, its pid is another process's by now, it is none that is ended from here, or the
/// system refuses the signal.
pub fn terminate(sampler: &mut Sampler, key: &str) -> Result<String, Fault> {
    let pid = Process::pid_in(key).and_then(|pid| i32::try_from(pid).ok());
    let pid = pid.and_then(Pid::from_raw).ok_or_else(|| gone(key))?;
    // In this order: what the handle holds can't become another process behind the check.
    let handle = Handle::open(pid).map_err(|error| refused(error, key))?;
    let found = permitted(sampler, key)?;
    handle.terminate().map_err(|error| refused(error, key))?;
    Ok(format!("SIGTERM sent to {}", named(&found.process)))
}

/// What this process is, for telling whom it must leave alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Own {
    /// Its pid.
    pub pid: u32,
    /// The user it acts for.
    pub uid: u32,
    /// Its parent, its parent's parent, and so on.
    pub ancestors: Vec<u32>,
}

impl Own {
    fn look(sampler: &mut Sampler) -> Self {
        let pid = std::process::id();
        let mut ancestors = Vec::new();
        let mut above = sampler.inspect(pid).and_then(|own| own.parent);
        while let Some(parent) = above
            && ancestors.len() < ANCESTORS_MAX
        {
            ancestors.push(parent);
            above = sampler.inspect(parent).and_then(|found| found.parent);
        }
        Self { pid, uid: rustix::process::getuid().as_raw(), ancestors }
    }

    /// Why a process is not ended from here, if it isn't.
    pub fn objection(&self, found: &Inspected) -> Option<Fault> {
        let name = named(&found.process);
        let pid = found.process.pid;
        if pid == 1 {
            return Some(Fault::refused(format!("{name} is the system's first process")));
        }
        if pid == self.pid {
            let fault = Fault::refused(format!("{name} is this monitor itself"));
            return Some(fault.hint("pipemux sessions lists it, pipemux end ends it"));
        }
        if self.ancestors.contains(&pid) {
            let fault = Fault::refused(format!("{name} is one that this monitor runs under"));
            return Some(fault.hint("pipemux down ends the daemon with all apps"));
        }
        if found.uid != Some(self.uid) {
            let message = format!("{name} belongs to {}, not to you", found.user);
            return Some(
                Fault::refused(message).hint("only your own processes are ended from here"),
            );
        }
        found.ended.then(|| {
            Fault::refused(format!("{name} has ended already; its parent has yet to take note"))
        })
    }
}

/// The process of a key as it is now, if it may be ended.
fn permitted(sampler: &mut Sampler, key: &str) -> Result<Inspected, Fault> {
    let own = Own::look(sampler);
    let found = Process::pid_in(key).and_then(|pid| sampler.inspect(pid));
    let found = found.filter(|found| found.process.key() == key).ok_or_else(|| gone(key))?;
    match own.objection(&found) {
        Some(fault) => Err(fault),
        None => Ok(found),
    }
}

/// What a signal is sent through.
enum Handle {
    /// The process itself, whatever becomes of its pid.
    #[cfg(target_os = "linux")]
    Process(rustix::fd::OwnedFd),
    /// Whatever has the pid: systems without handles, where only the start time tells.
    Pid(Pid),
}

impl Handle {
    fn open(pid: Pid) -> Result<Self, Errno> {
        #[cfg(target_os = "linux")]
        match rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
            Ok(handle) => return Ok(Self::Process(handle)),
            // A kernel before 5.3, or a sandbox that doesn't know the call.
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
        Errno::PERM => Fault::refused("the system allows no signal to that process"),
        other => Fault::failed(format!("no signal was sent: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_stand_on_is_left_alone() {
        let own = Own { pid: 50, uid: 1000, ancestors: vec![40, 30] };
        let found = |pid, uid| Inspected {
            process: Process { pid, name: "x".into(), ..Process::default() },
            uid,
            user: "root".into(),
            ..Inspected::default()
        };
        let objection = |pid, uid| own.objection(&found(pid, uid)).map(|fault| fault.message);
        assert_eq!(objection(60, Some(1000)), None);
        for (pid, uid, part) in [
            (1, Some(1000), "first process"),
            (50, Some(1000), "this monitor itself"),
            (40, Some(1000), "runs under"),
            (30, Some(1000), "runs under"),
            (60, Some(0), "belongs to root, not to you"),
            (60, None, "not to you"),
        ] {
            let message = objection(pid, uid).unwrap_or_default();
            assert!(message.starts_with(&format!("x (pid {pid}) ")), "{message}");
            assert!(message.contains(part), "{message}");
        }
        let ended = Inspected { ended: true, ..found(60, Some(1000)) };
        assert!(own.objection(&ended).is_some());
    }
}
