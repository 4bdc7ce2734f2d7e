//! One open file: its text, its undo history, and what the disk has.
//!
//! | module | holds |
//! |---|---|
//! | `disk_sync` | opening, reloading and saving |

mod disk_sync;

pub use disk_sync::ReadFile;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docui::Fault;
use serde::{Deserialize, Serialize};

use crate::limits::{KEY_PATH_MAX, PAGE};

use super::buffer::Buffer;
use super::changes_outside::ChangesOutside;
use super::file_stamp::FileStamp;
use super::history::{Author, Change, EditKind, FileChange, TextStates};
use super::journal::Journal;
use super::line_change::LineChange;
use super::line_ids::LineIds;
use super::line_log::LineLog;
use super::splice::{first_differences, inverse};
use super::stable_hash::stable_hash;
use super::text_gate::{GateGuard, TextGate};
use super::tracked_ranges::TrackedRanges;

/// The state of the file on disk compared with the last read or write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DiskState {
    Same,
    /// Another content.
    Changed,
    Deleted,
    /// A file that can't be opened, with the reason.
    Unusable(String),
}

/// The disk operation that a file waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskWait {
    Write,
    /// A check whether the file has changed.
    Check,
}

/// How the file is written. A snapshot doesn't hold it.
#[derive(Debug, Default)]
struct DiskAccess {
    journal: Journal,
    /// The revision of the text, and the write of this file that is under way.
    gate: Arc<TextGate>,
    /// The file's permission bits when the disk last told them.
    mode: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct OpenFile {
    path: PathBuf,
    buffer: Buffer,
    #[serde(rename = "history")]
    states: TextStates,
    #[serde(rename = "log")]
    line_log: LineLog,
    #[serde(default, skip_serializing_if = "LineIds::is_unknown")]
    line_ids: LineIds,
    /// The keys that the file had before it was saved under another path, each with the version up
    /// to which.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    former_keys: Vec<(String, u64)>,
    /// The version since which the file has its path.
    #[serde(default, skip_serializing_if = "is_zero")]
    named_since: u64,
    #[serde(skip)]
    access: DiskAccess,
    #[serde(rename = "base")]
    base_digest: Option<u64>,
    stamp: Option<FileStamp>,
    #[serde(rename = "on_disk")]
    disk_state: DiskState,
    /// Counts uses of files, so that the one that was used longest ago is closed first.
    #[serde(skip)]
    pub(crate) last_used: u64,
    /// True when the file is open only because an answer showed some of its lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unlisted: bool,
    /// The disk wait that the window displays.
    #[serde(skip)]
    pub(crate) shown_wait: Option<DiskWait>,
    /// The file's selections and matches.
    #[serde(rename = "marks")]
    pub ranges: TrackedRanges,
    /// The zero-based index of the first line shown.
    #[serde(rename = "top")]
    pub top_line: usize,
    /// The lines altered by the latest change, except those that a view has shown since.
    #[serde(rename = "spots")]
    pub changed_lines: Vec<Range<usize>>,
    /// The run that made the latest change; no view clears `changed_lines` until the run ends.
    #[serde(skip)]
    changed_by: String,
    /// The byte offsets that the latest change altered, in ascending order.
    #[serde(rename = "changed")]
    changed_bytes: Vec<usize>,
}

impl OpenFile {
    fn new(path: PathBuf, journal: Journal, buffer: Buffer, version: u64) -> Self {
        let line_ids = LineIds::new(buffer.line_count(), version);
        Self {
            path,
            buffer,
            states: TextStates::new(),
            line_log: LineLog::new(version),
            line_ids,
            former_keys: Vec::new(),
            named_since: 0,
            access: DiskAccess { journal, gate: Arc::default(), mode: None },
            base_digest: None,
            stamp: None,
            disk_state: DiskState::Same,
            last_used: 0,
            unlisted: false,
            shown_wait: None,
            ranges: TrackedRanges::default(),
            top_line: 0,
            changed_lines: Vec::new(),
            changed_by: String::new(),
            changed_bytes: Vec::new(),
        }
    }

    /// Returns the file's path without symlinks.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file's key, which is the same whenever this path is open.
    pub fn key(&self) -> String {
        let text = self.path.to_string_lossy();
        match text.len() {
            0..=KEY_PATH_MAX => text.into_owned(),
            _ => format!("path-{:016x}", stable_hash(text.as_bytes())),
        }
    }

    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Returns the tracker of which of the file's texts is saved.
    pub fn states(&self) -> &TextStates {
        &self.states
    }

    /// Returns the revision of the text, shared with the threads that write the file.
    pub(crate) fn gate(&self) -> &Arc<TextGate> {
        &self.access.gate
    }

    pub fn line_log(&self) -> &LineLog {
        &self.line_log
    }

    pub fn line_ids(&self) -> &LineIds {
        &self.line_ids
    }

    /// The keys that the file had before, the latest first, each with the version up to which.
    pub fn former_keys(&self) -> impl Iterator<Item = &(String, u64)> {
        self.former_keys.iter().rev()
    }

    /// The version from which on the file has its key: before that, the key named another file.
    pub fn named_since(&self) -> u64 {
        self.named_since
    }

    pub fn disk_state(&self) -> &DiskState {
        &self.disk_state
    }

    /// The digest of the file on disk as it was last read or written; `None` if it never was.
    pub fn base_digest(&self) -> Option<u64> {
        self.base_digest
    }

    /// Returns the file's permission bits as last read from disk.
    pub fn mode(&self) -> Option<u32> {
        self.access.mode
    }

    /// Begins a save of the file, which lasts as long as what is returned; `None` while it is being
    /// written.
    pub(crate) fn begin_save(&self) -> Option<GateGuard> {
        self.access.gate.begin_save()
    }

    /// True while a write of the file is under way.
    pub fn is_being_written(&self) -> bool {
        self.access.gate.is_being_written()
    }

    /// The digest of the text as a file. It is only computed when there is something to save.
    pub fn digest(&self) -> u64 {
        let known = self.base_digest.filter(|_| !self.is_unsaved());
        known.unwrap_or_else(|| self.buffer.digest())
    }

    /// True when the file doesn't exist yet.
    pub fn is_new(&self) -> bool {
        self.base_digest.is_none() && self.stamp.is_none()
    }

    /// True when there is something to save.
    pub fn is_unsaved(&self) -> bool {
        !self.states.is_saved()
    }

    /// Returns the byte at which the latest change first altered a line; `None` if it didn't.
    pub fn first_change_in(&self, line: usize) -> Option<usize> {
        let bytes = self.buffer.byte_range(&(line..line + 1));
        let next = self.changed_bytes.partition_point(|byte| *byte < bytes.start);
        self.changed_bytes.get(next).copied().filter(|byte| bytes.contains(byte))
    }

    /// Scrolls to a line in a run. Of the lines that the latest change altered, those that were
    /// shown are forgotten: the reader has moved on.
    pub fn scroll_to(&mut self, line: usize, run: &str) {
        if self.changed_by.is_empty() || self.changed_by != run {
            let all = self.buffer.line_count();
            let page = self.top_line..all.min(self.top_line.saturating_add(PAGE));
            self.changed_lines = ChangesOutside::of(&self.changed_lines, &page, all).left_out;
        }
        self.changed_bytes.clear();
        self.top_line = line;
    }

    /// Forgets what line numbers meant before a version.
    pub fn forget_lines(&mut self, version: u64) {
        self.line_log = LineLog::with_unknown_past(version);
    }

    /// Records that readers of earlier processes saw exactly these lines.
    pub fn trust_earlier_numbers(&mut self) {
        self.line_log.trust_earlier_numbers();
    }

    /// Takes in a change that was written to disk, or that is there already.
    pub(crate) fn take_change(
        &mut self,
        kind: EditKind,
        author: &Author,
        change: &FileChange,
        stamp: FileStamp,
    ) {
        self.apply(kind, author, change);
        let digest = change.after.unwrap_or_default();
        self.take_write(self.states.state(), digest, stamp);
    }

    /// Makes a change that stays in the session until it is saved.
    ///
    /// # Errors
    /// The journal can't be written. Nothing was changed.
    pub(crate) fn hold_change(
        &mut self,
        kind: EditKind,
        author: &Author,
        change: &FileChange,
    ) -> Result<(), Fault> {
        self.access.journal.record(self.base_digest, &self.buffer, &change.splices)?;
        self.apply(kind, author, change);
        if change.after == self.base_digest {
            // It is what the disk has, as after an undo.
            self.states.mark_saved_at(self.states.state());
            self.access.journal.remove();
        }
        Ok(())
    }

    /// Takes back a held change that could not be made in all files.
    pub(crate) fn take_back(&mut self, author: &Author, inverse: &FileChange) {
        self.apply(EditKind::Undo, author, inverse);
        match self.digest_is_base() {
            true => {
                self.states.mark_saved_at(self.states.state());
                self.access.journal.remove();
            }
            false => self.access.journal.take_back(self.base_digest, &self.buffer),
        }
    }

    fn digest_is_base(&self) -> bool {
        self.base_digest == Some(self.buffer.digest())
    }

    /// Takes the changes that this file alone had in the state of an earlier editor: those that can
    /// be undone, oldest first, and those that can be redone, the next one last.
    pub(crate) fn take_former_changes(&mut self) -> (Vec<Change>, Vec<Change>) {
        let (mut done, mut undone) = (Vec::new(), Vec::new());
        let (former, next) = self.states.take_former();
        let mut text = self.buffer.clone();
        for change in former.into_iter().rev() {
            let after = text.digest();
            text.apply(&inverse(&change.splices));
            done.push(change.adopt(&self.path, (text.digest(), after), text.has_bom()));
        }
        done.reverse();
        let mut text = self.buffer.clone();
        for change in next.into_iter().rev() {
            let before = text.digest();
            text.apply(&change.splices);
            undone.push(change.adopt(&self.path, (before, text.digest()), text.has_bom()));
        }
        undone.reverse();
        (done, undone)
    }

    fn apply(&mut self, kind: EditKind, author: &Author, change: &FileChange) {
        let (splices, lines) = (&change.splices, &change.lines);
        match lines {
            LineChange::Move(moved) => {
                let positions = self.ranges.positions_after_move(&self.buffer, moved);
                self.buffer.apply(splices);
                self.ranges.set_positions(&self.buffer, &positions);
            }
            LineChange::Splices(_) => {
                self.buffer.apply(splices);
                self.ranges.apply_splices(splices, &format!("{kind} removed its text"));
            }
        }
        self.states.advance();
        self.access.gate.advance();
        let last = self.buffer.line_count().saturating_sub(1);
        self.top_line = lines.nearest_line(self.top_line).min(last);
        self.changed_lines = lines.changed_lines();
        self.changed_by.clone_from(&author.run);
        self.changed_bytes = first_differences(splices);
        self.line_ids.apply(lines);
        self.line_log.record(author.version, &author.run, lines.clone());
    }
}

fn is_zero(version: &u64) -> bool {
    *version == 0
}
