//! Files that are open only because an answer showed some of their lines: readers may name those by their numbers.
//! No window lists them, and they are closed before others when there is no more room.

use std::path::Path;

use super::Editor;
use crate::limits::FILES_MAX;
use crate::model::history::Author;
use crate::model::open_file::{OpenFile, ReadFile};

impl Editor {
    /// Opens a file that was read without listing it. Returns its index; `None` if it can't be opened, or if there
    /// is no room for it.
    pub(crate) fn open_unlisted(&mut self, read: ReadFile) -> Option<usize> {
        if let Some(index) = self.file_index(read.path()) {
            return Some(index);
        }
        if self.files.len() >= FILES_MAX {
            let unlisted = self.files.iter().enumerate().filter(|(_, file)| file.unlisted);
            let (oldest, _) = unlisted.min_by_key(|(_, file)| file.last_used)?;
            self.close_file(oldest, "it was closed to make room", &Author::default());
        }
        let shown = self.display_path(read.path());
        self.take_outside(&read);
        let (mut file, _) = OpenFile::open(read, &shown, self.version).ok()?;
        file.unlisted = true;
        self.files.push(file);
        let index = self.files.len() - 1;
        self.record_use(index);
        self.record_opened(index, self.version);
        Some(index)
    }

    /// Lists a file from now on, if it is open.
    pub(crate) fn list_file(&mut self, path: &Path) {
        let file = self.files.iter_mut().find(|file| file.path() == path);
        if let Some(file) = file.filter(|file| file.unlisted) {
            file.unlisted = false;
            self.manifest_stale = true;
        }
    }

    /// The files that windows list.
    pub(crate) fn listed_files(&self) -> impl Iterator<Item = &OpenFile> {
        self.files.iter().filter(|file| !file.unlisted)
    }
}
