//! What a reader's bare line numbers refer to: the file that was current and the version of it that
//! the reader saw.

use std::path::Path;

use docui::{Context, Fault};

use super::Editor;
use crate::model::current_file_log::{CurrentFileChange, SeenFile};
use crate::model::journal::unrecorded;
use crate::model::line_log::Baseline;

impl Editor {
    /// Returns the file that bare numbers of a caller refer to: the one that was current in the version
    /// that the reader saw, after the run's own steps.
    ///
    /// # Errors
    /// No file was current, or the file was closed since.
    pub(crate) fn seen_file_index(&self, context: &Context) -> Result<usize, Fault> {
        let path = match self.seen_file(context) {
            SeenFile::Path(path) => Some(path),
            SeenFile::None => None,
            SeenFile::Unknown => self.current.as_deref(),
        };
        let path = path.ok_or_else(|| self.no_file_open())?;
        self.file_index(path).ok_or_else(|| {
            Fault::stale(format!("{}, which you saw, was closed", self.display_path(path)))
                .hint(self.view_hint())
        })
    }

    /// Returns the file that was current in what the reader saw, after the run's own steps.
    pub(crate) fn seen_file(&self, context: &Context) -> SeenFile<'_> {
        let own =
            |change: &CurrentFileChange| !change.run.is_empty() && change.run == context.run_id;
        let seen = |change: &CurrentFileChange| match (context.seen_lost, context.seen_version) {
            (true, _) => own(change),
            (false, 0) => true,
            (false, version) => change.version <= version || own(change),
        };
        let path = match self.current_file_log.latest_where(seen) {
            Some(change) => change.to.as_deref(),
            None if context.seen_lost => match self.shown_revisions.only_current_file() {
                Some(path) => Some(path),
                None => return SeenFile::Unknown,
            },
            None => self.current.as_deref(),
        };
        path.map_or(SeenFile::None, SeenFile::Path)
    }

    /// Returns what the caller's line numbers count in.
    pub(crate) fn baseline<'a>(&self, context: &'a Context) -> Baseline<'a> {
        Baseline {
            version: context.seen_version,
            from_earlier_process: context.seen_lost,
            run: &context.run_id,
        }
    }

    /// Records that a file's text is about to change, after which no number from an earlier process
    /// counts for it.
    ///
    /// # Errors
    /// This can't be written down; the change must not be made.
    pub(crate) fn before_change(&mut self, index: usize) -> Result<(), Fault> {
        self.shown_revisions.record_changed(self.files[index].path());
        self.shown_revisions.write().map_err(|error| unrecorded(&self.state_dir, &error))
    }

    /// Records that a path has another text than readers saw there before.
    pub(crate) fn record_other_text(&mut self, index: usize) {
        let file = &self.files[index];
        self.shown_revisions.record_shown(file.path(), file.buffer().digest());
        self.shown_revisions.record_changed(file.path());
    }

    /// Records that a file has changed on disk. Unlike in [`Editor::before_change`] there is no caller to
    /// refuse the change to, so it is written down with the manifest.
    pub(crate) fn record_changed_on_disk(&mut self, path: &Path) {
        self.shown_revisions.record_changed(path);
    }
}
