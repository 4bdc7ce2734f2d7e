//! Write access to an open file: one writer at a time, and only to the text revision that the
//! writer saw.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A save of the text is running. The text may be edited meanwhile.
const SAVING: u64 = 1;
/// An edit is being written. The text doesn't change until the write is known to be done.
const EDITING: u64 = 2;
const REVISION: u64 = 4;

/// The revision of an open file's text, and whether it is being written: shared with the threads
/// that write.
#[derive(Debug, Default)]
pub struct TextGate(AtomicU64);

/// The reason why a file can't be written now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateClosed {
    /// The text has changed since.
    Changed,
    /// Somebody writes it.
    BeingWritten,
}

impl TextGate {
    /// Returns the revision of the text, which differs for every change.
    pub fn revision(&self) -> u64 {
        self.0.load(Ordering::Acquire) / REVISION
    }

    /// Records that the text changed.
    pub fn advance(&self) {
        self.0.fetch_add(REVISION, Ordering::AcqRel);
    }

    /// True while a save or an edit is written.
    pub fn is_being_written(&self) -> bool {
        !self.0.load(Ordering::Acquire).is_multiple_of(REVISION)
    }

    /// True while an edit is written: until then nothing else may change the text.
    pub fn is_being_edited(&self) -> bool {
        self.0.load(Ordering::Acquire) & EDITING != 0
    }

    /// Begins an edit of the text with this revision. One that is only `held` in the session may go
    /// on beside a save.
    ///
    /// # Errors
    /// The text has changed since, or is being written.
    pub fn begin_edit(
        self: &Arc<Self>,
        revision: u64,
        held: bool,
    ) -> Result<GateGuard, GateClosed> {
        let begin = |now: u64| {
            let free = now & EDITING == 0 && (held || now & SAVING == 0);
            (free && now / REVISION == revision).then_some(now | EDITING)
        };
        match self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, begin) {
            Ok(_) => Ok(GateGuard { gate: self.clone(), bit: EDITING }),
            Err(now) if now / REVISION != revision => Err(GateClosed::Changed),
            Err(_) => Err(GateClosed::BeingWritten),
        }
    }

    /// Begins a save of the text as it is now; `None` while it is being written.
    pub fn begin_save(self: &Arc<Self>) -> Option<GateGuard> {
        let begin = |now: u64| now.is_multiple_of(REVISION).then_some(now | SAVING);
        let begun = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, begin);
        begun.ok().map(|_| GateGuard { gate: self.clone(), bit: SAVING })
    }
}

/// A running write of the file, which ends when the guard is dropped.
#[derive(Debug)]
pub struct GateGuard {
    gate: Arc<TextGate>,
    bit: u64,
}

impl Drop for GateGuard {
    fn drop(&mut self) {
        self.gate.0.fetch_and(!self.bit, Ordering::AcqRel);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    #[test]
    fn edit_of_another_revision_or_during_a_write_is_refused() {
        let gate = Arc::new(TextGate::default());
        let seen = gate.revision();
        gate.advance();
        assert_eq!(gate.begin_edit(seen, false).unwrap_err(), GateClosed::Changed);
        let edit = gate.begin_edit(gate.revision(), false).unwrap();
        assert!(gate.is_being_edited() && gate.begin_save().is_none());
        assert_eq!(gate.begin_edit(gate.revision(), false).unwrap_err(), GateClosed::BeingWritten);
        drop(edit);
        let save = gate.begin_save().unwrap();
        gate.advance();
        assert!(gate.is_being_written() && !gate.is_being_edited());
        assert_eq!(gate.begin_edit(gate.revision(), false).unwrap_err(), GateClosed::BeingWritten);
        assert!(gate.begin_edit(gate.revision(), true).is_ok(), "beside the save");
        drop(save);
        assert!(!gate.is_being_written() && gate.begin_edit(gate.revision(), false).is_ok());
    }
}
