//! Processes whose parents have ended: this process adopts those that its commands started, so that
//! none of them gets lost.
//!
//! Otherwise a process that leaves its command's session would belong to nobody once its parent has
//! ended, and one that the system ends together with the session would be gone before anybody could
//! say so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, WaitOptions, waitpid};

use crate::limits::ORPHANS_SPACING;
use crate::process;

/// The known children of this process.
#[derive(Default)]
struct Children {
    /// The first processes of commands, which are reaped where they were started.
    leaders: BTreeSet<i32>,
    /// Adopted processes that the end of their session ended, by the session.
    hung_up: BTreeMap<i32, BTreeSet<i32>>,
}

static CHILDREN: Mutex<Children> =
    Mutex::new(Children { leaders: BTreeSet::new(), hung_up: BTreeMap::new() });

fn children() -> MutexGuard<'static, Children> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the first process of a command; its number is returned by `start`, too. No other thread
/// takes it for an orphan.
pub fn start<T, E>(start: impl FnOnce() -> Result<(T, i32), E>) -> Result<(T, i32), E> {
    static ADOPT: Once = Once::new();
    ADOPT.call_once(|| {
        #[cfg(target_os = "linux")]
        if rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok() {
            // Without the thread, orphans that have ended wait for the end of a command.
            let _ = thread::Builder::new().name("orphans".into()).spawn(|| {
                loop {
                    thread::sleep(ORPHANS_SPACING);
                    reap();
                }
            });
        }
    });
    let mut children = children();
    let (started, leader) = start()?;
    children.leaders.insert(leader);
    Ok((started, leader))
}

/// Returns the processes that the end of a command's session ended. Call it once the command's
/// first process is waited for no more by anybody else.
pub fn forget(leader: i32) -> BTreeSet<i32> {
    reap();
    let mut children = children();
    children.leaders.remove(&leader);
    children.hung_up.remove(&leader).unwrap_or_default()
}

/// Returns true for the first process of a command.
pub fn is_leader(pid: i32) -> bool {
    children().leaders.contains(&pid)
}

/// Takes note of adopted processes that have ended.
pub fn reap() {
    let mut children = children();
    if children.leaders.is_empty() && children.hung_up.is_empty() {
        return;
    }
    for (pid, session) in process::ended_children() {
        if children.leaders.contains(&pid) {
            continue;
        }
        let status = Pid::from_raw(pid).map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
        let Some(Ok(Some((_, status)))) = status else { continue };
        if status.terminating_signal() == Some(Signal::HUP.as_raw())
            && children.leaders.contains(&session)
        {
            children.hung_up.entry(session).or_default().insert(pid);
        }
    }
}
