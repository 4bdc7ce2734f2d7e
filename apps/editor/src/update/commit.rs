//! Making a change, and reporting what it did to line numbers.

use docui::{Context, Done, Fault, Reply};

use crate::action::Action;
use crate::display::wording::renumbered;
use crate::model::Editor;
use crate::model::history::{Author, EditKind};
use crate::model::ids::IdKind;
use crate::model::line_change::LineChange;
use crate::model::splice::Splice;

impl Editor {
    /// Changes a file's text as one action.
    pub(super) fn commit(
        &mut self,
        file: usize,
        kind: EditKind,
        splices: Vec<Splice>,
        lines: LineChange,
        context: &Context,
    ) -> Result<(), Fault> {
        self.before_change(file)?;
        self.hide_search_results();
        let id = self.ids.next(IdKind::Change);
        self.files[file].change(id, kind, Author::of(context), splices, lines)
    }

    /// Returns the outcome of a change: what was done, and which line numbers moved.
    pub(super) fn committed(&self, file: usize, brief: String, context: &Context) -> Reply {
        let brief = match self.renumbering(file, context) {
            Some(renumbering) => format!("{brief}; {renumbering}"),
            None => brief,
        };
        self.committed_as(file, brief)
    }

    /// Returns the outcome of a change with a complete brief.
    pub(super) fn committed_as(&self, file: usize, brief: String) -> Reply {
        let change = self.files[file].last_change_id().map(Into::into);
        let undo = Action::Undo { steps: 1, change };
        Done::new(self.brief_about(file, brief)).link("undo", &undo).into()
    }

    /// Returns a brief that names its file unless it is the current one.
    pub(super) fn brief_about(&self, file: usize, brief: String) -> String {
        match self.is_current(&self.files[file]) {
            true => brief,
            false => format!("{}: {brief}", self.display_name(file)),
        }
    }

    /// Says which lines after the changes have other numbers than the reader saw: `lines 4-412 are now
    /// 1-409`. `None` if there are none, or if the reader doesn't know the earlier numbers.
    pub(super) fn renumbering(&self, file: usize, context: &Context) -> Option<String> {
        let file = &self.files[file];
        let baseline = self.baseline(context);
        let growth = file.line_log().growth_since(baseline).filter(|growth| *growth != 0)?;
        let tail = file.line_log().tail_since(baseline)?..file.buffer().line_count();
        let before =
            tail.start.checked_add_signed(-growth)?..tail.end.checked_add_signed(-growth)?;
        (!tail.is_empty()).then(|| renumbered(&before, &tail))
    }
}
