//! Selecting, reading and scrolling to lines.

use docui::{Context, Done, Fault, Line, LineNumbers, Reply};

use crate::display::wording::{count, range_name, shown_lines};
use crate::model::Editor;
use crate::model::history::Author;
use crate::model::ids::IdKind;
use crate::model::tracked_ranges::RangeKind;

use super::resolve::ResolvedLines;

impl Editor {
    pub(super) fn select(
        &mut self,
        first: &Line,
        last: &Line,
        context: &Context,
    ) -> Result<Reply, Fault> {
        let target = self.resolve_lines(first, last, context)?;
        let file = &mut self.files[target.file];
        let bytes = file.buffer().byte_range(&target.lines);
        if bytes.is_empty() {
            return Err(Fault::failed("there is nothing to select: the file is empty"));
        }
        let bound = self.selection.as_deref().and_then(|key| file.ranges.existing(key));
        if bound.is_none_or(|range| range.bytes != bytes) {
            let key = self.ids.next(IdKind::Selection);
            file.ranges.add(key.clone(), RangeKind::Selection, bytes);
            self.selection = Some(key);
        }
        let lines = count(target.lines.len(), "line");
        let shown = self.shown(&target, context);
        Ok(Done::new(format!("{}, {lines}", self.name_of(&target))).shows([shown]).into())
    }

    pub(super) fn goto(&mut self, line: &Line, context: &Context) -> Result<Reply, Fault> {
        let target = self.resolve_goto_target(line, context)?;
        self.scroll_to(target.file, target.lines.start, context);
        let shown = self.display_name(target.file);
        let line = target.lines.start;
        let numbers =
            shown_lines(&self.files[target.file], &(line..line + 1), context.next_version());
        Ok(Done::new(format!("{shown}:{}", line + 1)).shows([numbers]).into())
    }

    /// Makes a file the current one and shows it from a line on.
    pub(super) fn scroll_to(&mut self, index: usize, line: usize, context: &Context) {
        let file = &mut self.files[index];
        file.scroll_to(line, &context.run_id);
        let path = file.path().to_owned();
        self.set_current(Some(path), &Author::of(context));
    }

    fn shown(&self, target: &ResolvedLines, context: &Context) -> LineNumbers {
        shown_lines(&self.files[target.file], &target.lines, context.next_version())
    }

    fn name_of(&self, target: &ResolvedLines) -> String {
        range_name(&self.display_name(target.file), &target.lines)
    }
}
