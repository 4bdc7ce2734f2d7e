//! Listing the matches of a text.

use docui::{Context, Done, Fault, Reply};

use crate::display::wording::{count, shown_lines};
use crate::limits::{MATCHES_SHOWN, PAGE};
use crate::model::Editor;
use crate::model::editor::SearchResults;
use crate::model::history::Author;
use crate::model::ids::IdKind;
use crate::model::tracked_ranges::RangeKind;

use super::text_search::{closest_match, matches};

/// How many lines are shown above a match that is scrolled to.
const LINES_ABOVE: usize = 3;

impl Editor {
    pub(super) fn find_text(&mut self, query: &str, context: &Context) -> Result<Reply, Fault> {
        if query.is_empty() {
            return Err(Fault::usage("text is empty: expected what to find"));
        }
        let index = self.seen_file_index(context)?;
        let text = self.files[index].buffer().text();
        let found = matches(&text, query);
        let path = self.files[index].path().to_owned();
        let Some(first) = found.first() else {
            let fault = Fault::failed(format!("no match in {}", self.display_path(&path)));
            return Err(closest_match(&text, query).into_iter().fold(fault, Fault::hint));
        };
        // A match that was found before keeps its key.
        let before = self.search_results.take();
        let before = before.filter(|results| results.path == path && results.query == query);
        let before = before.map(|results| results.keys).unwrap_or_default();
        let mut keys = Vec::new();
        for bytes in found.iter().take(MATCHES_SHOWN) {
            let ranges = &mut self.files[index].ranges;
            let same =
                |key: &&String| ranges.existing(key).is_some_and(|range| range.bytes == *bytes);
            let known = before.iter().find(same).cloned();
            keys.push(known.unwrap_or_else(|| {
                let key = self.ids.next(IdKind::Match);
                ranges.add(key.clone(), RangeKind::Match, bytes.clone());
                key
            }));
        }
        let buffer = self.files[index].buffer();
        let mut lines: Vec<_> = found.iter().map(|found| buffer.line_at(found.start)).collect();
        lines.dedup();
        let line = buffer.line_at(first.start);
        let more = found.len() - keys.len();
        let file = &self.files[index];
        let top = file.top_line.min(file.buffer().line_count().saturating_sub(PAGE));
        let in_view = lines.iter().any(|line| (top..top + PAGE).contains(line));
        match in_view {
            // The page stays as it is, so that only the list of matches is new.
            true => self.set_current(Some(path.clone()), &Author::of(context)),
            false => self.scroll_to(index, line.saturating_sub(LINES_ABOVE), context),
        }
        let query = query.to_owned();
        self.search_results = Some(SearchResults { path, query, keys, more, listed: true });
        let on = match lines.len() {
            1 => format!("line {}", line + 1),
            several => format!("{several} lines, the first is {}", line + 1),
        };
        let shown = shown_lines(&self.files[index], &(line..line + 1), context.next_version());
        Ok(Done::new(format!("{} on {on}", count(found.len(), "match"))).shows([shown]).into())
    }
}
