//! Work that actions do on another thread, while the session handles other requests.

use std::path::Path;
use std::time::Duration;

use docui::blocking::CommitPoint;
use docui::{Blocking, Completion, Context, Fault, Reply};

use crate::limits::DISK_DEADLINE;
use crate::model::Editor;
use crate::model::open_files::OpenFiles;

use super::renumbering::conclude;

/// Makes work at the disk of a file. `finish` gets its result, with the version that the session
/// has by then.
pub(crate) fn at_disk<T: Send + 'static>(
    open_files: &OpenFiles,
    path: &Path,
    context: &Context,
    work: impl FnOnce(&CommitPoint) -> T + Send + 'static,
    finish: impl FnOnce(&mut Editor, T, &Context, Completion) -> Result<Reply, Fault> + Send + 'static,
) -> Blocking<Editor> {
    let waits_for = format!("the disk of {}", open_files.paths.display_path(path));
    disk_task(waits_for, DISK_DEADLINE, context, work, finish)
}

/// Makes work on another thread that waits for what `waits_for` names. `finish` gets its result,
/// with the version that the session has by then.
pub(crate) fn disk_task<T: Send + 'static>(
    waits_for: String,
    deadline: Duration,
    context: &Context,
    work: impl FnOnce(&CommitPoint) -> T + Send + 'static,
    finish: impl FnOnce(&mut Editor, T, &Context, Completion) -> Result<Reply, Fault> + Send + 'static,
) -> Blocking<Editor> {
    let context = context.clone();
    Blocking::new(waits_for, deadline, work, move |editor: &mut Editor, result, completion| {
        editor.invalidate_snapshot();
        editor.edits.version = completion.version;
        let context = Context { version: completion.version, ..context };
        let reply = finish(editor, result, &context, completion)?;
        let reply = conclude(&editor.files, &mut editor.edits, reply, &context);
        editor.files.write_manifest_if_stale();
        Ok(reply)
    })
}
