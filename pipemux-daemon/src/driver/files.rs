//! Notices when files of the daemon are removed, renamed or replaced while it runs. Daemons outlive the programs that
//! clean up temporary files, and people who clean up by hand.
//!
//! The socket and the lock's file are made again. The saved state isn't: whoever removed it is told, with the next act,
//! which is refused, and the daemon writes its state down when it ends.

use pipemux_core::{DiskFailure, Event};

use super::Driver;
use crate::daemon_log::log;
use crate::limits::FILES_CHECK_MS;

impl Driver {
    /// Looks whether the state file is in its place, once a turn and before anything that a client asks for: nothing is
    /// answered that isn't written where the next daemon finds it.
    pub(super) fn check_state_file(&mut self) {
        if std::mem::replace(&mut self.state_file_checked, true) {
            return;
        }
        if let Some(rules) = self.settings_file.changed() {
            if let Some(why) = &rules.broken {
                log(format_args!("{why}: acts are refused until it is mended"));
            }
            self.hand_in(Event::Rules(rules));
        }
        if self.disk_failing {
            return;
        }
        if let Err(lost) = self.journal.check_in_place() {
            self.report_disk(Err(lost));
            while let Some(event) = self.events.pop_front() {
                self.core.handle(event, self.now, &mut self.effects);
                self.run_effects();
            }
        }
    }

    /// Tries again to write records, after the disk was full or the state file was lost.
    pub(super) fn write_records_again(&mut self) {
        self.disk_retry_at = None;
        let written = self.journal.check_in_place().and_then(|()| self.journal.flush());
        self.report_disk(written);
    }

    /// Looks after the files when some were removed or renamed.
    pub(super) fn poll_files(&mut self) {
        if self.file_watch.poll(&self.files_waker) {
            self.check_files();
        }
    }

    /// Looks whether all files are in their places, and restores those that can be.
    pub(super) fn check_files(&mut self) {
        self.files_check_at = self.now.mono_ms + FILES_CHECK_MS;
        if self.exit_deadline.is_some() {
            return;
        }
        if self.journal.is_lost() {
            self.write_records_again();
        } else {
            self.state_file_checked = false;
            self.check_state_file();
        }
        if self.lock.borrow().has_its_directory() {
            self.directory_lost = false;
            if let Err(error) = self.journal.check_mark() {
                self.report_disk(Err(error));
            }
            self.audit_log.check(self.now.unix_ms);
            self.restore_lock();
            self.restore_socket();
        } else {
            if !std::mem::replace(&mut self.directory_lost, true) {
                log(
                    "the state directory was removed or replaced: the daemon saves nothing any more",
                );
            }
            // Where its own socket is gone, another daemon may have taken the place, and nobody can reach this one.
            if !self.listener.is_in_place() {
                log("the socket is gone, too: stopping");
                self.handle(Event::Stop);
            }
        }
        self.watch_files();
    }

    /// Watches the directories, which may be others than before.
    pub(super) fn watch_files(&mut self) {
        self.file_watch.watch(self.journal.directory());
        self.file_watch.watch(self.listener.directory());
    }

    fn restore_lock(&mut self) {
        let restored = self.lock.borrow_mut().restore(self.listener.path());
        if let Ok(true) = restored {
            log("the lock's file was gone and has been restored");
        }
        let failing = restored.is_err();
        if failing != std::mem::replace(&mut self.lock_failing, failing)
            && let Err(error) = restored
        {
            log(format_args!("the lock's file is gone and can't be restored: {error}"));
        }
    }

    fn restore_socket(&mut self) {
        match self.listener.restore() {
            Ok(false) => self.socket_failing = false,
            Ok(true) => {
                self.socket_failing = false;
                log("the socket was gone and has been restored");
                self.accept_waker.wake_by_ref();
            }
            Err(error) => {
                if !std::mem::replace(&mut self.socket_failing, true) {
                    log(format_args!("the socket is gone and can't be restored: {error}"));
                }
            }
        }
    }

    /// Returns why records can't be written, and what to do about it.
    pub(super) fn disk_failure(&self, error: &std::io::Error) -> DiskFailure {
        let next = if !self.journal.is_lost() {
            "make room, then send it again; reads and views go on"
        } else if self.lock.borrow().has_its_directory() {
            "put it back, or have the daemon write its state again: pipemux down && pipemux up"
        } else {
            "put the directory back, or begin with a new one: pipemux down && pipemux up"
        };
        DiskFailure { why: error.to_string(), next: next.to_owned() }
    }

    /// Writes the whole state down when the file was lost and its directory is there.
    pub(super) fn end_journal(&mut self) {
        let lost = self.journal.check_in_place().is_err();
        if !lost || !self.lock.borrow().has_its_directory() {
            return;
        }
        match self.journal.write_again(&self.core.snapshot()) {
            Ok(()) => log("the saved state was lost and has been written again"),
            Err(error) => {
                log(format_args!("the saved state is lost and can't be written: {error}"))
            }
        }
    }
}
