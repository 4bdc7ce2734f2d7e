//! Making a new file of bytes that are no text.

use docui::blocking::CommitPoint;
use docui::{Blocking, Context, Data, Done, Fault};

use crate::limits::DISK_DEADLINE;
use crate::model::binary_file::BinaryFile;
use crate::model::open_files::OpenFiles;
use crate::model::{Editor, disk};
use crate::update::disk_task::disk_task;

/// The result of creating a file.
enum Outcome {
    /// A preview: the text describes what would be written.
    Shown(String),
    /// The file was written; `None` if it was removed immediately afterwards.
    Written(Option<BinaryFile>),
}

/// Writes a file that is no text. It never replaces one, since that couldn't be undone.
pub(crate) fn create_binary(
    open_files: &OpenFiles,
    path: &str,
    data: Data,
    context: &Context,
) -> Blocking<Editor> {
    let preview = context.preview;
    let target = open_files.paths.caller_path(path, context);
    let shown = open_files.paths.display_path(&target);
    let waits_for = format!("the disk of {shown}");
    let label = data.from.map(|(_, label)| format!(" from {label}")).unwrap_or_default();
    let bytes = data.bytes;
    let work = move |commit: &CommitPoint| -> Result<Outcome, Fault> {
        let path = disk::resolve_new(&target)?;
        if std::fs::symlink_metadata(&path).is_ok() {
            return Err(Fault::refused(format!(
                "{shown} exists, and what is no text can't be undone"
            ))
            .hint("name another path"));
        }
        if preview {
            let brief = format!("would write {shown}, {} bytes", bytes.len());
            return Ok(Outcome::Shown(brief));
        }
        let staged = disk::stage_bytes(&path, &bytes)?;
        if !commit.begin() {
            return Err(Fault::failed(format!("{shown} was not written")));
        }
        staged.publish(&[])?;
        Ok(Outcome::Written(BinaryFile::read(&path)))
    };
    disk_task(waits_for, DISK_DEADLINE, context, work, move |editor, made, _, _| {
        let file = match made? {
            Outcome::Shown(brief) => return Ok(Done::new(brief).into()),
            Outcome::Written(None) => return Ok(Done::new("written").into()),
            Outcome::Written(Some(file)) => file,
        };
        let words = editor.files.paths.binary_words(&file);
        editor.files.binaries.put(file);
        editor.files.write_manifest();
        Ok(Done::new(format!("{words}{label}")).into())
    })
}
