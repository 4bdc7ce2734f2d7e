//! What actions do at the disk: on another thread, while the session handles other requests.

use std::path::Path;
use std::sync::Weak;

use docui::blocking::CommitPoint;
use docui::{Blocking, Completion, Context, Fault, Reply};

use crate::action::Action;
use crate::limits::DISK_DEADLINE;
use crate::model::Editor;

use super::save::AfterSave;

impl Editor {
    /// Returns what an action does at the disk; `None` if it does nothing there.
    pub(crate) fn disk_work(
        &mut self,
        action: &Action,
        context: &Context,
    ) -> Result<Option<Blocking<Self>>, Fault> {
        match action {
            Action::Open { path } => self.open_path(&path.0, context).map(Some),
            Action::Save {} => {
                let index = self.seen_file_index(context)?;
                self.save_file(index, AfterSave::Nothing, context).map(Some)
            }
            Action::SaveAs { path } => self.save_as(&path.0, context).map(Some),
            Action::Close { file } => self.save_before_closing(file.as_ref(), context),
            Action::Diff {} => self.diff(context).map(Some),
            _ => Ok(None),
        }
    }

    /// Makes work at the disk of a file. `finish` gets its result, with the version that the session has by
    /// then.
    pub(super) fn at_disk<T: Send + 'static>(
        &self,
        path: &Path,
        context: &Context,
        work: impl FnOnce(&CommitPoint) -> T + Send + 'static,
        finish: impl FnOnce(&mut Self, T, &Context, Completion) -> Result<Reply, Fault> + Send + 'static,
    ) -> Blocking<Self> {
        let waits_for = format!("the disk of {}", self.display_path(path));
        let context = context.clone();
        Blocking::new(
            waits_for,
            DISK_DEADLINE,
            work,
            move |editor: &mut Self, result, completion| {
                editor.invalidate_snapshot();
                editor.version = completion.version;
                let context = Context { version: completion.version, ..context };
                let reply = match finish(editor, result, &context, completion)? {
                    Reply::Done(done) => {
                        editor.version += 1;
                        Reply::Done(editor.tell_renumbering(done, &context))
                    }
                    ask => ask,
                };
                editor.write_manifest_if_stale();
                Ok(reply)
            },
        )
    }

    /// Returns the index of the open file that work was begun for.
    ///
    /// # Errors
    /// It was closed.
    pub(super) fn still_open(&self, identity: &Weak<()>) -> Result<usize, Fault> {
        let index = self.files.iter().position(|file| file.identity().ptr_eq(identity));
        index.ok_or_else(|| Fault::failed("the file was closed meanwhile").hint(self.view_hint()))
    }

    /// Returns the error of an action that can't be done while a write of the file is under way.
    pub(super) fn check_not_being_written(&self, index: usize) -> Result<(), Fault> {
        match self.files[index].is_being_written() {
            true => {
                let shown = self.display_name(index);
                let message = format!("{shown} is being written, its disk has not answered yet");
                Err(Fault::refused(message).hint("save_as('…') writes it elsewhere"))
            }
            false => Ok(()),
        }
    }
}
