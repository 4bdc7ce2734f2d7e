//! Opening a file, or making an open one current.

use std::path::PathBuf;

use docui::{Context, Done, Fault, Opening, Reply};

use crate::display::wording::count;
use crate::model::Editor;
use crate::model::disk;
use crate::model::history::Author;

impl Editor {
    pub(super) fn open_path(&mut self, path: &str, context: &Context) -> Result<Reply, Fault> {
        let target = self.path_to_open(path, context)?;
        let already_open = self.file_index(&target).is_some();
        let mut notes = Vec::new();
        if !already_open {
            let args = vec![target.display().to_string()];
            let (cwd, state_dir) = (self.caller_path("", context), self.state_dir.clone());
            let opening = Opening { args, cwd, state_dir, ..Opening::default() };
            notes = self.open_arguments(&opening)?;
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

    /// Returns the file that a path means: relative to the caller's directory, or else the open file that
    /// is displayed with this path.
    fn path_to_open(&self, path: &str, context: &Context) -> Result<PathBuf, Fault> {
        let found = disk::resolve(&self.caller_path(path, context));
        found.or_else(|fault| {
            let open = self.files.iter().find(|file| self.display_path(file.path()) == path);
            open.map(|file| file.path().to_owned()).ok_or(fault)
        })
    }
}
