//! One session of the editor.
//!
//! | module | holds |
//! |---|---|
//! | `addressing` | how files and the session are named to readers |
//! | `baseline` | what a reader's bare line numbers refer to |
//! | `renumbering` | what the numbers that a reader knows are after an action |
//! | `reading` | reading files on other threads |
//! | `interrupted` | changes of several files that were being written when the process ended |
//! | `opening` | starting a session, opening files, restoring them after a crash |
//! | `taking_edits` | planning edits on other threads, and taking in what they wrote |
//! | `snapshot` | the whole state on disk during hibernation |
//! | `unlisted` | files that are open only for their line numbers |

mod addressing;
mod baseline;
pub(crate) mod interrupted;
mod opening;
mod reading;
mod renumbering;
mod snapshot;
mod taking_edits;
mod unlisted;

pub(crate) use opening::arguments;
pub(crate) use reading::ReadArguments;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::FILES_MAX;

use self::interrupted::OwnLeftover;
use super::binary_file::{BinaryFile, BinaryFiles};
use super::change_log::ChangeLog;
use super::current_file_log::CurrentFileLog;
use super::disk_watch::DiskWatch;
use super::history::{Author, Change, EditKind};
use super::ids::{IdGenerator, IdKind};
use super::manifest::{Manifest, ManifestEntry};
use super::open_file::{DiskWait, OpenFile};
use super::shown_revisions::ShownRevisions;
use super::tracked_ranges::TrackedRange;
use super::workspace_edit::DiskConflict;
pub(crate) use baseline::SeenPart;

/// One session of the editor. Its serialized form is a snapshot: the names that `serde` is given are
/// those of format 1.
#[derive(Debug, Serialize, Deserialize)]
pub struct Editor {
    pub(crate) files: Vec<OpenFile>,
    /// The open files that are no text.
    #[serde(default, skip_serializing_if = "BinaryFiles::is_empty")]
    pub(crate) binaries: BinaryFiles,
    /// The path of the current file, which actions without a file name are about.
    pub(crate) current: Option<PathBuf>,
    /// The working directory of the first `open`, used for callers whose directory isn't known.
    cwd: PathBuf,
    /// The directory that displayed paths are relative to. It never changes, so that a path means the
    /// same to every reader.
    root: PathBuf,
    #[serde(rename = "witness")]
    shown_revisions: ShownRevisions,
    /// The changes that can be undone and redone. They are on disk already.
    #[serde(skip)]
    pub(crate) changes: ChangeLog,
    /// True while edits stay in the session until they are saved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) hold: bool,
    /// The files that the action that is being begun may overwrite, as they were when the reader was asked.
    #[serde(skip)]
    pub(crate) overwrite: Vec<DiskConflict>,
    /// What interrupted changes left beside their files, until an edit is written.
    #[serde(skip)]
    pub(crate) leftovers: Arc<Vec<OwnLeftover>>,
    /// Counts uses of files.
    #[serde(skip)]
    uses: u64,
    /// What calls on this session begin with: `editor`.
    #[serde(skip)]
    callee: String,
    /// The session's address: `editor/main`.
    #[serde(skip)]
    address: String,
    #[serde(skip)]
    pub(crate) state_dir: PathBuf,
    /// The key of the range that is bound to the name `selection`.
    pub(crate) selection: Option<String>,
    /// The version of the state, counted by the SDK's rules also for changes outside of actions.
    pub(crate) version: u64,
    #[serde(rename = "names")]
    pub(crate) ids: IdGenerator,
    /// What the first reader is told about the start.
    #[serde(skip)]
    pub(crate) notes: Vec<String>,
    #[serde(rename = "switches")]
    current_file_log: CurrentFileLog,
    /// The keys of files that were closed, each with what happened to the file.
    closed: VecDeque<(String, String)>,
    /// True when the manifest on disk is behind.
    #[serde(rename = "unlisted")]
    pub(crate) manifest_stale: bool,
    /// True while the snapshot on disk holds exactly this state.
    #[serde(skip)]
    snapshot_valid: bool,
    /// The checks of the open files for changes by other programs.
    #[serde(skip)]
    pub(crate) disk_watch: DiskWatch,
    /// True when this process continues from the snapshot of the one before it.
    #[serde(skip)]
    pub(crate) resumed: bool,
}

impl Editor {
    /// Returns the open file with a path.
    pub fn file(&self, path: &Path) -> Option<&OpenFile> {
        self.files.iter().find(|file| file.path() == path)
    }

    /// Returns the index of the open file with a path.
    pub(crate) fn file_index(&self, path: &Path) -> Option<usize> {
        self.files.iter().position(|file| file.path() == path)
    }

    /// Returns the index of the open file with a key.
    pub(crate) fn file_index_by_key(&self, key: &str) -> Option<usize> {
        self.files.iter().position(|file| file.key() == key)
    }

    /// The current file.
    pub fn current(&self) -> Option<&OpenFile> {
        self.current.as_deref().and_then(|path| self.file(path))
    }

    /// Returns what is waited for at the disk of a file.
    pub(crate) fn disk_wait(&self, file: &OpenFile) -> Option<DiskWait> {
        match file.is_being_written() {
            true => Some(DiskWait::Write),
            false => self.disk_watch.is_waiting(file.path()).then_some(DiskWait::Check),
        }
    }

    /// Takes in what other programs did to the files on disk, as far as their disks answer. Returns true if
    /// that changed what is shown.
    pub(crate) fn check_disk(&mut self) -> bool {
        let version = self.version + 1;
        let findings = self.disk_watch.check(self.files.iter().filter_map(OpenFile::disk_check));
        let mut changed = Vec::new();
        for finding in findings {
            let Some(index) = self.file_index(&finding.path) else { continue };
            let file = &mut self.files[index];
            let (is_changed, change) = file.take_finding(finding, version);
            if is_changed {
                changed.push(file.path().to_owned());
            }
            if let Some(change) = change {
                let (id, author) =
                    (self.ids.next(IdKind::Change), Author::outside_of_runs(version));
                let (kind, files) = (EditKind::Reload, vec![change]);
                self.changes.push_reload(Change { id, kind, author, files, of: None });
            }
        }
        let handle = self.disk_watch.handle().clone();
        let binary_changed = self.binaries.check(&handle);
        changed.iter().for_each(|path| self.record_changed_on_disk(path));
        let waits: Vec<_> = self.files.iter().map(|file| self.disk_wait(file)).collect();
        let mut waits_changed = false;
        for (file, wait) in self.files.iter_mut().zip(waits) {
            waits_changed |= std::mem::replace(&mut file.shown_wait, wait) != wait;
        }
        !changed.is_empty() || waits_changed || binary_changed
    }

    /// Returns the key of an open file that is no text: the path that readers are shown.
    pub(crate) fn binary_key(&self, file: &BinaryFile) -> String {
        self.display_path(file.path())
    }

    /// Returns the open file that is no text and has a key.
    pub(crate) fn binary(&self, key: &str) -> Option<&BinaryFile> {
        self.binaries.iter().find(|file| self.binary_key(file) == key)
    }

    /// True when a file is the current one.
    pub(crate) fn is_current(&self, file: &OpenFile) -> bool {
        self.current.as_deref() == Some(file.path())
    }

    /// Returns the selection or match with a key, also when its text is gone, and its file's index.
    pub(crate) fn range(&self, key: &str) -> Option<(usize, &TrackedRange)> {
        let mut files = self.files.iter().enumerate();
        files.find_map(|(index, file)| Some((index, file.ranges.get(key)?)))
    }

    /// Returns the selection or match with a key if its text still exists, and its file's index.
    pub(crate) fn existing_range(&self, key: &str) -> Option<(usize, &TrackedRange)> {
        self.range(key).filter(|(_, range)| range.gone.is_none())
    }

    /// Makes a file the current one.
    pub(crate) fn set_current(&mut self, to: Option<PathBuf>, author: &Author) {
        // A run that goes to the file that is current anyway is recorded too: its later numbers refer to
        // that file.
        let last_run = self.current_file_log.latest().map(|change| change.run.as_str());
        if self.current == to && last_run == Some(author.run.as_str()) {
            return;
        }
        self.manifest_stale |= self.current != to;
        if let Some(to) = &to {
            self.list_file(to);
            self.shown_revisions.record_current(to);
        }
        self.current.clone_from(&to);
        self.current_file_log.record(to, author);
    }

    /// Records that a file is used, so that it is among the last ones to be closed to make room.
    pub(crate) fn record_use(&mut self, index: usize) {
        self.uses += 1;
        self.files[index].last_used = self.uses;
    }

    /// Closes a file. If it was current, the next one in the list becomes current.
    pub(crate) fn close_file(&mut self, index: usize, reason: &str, author: &Author) {
        let mut file = self.files.remove(index);
        file.discard();
        // The file may have another text when it is opened again.
        self.shown_revisions.record_changed(file.path());
        if self.closed.len() >= FILES_MAX {
            self.closed.pop_front();
        }
        self.record_closed(file.key(), reason.to_owned());
        if self.is_current(&file) {
            let next = self.files.get(index).or(self.files.last());
            let next = next.map(|file| file.path().to_owned());
            self.set_current(next, author);
        }
        self.write_manifest();
    }

    /// Records why the file with a key is no longer open.
    pub(crate) fn record_closed(&mut self, key: String, reason: String) {
        self.closed.push_back((key, reason));
    }

    /// Returns what happened to the file with a key; `None` if it wasn't closed.
    pub(crate) fn close_reason(&self, key: &str) -> Option<String> {
        self.closed.iter().rev().find(|(closed, _)| closed == key).map(|(_, reason)| reason.clone())
    }

    /// Writes down which files are open, for a restart. If that fails, the next change tries again.
    pub(crate) fn write_manifest(&mut self) {
        let entry = |file: &OpenFile| ManifestEntry {
            path: file.path().to_owned(),
            base_digest: file.base_digest(),
        };
        let files = self.listed_files().map(entry).collect();
        let binaries = self.binaries.iter().map(|file| file.path().to_owned()).collect();
        let manifest = Manifest::new(files, binaries, self.current.clone(), self.hold);
        self.manifest_stale =
            manifest.write(&self.state_dir).is_err() || self.shown_revisions.write().is_err();
    }

    /// Writes the manifest if the one on disk is behind.
    pub(crate) fn write_manifest_if_stale(&mut self) {
        if self.manifest_stale {
            self.write_manifest();
        }
    }
}
