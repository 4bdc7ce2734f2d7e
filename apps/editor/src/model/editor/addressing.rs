//! How files and the session are named to readers: displayed paths, and commands in hints.

use std::path::{Path, PathBuf};

use docui::{Context, Fault, command};

use super::Editor;
use crate::limits::FILES_NAMED;

impl Editor {
    /// Returns the path that a caller's argument means: relative to the caller's directory.
    pub(crate) fn caller_path(&self, argument: &str, context: &Context) -> PathBuf {
        self.cwd.join(context.path(argument))
    }

    /// Returns a path as every reader is shown it: relative to the session's root if it is below it.
    pub(crate) fn display_path(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// The directory that displayed paths are relative to.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the displayed path of an open file.
    pub(crate) fn display_name(&self, file: usize) -> String {
        self.display_path(self.files[file].path())
    }

    /// What calls on this session begin with: `editor`.
    pub(crate) fn callee(&self) -> &str {
        &self.callee
    }

    /// Returns the command that makes a call on this session: `pipemux run 'editor.undo(steps=2)'`. Write
    /// the call's strings in double quotes.
    pub(crate) fn run_command(&self, call: &str) -> String {
        command::run(&format!("{}.{call}", self.callee))
    }

    /// Returns the command that opens files in this session; the paths are still to be added.
    pub(crate) fn open_command(&self) -> String {
        format!("pipemux open {}", self.callee)
    }

    /// Returns the command that opens files in another session of this app.
    pub(super) fn open_elsewhere_command(&self) -> String {
        let provider = self.address.split('/').next().unwrap_or_default();
        format!("pipemux open {provider}/two")
    }

    /// Returns the hint to look at the session as it is now.
    pub(crate) fn view_hint(&self) -> String {
        format!("look: {}", self.view_command())
    }

    /// Returns the command that shows the session as it is now.
    pub(crate) fn view_command(&self) -> String {
        format!("pipemux view {}", self.address)
    }

    /// Returns the error of an action that needs a file when none is open, or none is the current one.
    pub(crate) fn no_file_open(&self) -> Fault {
        let Some(last) = self.files.iter().max_by_key(|file| file.last_used) else {
            return Fault::not_found("no file is open")
                .hint(format!("{} FILE", self.open_command()));
        };
        let message = format!("no file is the current one; loaded: {}", self.loaded_names());
        let goto = format!("goto({:?})", format!("{}:1", self.display_path(last.path())));
        Fault::not_found(message).hint(self.run_command(&goto))
    }

    /// The files that are open, the first few: `a.rs, b.rs and 3 more`.
    pub(crate) fn loaded_names(&self) -> String {
        let mut recent: Vec<_> = self.files.iter().collect();
        recent.sort_by_key(|file| std::cmp::Reverse(file.last_used));
        let named: Vec<_> =
            recent.iter().take(FILES_NAMED).map(|file| self.display_path(file.path())).collect();
        let more = match recent.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        named.join(", ") + &more
    }
}
