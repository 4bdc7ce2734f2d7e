//! Files that other programs wrote: asked about before an edit overwrites them.

use docui::{Choice, Context, Fault, Reply};

use crate::model::edits::Edits;
use crate::model::open_files::OpenFiles;
use crate::model::workspace_edit::DiskConflict;

use super::asked::AskedConflict;
use super::question::{Choices, QuestionToken};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EditChoice {
    Overwrite,
    Keep,
}

const CHANGED: Choices<EditChoice> = Choices(&[
    (EditChoice::Overwrite, "overwrite", "makes the edit and writes your text over theirs"),
    (EditChoice::Keep, "keep", "changes nothing; save() asks whose text to keep"),
]);

/// Takes the answer about files on disk out of a context: what the action itself asked before is
/// what it is answered with. The files that may be overwritten are remembered for the edit that is
/// begun next.
///
/// # Errors
/// The reader chose to keep the files.
pub(crate) fn without_disk_answer(
    open_files: &OpenFiles,
    edits: &mut Edits,
    context: &Context,
) -> Result<Context, Fault> {
    edits.overwrite.clear();
    let Some((QuestionToken::EditConflict { files, answered }, choice)) =
        QuestionToken::answered(context)?
    else {
        return Ok(context.clone());
    };
    if CHANGED.chosen(choice)? == EditChoice::Keep {
        return Err(
            Fault::failed("nothing was changed").hint(open_files.paths.run_command("save()"))
        );
    }
    edits.overwrite = files
        .into_iter()
        .map(|AskedConflict { path, disk, deleted }| DiskConflict {
            path,
            disk,
            deleted,
            differs: None,
        })
        .collect();
    Ok(Context { answer: answered, ..context.clone() })
}

/// Asks what to do about files that an edit would overwrite. `answered` is what the action was
/// answered with.
pub(crate) fn ask_about_edit(
    open_files: &OpenFiles,
    conflicts: Vec<DiskConflict>,
    answered: Option<(Vec<u8>, Choice)>,
) -> Result<Reply, Fault> {
    let names: Vec<_> = conflicts
        .iter()
        .map(|found| {
            let became = if found.deleted { "deleted" } else { "changed" };
            let differs = found.differs.as_deref();
            let differs = differs.map_or(String::new(), |lines| format!(" (its {lines})"));
            format!(
                "{} was {became} on disk by someone else{differs}",
                open_files.paths.display_path(&found.path)
            )
        })
        .collect();
    let question = names.join(", ");
    let files = conflicts.into_iter().map(|found| {
        let DiskConflict { path, disk, deleted, .. } = found;
        AskedConflict { path, disk, deleted }
    });
    CHANGED.ask(question, &QuestionToken::EditConflict { files: files.collect(), answered })
}
