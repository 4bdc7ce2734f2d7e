//! Threads of the launcher that run under a filter of system calls, so that the processes that they
//! start have it, too.
//!
//! The kernel translates a filter into machine code whenever one is installed, which takes longer
//! than all else that confines a process. What a thread has installed its children share. So there
//! is a thread for each kind of filter, from its first use until the launcher ends.
//!
//! The launcher's first thread waits for the answer of such a thread, so only one of them runs at
//! any time. None of them ends before the launcher, because the end of the thread that started a
//! process is what ends that process.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use nix::sys::signal::{SigSet, SigmaskHow};

use crate::confine::{FilterKind, StartSecret};
use crate::sys::{self, ChildSetup, Program, STACK_SIZE};

#[derive(Debug, Default)]
pub(crate) struct FilterThreads {
    threads: BTreeMap<FilterKind, FilterThread>,
}

#[derive(Debug)]
struct FilterThread {
    jobs: SyncSender<(Program, ChildSetup)>,
    results: Receiver<io::Result<i32>>,
}

impl FilterThreads {
    /// Starts a process under a filter, as [`sys::start`]. The descriptors of the setup must stay
    /// open until this returns.
    ///
    /// # Errors
    /// Why the program can't be started, or the filter installed; no process is left then.
    pub(crate) fn start(
        &mut self,
        kind: FilterKind,
        program: Program,
        setup: ChildSetup,
    ) -> io::Result<i32> {
        let thread = match self.threads.entry(kind) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(FilterThread::start(kind)?),
        };
        // The filter refuses what marks a process, so that an app can't pass for another. A child
        // inherits the mark.
        sys::with_mark(setup.mark, || {
            thread.jobs.send((program, setup)).map_err(|_| lost())?;
            thread.results.recv().map_err(|_| lost())?
        })
    }
}

impl FilterThread {
    fn start(kind: FilterKind) -> io::Result<Self> {
        let secret = StartSecret::draw()?;
        let filters = kind.compile(secret)?;
        let (jobs, orders) = sync_channel::<(Program, ChildSetup)>(1);
        let (answers, results) = sync_channel(1);
        let work = move || {
            let installed = filters.iter().try_for_each(|filter| sys::install_filter(filter));
            let usable = installed.is_ok();
            if answers.send(installed.map(|()| 0)).is_err() || !usable {
                return;
            }
            let mut stack = vec![0; STACK_SIZE];
            while let Ok((program, setup)) = orders.recv() {
                let started = sys::start(&program, &setup, &mut stack, secret);
                // Once it has answered, the first thread runs.
                drop((program, setup));
                if answers.send(started).is_err() {
                    return;
                }
            }
        };
        // The launcher's signals are for its first thread.
        let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
        let started = thread::Builder::new().name("filter".to_owned()).spawn(work);
        mask.thread_set_mask()?;
        started?;
        results.recv().map_err(|_| lost())??;
        Ok(Self { jobs, results })
    }
}

fn lost() -> io::Error {
    io::Error::other("the launcher lost a thread")
}
