//! Keeping edits in the session until they are saved.

use docui::{Blocking, Context, Done, Fault, Reply};

use crate::model::Editor;
use crate::model::open_files::OpenFiles;
use crate::update::save::save_files;

use super::save::AfterSave;

pub(crate) fn begin_hold(open_files: &mut OpenFiles) -> Result<Reply, Fault> {
    let was = std::mem::replace(&mut open_files.hold, true);
    open_files.manifest_stale |= !was;
    let brief = if was { "on already" } else { "edits stay in the session until save()" };
    Ok(Done::new(brief).into())
}

/// Saves what is held. Edits are written at once from then on.
pub(crate) fn end_hold(
    open_files: &OpenFiles,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    save_files(open_files, (0..open_files.len()).collect(), AfterSave::EndHold, context)
}
