//! What a reader saw: which file was in view, in which version, and what becomes of that.

use std::path::Path;

use docui::{Context, Fault};

use super::linemap::Seen;
use super::{Editor, Switch};

impl Editor {
    /// The file that was in view in the version which a reader saw, after their own steps: the one that
    /// bare numbers are about.
    pub(crate) fn seen_current(&self, context: &Context) -> Result<usize, Fault> {
        let path = self.seen_path(context).unwrap_or(self.current.as_deref());
        let path = path.ok_or_else(|| self.no_file())?;
        self.index(path).ok_or_else(|| {
            Fault::stale(format!("{}, which you saw, was closed", self.shown(path)))
                .hint(self.look_hint())
        })
    }

    /// The file that was in view as a reader saw it, if there was one; none when it can't be told.
    pub(crate) fn seen_path(&self, context: &Context) -> Option<Option<&Path>> {
        let own = |switch: &Switch| !switch.run.is_empty() && switch.run == context.run_id;
        let counts = |switch: &&Switch| match (context.seen_lost, context.seen_version) {
            (true, _) => own(switch),
            (false, 0) => true,
            (false, seen) => switch.version <= seen || own(switch),
        };
        match self.switches.iter().rev().find(counts) {
            Some(switch) => Some(switch.to.as_deref()),
            None if context.seen_lost => self.witness.only_current().map(Some),
            None => Some(self.current.as_deref()),
        }
    }

    /// What the caller's line numbers mean.
    pub(crate) fn seen<'a>(&self, context: &'a Context) -> Seen<'a> {
        let (version, lost) = (context.seen_version, context.seen_lost);
        Seen { version, lost, run: &context.run_id }
    }

    /// Notes that a file's text is about to become another one: after that no number from an earlier
    /// life counts for it.
    pub(crate) fn before_change(&mut self, index: usize) -> Result<(), Fault> {
        self.witness.several(self.files[index].path());
        self.witness.write().map_err(|error| {
            let place = self.state_dir.display();
            Fault::failed(format!("the change couldn't be kept safe in {place}: {error}"))
                .hint("nothing was changed; free some disk space and do it again")
        })
    }

    /// Notes that a path has another text than it was seen with.
    pub(crate) fn shows_another(&mut self, index: usize) {
        let file = &self.files[index];
        self.witness.shows(file.path(), file.buffer().hash());
        self.witness.several(file.path());
    }

    /// As [`Editor::before_change`], of what the disk changed: there is nobody to refuse it to.
    pub(crate) fn changed_on_disk(&mut self, path: &Path) {
        self.witness.several(path);
    }
}
