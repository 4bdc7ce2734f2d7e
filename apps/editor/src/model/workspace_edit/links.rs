//! Creates and removes links themselves. Their targets aren't changed.

use std::fs;
use std::path::Path;

use docui::Fault;

use crate::model::buffer::Buffer;
use crate::model::disk::not_written;
use crate::model::history::FileChange;
use crate::model::splice::Splice;
use crate::model::text_diff::line_change_of;

use super::file_edit::TextEdit;
use super::planned_file::{PlannedFile, is_freed};

/// Returns where a link leads; `None` for everything else, and for a target that is no UTF-8.
pub fn target(path: &Path) -> Option<String> {
    fs::read_link(path).ok()?.into_os_string().into_string().ok()
}

/// Plans the edit of a link; `None` if it is the edit of a file.
///
/// # Errors
/// Something else is at the path.
pub(super) fn plan(
    (path, edit): (&Path, &TextEdit),
    shown: &str,
    planned: &[PlannedFile],
) -> Result<Option<PlannedFile>, Fault> {
    let (before, after) = match edit {
        TextEdit::CreateLink(target) => (None, Some(target.clone())),
        TextEdit::DeleteLink => {
            let found = target(path);
            let found =
                found.ok_or_else(|| Fault::stale(format!("{shown} is no link any more")))?;
            (Some(found), None)
        }
        TextEdit::Exact(change) if change.link => {
            let text = |digest: Option<u64>, of: fn(&Splice) -> &String| {
                digest
                    .map(|_| change.splices.first().map_or_else(String::new, |one| of(one).clone()))
            };
            (text(change.before, |splice| &splice.old), text(change.after, |splice| &splice.new))
        }
        _ => return Ok(None),
    };
    let found = match is_freed(path, planned) {
        true => None,
        false if fs::symlink_metadata(path).is_err() => None,
        false => Some(target(path)),
    };
    if found != before.clone().map(Some) {
        let message = match before {
            None => format!("{shown} already exists"),
            Some(_) => format!("{shown} has been changed since"),
        };
        return Err(Fault::refused(message).hint("nothing was changed"));
    }
    let text = |text: &Option<String>| Buffer::new(text.as_deref().unwrap_or(""), false);
    let (old, new) = (text(&before), text(&after));
    let splice = Splice {
        at: 0,
        old: before.clone().unwrap_or_default(),
        new: after.clone().unwrap_or_default(),
    };
    let splices = vec![splice];
    let change = FileChange {
        path: path.to_owned(),
        lines: line_change_of(&old, &splices),
        splices,
        before: before.map(|_| old.digest()),
        after: after.map(|_| new.digest()),
        bom: false,
        mode: None,
        mode_before: None,
        link: true,
    };
    let (base_digest, accepted) = (change.before, vec![change.before, change.after]);
    Ok(Some(PlannedFile { change, before: old, after: new, guard: None, base_digest, accepted }))
}

/// Makes a link where there must be nothing.
pub(super) fn make(path: &Path, target: &str) -> Result<(), Fault> {
    std::os::unix::fs::symlink(target, path).map_err(|error| not_written(path, &error))
}

/// Removes a link that leads where it should.
pub(super) fn remove(path: &Path, target: &str) -> Result<(), Fault> {
    pipemux_publish::remove_link(path, Path::new(target))
        .map_err(|error| crate::model::disk::unpublished(path, error))
}
