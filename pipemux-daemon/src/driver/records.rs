//! Writes the saved state and the audit log as events happen.
//!
//! Records are gathered during a turn, and written before anything goes out that may follow from
//! them, so that the daemon's loss never takes back what anyone was told. When that fails the core
//! is told, once, with [`Event::Disk`], and once more when it works again.

use std::io;
use std::path::Path;

use pipemux_core::saved::Record;
use pipemux_core::{Core, DiskFailure, Event};

use super::turn::Turn;
use crate::audit_log::AuditLog;
use crate::daemon_log::log;
use crate::journal::Journal;
use crate::limits::{DISK_RETRY_MS, RECORDS_BATCH};
use crate::lock::SharedLock;

/// The saved state and the audit log.
pub(super) struct Records {
    journal: Journal,
    /// A line that is appended is written before anything goes out, too.
    pub(super) audit_log: AuditLog,
    lock: SharedLock,
    /// True while the journal has records that aren't written yet.
    pending: bool,
    /// True while records can't be written; the core knows it.
    failing: bool,
    /// When to try to write records again, in milliseconds.
    retry_at: Option<u64>,
}

impl Records {
    pub(super) fn new(journal: Journal, audit_log: AuditLog, lock: SharedLock) -> Self {
        // The first write reports it if the journal could not be created.
        Self { journal, audit_log, lock, pending: true, failing: false, retry_at: None }
    }

    /// The state directory.
    pub(super) fn directory(&self) -> &Path {
        self.journal.directory()
    }

    /// Adds a record, which is written before anything goes out.
    pub(super) fn append(&mut self, record: &Record, turn: &mut Turn) {
        if let Err(lost) = self.journal.append(record) {
            self.report(Err(lost), turn);
        }
        self.pending = true;
        if self.journal.pending_bytes() >= RECORDS_BATCH {
            self.write(turn);
        }
    }

    /// Writes what is pending.
    pub(super) fn write(&mut self, turn: &mut Turn) {
        if std::mem::take(&mut self.pending) {
            let written = self.journal.flush();
            self.report(written, turn);
        }
        self.audit_log.flush(turn.now.unix_ms);
    }

    /// True while records wait to be written.
    pub(super) fn are_pending(&self) -> bool {
        self.pending
    }

    /// When to call [`Records::retry`], in milliseconds.
    pub(super) fn next_timeout(&self) -> Option<u64> {
        self.retry_at
    }

    /// Tries again to write records, after the disk was full or the state file was lost.
    pub(super) fn retry(&mut self, turn: &mut Turn) {
        self.retry_at = None;
        let written = self.journal.check_in_place().and_then(|()| self.journal.flush());
        self.report(written, turn);
    }

    /// Looks whether the state file is in its place, unless it is known that nothing can be saved.
    pub(super) fn check_state_file(&mut self, turn: &mut Turn) {
        if !self.failing
            && let Err(lost) = self.journal.check_in_place()
        {
            self.report(Err(lost), turn);
        }
    }

    /// True while the state file isn't in its place.
    pub(super) fn is_state_file_lost(&self) -> bool {
        self.journal.is_lost()
    }

    /// Makes the files beside the state file again where they are gone.
    pub(super) fn restore_other_files(&mut self, turn: &mut Turn) {
        if let Err(error) = self.journal.check_mark() {
            self.report(Err(error), turn);
        }
        self.audit_log.check(turn.now.unix_ms);
    }

    /// Compacts the saved state when it is time.
    pub(super) fn maintain(&mut self, core: &Core) {
        let mut compacted = self.journal.poll_compaction();
        if compacted.is_ok() && self.journal.needs_compaction() {
            compacted = self.journal.start_compaction(core.snapshot());
        }
        if let Err(error) = compacted {
            log(format_args!("can't compact the saved state: {error}"));
        }
    }

    /// Writes the whole state down when its file was lost and its directory is there.
    pub(super) fn end(&mut self, core: &Core) {
        let lost = self.journal.check_in_place().is_err();
        if !lost || !self.lock.borrow().has_its_directory() {
            return;
        }
        match self.journal.write_again(&core.snapshot()) {
            Ok(()) => log("the saved state was lost and has been written again"),
            Err(error) => {
                log(format_args!("the saved state is lost and can't be written: {error}"))
            }
        }
    }

    /// Tells the core when records can't be written, and when they can be written again.
    fn report(&mut self, written: io::Result<()>, turn: &mut Turn) {
        let failing = written.err().map(|error| self.disk_failure(&error));
        // Acts that are refused meanwhile don't put the next try off.
        let retry_at = self.retry_at.unwrap_or(turn.now_ms() + DISK_RETRY_MS);
        self.retry_at = failing.as_ref().map(|_| retry_at);
        if failing.is_some() == self.failing {
            return;
        }
        self.failing = failing.is_some();
        match &failing {
            Some(DiskFailure { why, .. }) => {
                log(format_args!("can't save the state, acts are refused: {why}"));
            }
            None => log("the state can be saved again"),
        }
        turn.push(Event::Disk { failing });
    }

    /// Returns why records can't be written, and what to do about it.
    fn disk_failure(&self, error: &io::Error) -> DiskFailure {
        let next = if !self.journal.is_lost() {
            "make room, then send it again; reads and views go on"
        } else if self.lock.borrow().has_its_directory() {
            "put it back, or have the daemon write its state again: pipemux down && pipemux up"
        } else {
            "put the directory back, or begin with a new one: pipemux down && pipemux up"
        };
        DiskFailure { why: error.to_string(), next: next.to_owned() }
    }
}
