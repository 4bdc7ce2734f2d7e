//! Opening a file, or making an open one current.

use docui::blocking::CommitPoint;
use docui::{Blocking, Context, Done, Fault, Opening, Reply};

use crate::display::wording::count;
use crate::model::Editor;
use crate::model::editor::ReadArgument;
use crate::model::history::Author;

impl Editor {
    pub(super) fn open_path(
        &mut self,
        path: &str,
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        let (target, displayed) = (self.caller_path(path, context), path.to_owned());
        let (reader, wanted) = (self.file_reader(), target.clone());
        // A path means the file that it leads to from the caller's directory, or else the open file that is
        // displayed with it.
        let read = move |_: &CommitPoint| reader.read(&wanted, Some(&displayed));
        Ok(self.at_disk(&target, context, read, |editor, read, context, completion| {
            if completion.late {
                return Err(Fault::failed("not opened, because nobody waits for it any more"));
            }
            editor.open_read(read?, context)
        }))
    }

    fn open_read(&mut self, read: ReadArgument, context: &Context) -> Result<Reply, Fault> {
        let target = read.path().to_owned();
        let already_open = self.file_index(&target).is_some();
        let mut notes = Vec::new();
        if !already_open {
            let args = vec![target.display().to_string()];
            let (cwd, state_dir) = (self.caller_path("", context), self.state_dir.clone());
            let opening = Opening { args, cwd, state_dir, ..Opening::default() };
            notes = self.take_arguments(&opening, vec![Ok(read)])?;
        }
        self.set_current(Some(target.clone()), &Author::of(context));
        let lines = self.file(&target).map_or(0, |file| file.buffer().line_count());
        let mut brief = format!("{}, {}", self.display_path(&target), count(lines, "line"));
        if already_open {
            brief += ", already open";
        }
        let done = Done::new(brief);
        Ok(match notes.is_empty() {
            true => done,
            false => done.detail(notes.join("\n")),
        }
        .into())
    }
}
