//! Files that are open only because an answer showed some of their lines: readers may name those by
//! their numbers. No window lists them, and they are closed before others when there is no more
//! room.

use crate::model::edits::Edits;
use crate::model::open_files::OpenFiles;
use crate::model::written_files::take_outside;

use crate::limits::FILES_MAX;
use crate::model::history::Author;
use crate::model::open_file::{OpenFile, ReadFile};

/// Opens a file that was read without listing it. Returns its index; `None` if it can't be opened,
/// or if there is no room for it.
pub(crate) fn open_unlisted(
    files: &mut OpenFiles,
    edits: &mut Edits,
    read: ReadFile,
) -> Option<usize> {
    if let Some(index) = files.index(read.path()) {
        return Some(index);
    }
    if files.len() >= FILES_MAX {
        let unlisted = files.iter().enumerate().filter(|(_, file)| file.unlisted);
        let (oldest, _) = unlisted.min_by_key(|(_, file)| file.last_used)?;
        files.close_file(oldest, "it was closed to make room", &Author::default());
    }
    let shown = files.paths.display_path(read.path());
    take_outside(files, edits, &read);
    let (mut file, _) = OpenFile::open(read, &shown, edits.version).ok()?;
    file.unlisted = true;
    files.list.push(file);
    let index = files.len() - 1;
    files.record_use(index);
    files.record_opened(index, edits.version);
    Some(index)
}
