//! Threads for work that may wait. A thread that is done takes the next work; one that hangs is
//! never waited for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use pipemux_proto::Fault;

use crate::limits::{IDLE_THREADS_MAX, THREAD_STACK, THREADS_MAX};

pub(super) type Job = Box<dyn FnOnce() + Send>;

static IDLE: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Runs a job on a thread that has no other. The job must not panic.
///
/// # Errors
/// Too many threads are at work already, or the system gives no more.
pub(super) fn run(job: Job) -> Result<(), Fault> {
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let job = match idle {
        Some(thread) => match thread.send(job) {
            Ok(()) => return Ok(()),
            Err(returned) => returned.0,
        },
        None => job,
    };
    if THREADS.fetch_add(1, Ordering::Relaxed) >= THREADS_MAX {
        THREADS.fetch_sub(1, Ordering::Relaxed);
        return Err(Fault::refused(format!(
            "{THREADS_MAX} requests wait for disks that don't answer, no more are taken"
        )));
    }
    let spawned = thread::Builder::new()
        .name("blocking".into())
        .stack_size(THREAD_STACK)
        .spawn(move || work(job));
    spawned.map(drop).map_err(|error| {
        THREADS.fetch_sub(1, Ordering::Relaxed);
        Fault::failed(format!("no thread for work that may wait: {error}"))
    })
}

/// Does one job after the other, until enough other threads are idle.
fn work(first: Job) {
    let mut job = first;
    loop {
        job();
        let (sender, next) = channel();
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= IDLE_THREADS_MAX {
            THREADS.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        idle.push(sender);
        drop(idle);
        match next.recv() {
            Ok(next) => job = next,
            // The sender is in a static, so this thread outlives it only while the process ends.
            Err(_) => return,
        }
    }
}
