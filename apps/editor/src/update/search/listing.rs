//! The answer of a query about any number of files.

use docui::blocking::CommitPoint;
use docui::{Blocking, Context, Done, Fault, View};

use super::shown_lines::ShownLines;
use crate::limits::DISK_DEADLINE;
use crate::model::Editor;
use crate::model::documents::Documents;
use crate::model::open_files::OpenFiles;
use crate::update::disk_task::disk_task;
use crate::update::search::shown_lines::numbers_shown;

/// A result as displayed.
pub(crate) struct Listing {
    pub brief: String,
    /// The text in the code fence.
    pub text: String,
    /// The text below the code fence.
    pub rest: String,
    pub shown: ShownLines,
    pub documents: Documents,
    /// The value passed to an enclosing call that takes the result.
    pub value: Option<String>,
}

/// Makes a listing on another thread, and counts its numbers as seen.
pub(crate) fn listing(
    open_files: &OpenFiles,
    context: &Context,
    list: impl FnOnce(Documents) -> Result<Listing, Fault> + Send + 'static,
) -> Result<Blocking<Editor>, Fault> {
    let documents = open_files.documents();
    let began = context.version;
    let work = move |_: &CommitPoint| list(documents);
    let waits_for = "the disk".to_owned();
    Ok(disk_task(waits_for, DISK_DEADLINE, context, work, move |editor, listing, context, _| {
        let Listing { brief, text, rest, shown, mut documents, value } = listing?;
        let numbers = numbers_shown(
            &mut editor.files,
            &mut editor.edits,
            shown,
            &mut documents,
            began,
            context,
        );
        let mut view = View::new("");
        if !text.is_empty() {
            view.code("", text);
        }
        if !rest.is_empty() {
            view.text(rest);
        }
        let mut done = Done::new(&*brief).content(view).shows(numbers);
        if let Some(value) = value {
            done = done.value(value).label(brief);
        }
        Ok(done.into())
    }))
}
