//! Reads the changes of older sessions, which had a history for each file.

use crate::model::edits::Edits;
use crate::model::open_files::OpenFiles;

/// Takes over the changes that an editor saved that had a history for each file.
pub(super) fn adopt_former_changes(files: &mut OpenFiles, edits: &mut Edits) {
    let (mut done, mut undone) = (Vec::new(), Vec::new());
    for file in &mut files.list {
        let (before, after) = file.take_former_changes();
        done.extend(before);
        undone.extend(after);
    }
    if done.is_empty() && undone.is_empty() {
        return;
    }
    done.sort_by_key(|change| change.author.version);
    // The one that was undone last is redone first.
    undone.sort_by_key(|change| change.author.version);
    edits.changes.adopt(done, undone);
}
