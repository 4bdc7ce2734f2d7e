//! Changes that a reader hasn't seen, which it may not take back.

use std::collections::HashMap;
use std::path::PathBuf;

use docui::{Context, Fault};

use crate::model::edits::Edits;
use crate::model::history::{Change, FileChange};
use crate::model::open_files::OpenFiles;
use crate::update::search::repeat_call::quoted;

/// Checks that the reader has seen the changes that the action is about to undo or redo, or made
/// them.
pub(super) fn check_seen(
    open_files: &OpenFiles,
    changes: &[&Change],
    context: &Context,
) -> Result<(), Fault> {
    let unseen = changes.iter().find(|change| is_unseen(change, context));
    unseen.map_or(Ok(()), |unseen| {
        Err(unseen_change(open_files, unseen).hint(open_files.paths.view_hint()))
    })
}

/// Returns the error of an action that would take back a change that its reader hasn't seen.
fn unseen_change(open_files: &OpenFiles, change: &Change) -> Fault {
    let by = match change.author.reader.as_str() {
        "" => "from disk".to_owned(),
        reader => format!("by {reader}"),
    };
    let files = change.files.iter().map(|file| open_files.paths.display_path(&file.path));
    let (shown, kind) = (files.collect::<Vec<_>>().join(", "), change.kind);
    Fault::stale(format!("{shown} has a change that you haven't seen: {kind} {by}"))
}

/// Returns the files with changes that the reader hasn't seen, each with the error of an action
/// that would take them away.
pub(crate) fn unseen_changes(
    open_files: &OpenFiles,
    edits: &Edits,
    context: &Context,
) -> HashMap<PathBuf, Fault> {
    let unseen = edits.changes.undoable().filter(|change| is_unseen(change, context));
    let of = |change: &Change| {
        let fault = unseen_change(open_files, change);
        let hinted = |file: &FileChange| {
            let look = match quoted(&open_files.paths.display_path(&file.path)) {
                Some(path) => {
                    let call = format!("{}.lines({path})", open_files.paths.callee());
                    format!("look: {}", docui::command::command(&["ask", &call]))
                }
                None => open_files.paths.view_hint(),
            };
            (file.path.clone(), fault.clone().hint(look))
        };
        change.files.iter().map(hinted).collect::<Vec<_>>()
    };
    unseen.flat_map(of).collect()
}

/// True for a change that neither the reader nor the present run made, since the reader looked
/// last.
fn is_unseen(change: &Change, context: &Context) -> bool {
    let author = &change.author;
    author.version > context.seen_version
        && author.run != context.run_id
        && (author.reader.is_empty() || author.reader != context.reader)
}
