//! Notices when files of the daemon are removed, renamed or replaced while it runs. Daemons outlive
//! the programs that clean up temporary files, and people who clean up by hand.
//!
//! The socket and the lock's file are made again. The saved state isn't: whoever removed it is told
//! with the next act, which is refused, and the daemon writes its state down when it ends.

use std::task::Waker;

use pipemux_core::Event;

use super::acceptor::ClientAcceptor;
use super::records::Records;
use super::turn::Turn;
use crate::daemon_log::log;
use crate::file_watch::FileWatch;
use crate::limits::FILES_CHECK_MS;
use crate::lock::SharedLock;

/// Looks after the daemon's files, when one of them changes and from time to time.
pub(super) struct FileGuard {
    watch: FileWatch,
    waker: Waker,
    lock: SharedLock,
    /// When to look next, in milliseconds.
    check_at: u64,
    /// True once the state directory is another one; logged once.
    directory_lost: bool,
    /// True while the lock's file can't be restored; logged once.
    lock_failing: bool,
}

impl FileGuard {
    /// Changes wake `waker`, and so does this call.
    pub(super) fn new(watch: FileWatch, waker: Waker, lock: SharedLock) -> Self {
        waker.wake_by_ref();
        let check_at = FILES_CHECK_MS;
        Self { watch, waker, lock, check_at, directory_lost: false, lock_failing: false }
    }

    /// True when a file was removed, renamed or replaced since the last call.
    pub(super) fn poll(&self) -> bool {
        self.watch.poll(&self.waker)
    }

    /// When to look next, in milliseconds.
    pub(super) fn next_timeout(&self) -> u64 {
        self.check_at
    }

    /// Has the next look wait for its usual time.
    pub(super) fn postpone(&mut self, now_ms: u64) {
        self.check_at = now_ms + FILES_CHECK_MS;
    }

    /// Restores the files that can be restored. Stops the daemon when another one may have taken
    /// its place.
    pub(super) fn restore(
        &mut self,
        records: &mut Records,
        acceptor: &mut ClientAcceptor,
        turn: &mut Turn,
    ) {
        if self.lock.borrow().has_its_directory() {
            self.directory_lost = false;
            records.restore_other_files(turn);
            self.restore_lock(acceptor);
            acceptor.restore();
        } else {
            if !std::mem::replace(&mut self.directory_lost, true) {
                log("the state directory was removed or replaced: \
                     the daemon saves nothing any more");
            }
            // Where its own socket is gone, too, nobody can reach this daemon.
            if !acceptor.listener().is_in_place() {
                log("the socket is gone, too: stopping");
                turn.push(Event::Stop);
            }
        }
        // The directories may be others than before.
        self.watch.watch(records.directory());
        self.watch.watch(acceptor.listener().directory());
    }

    fn restore_lock(&mut self, acceptor: &ClientAcceptor) {
        let restored = self.lock.borrow_mut().restore(acceptor.listener().path());
        let was_failing = std::mem::replace(&mut self.lock_failing, restored.is_err());
        match restored {
            Ok(true) => log("the lock's file was gone and has been restored"),
            Err(error) if !was_failing => {
                log(format_args!("the lock's file is gone and can't be restored: {error}"));
            }
            Ok(false) | Err(_) => {}
        }
    }
}
