//! Looking: nothing of a file changes.

use std::ops::Range;
use std::time::Duration;

use docui::{Context, Done, Fault, Line, Reply};
use similar::TextDiff;

use crate::limits::{DETAIL_MAX, DIFF_MS, MATCHES_SHOWN, PAGE, VALUE_MAX};
use crate::model::disk;
use crate::model::marks::MarkKind;
use crate::model::{Editor, Listing};

use super::matching::{matches, near};
use super::{author, count, numbers};

/// Lines shown above a place that is gone to because of what stands in it.
const ABOVE: usize = 3;

impl Editor {
    pub(super) fn find_text(&mut self, text: &str, context: &Context) -> Result<Reply, Fault> {
        if text.is_empty() {
            return Err(Fault::usage("text is empty: expected what to find"));
        }
        let index = self.seen_current(context)?;
        let whole = self.files[index].buffer().text();
        let found = matches(&whole, text);
        let path = self.files[index].path().to_owned();
        let Some(first) = found.first() else {
            let fault = Fault::failed(format!("no match in {}", self.shown(&path)));
            return Err(near(&whole, text).into_iter().fold(fault, Fault::hint));
        };
        // What is found again where it was keeps its key.
        let before =
            self.listing.take().filter(|listing| listing.path == path && listing.text == text);
        let before = before.map(|listing| listing.keys).unwrap_or_default();
        let mut keys = Vec::new();
        for place in found.iter().take(MATCHES_SHOWN) {
            let marks = &mut self.files[index].marks;
            let same = |key: &&String| {
                marks.get(key).is_some_and(|mark| mark.gone.is_none() && mark.bytes == *place)
            };
            let known = before.iter().find(same).cloned();
            keys.push(known.unwrap_or_else(|| {
                let key = self.names.make("match");
                marks.add(key.clone(), MarkKind::Match, place.clone());
                key
            }));
        }
        let buffer = self.files[index].buffer();
        let mut lines: Vec<_> = found.iter().map(|found| buffer.line_at(found.start)).collect();
        lines.dedup();
        let line = buffer.line_at(first.start);
        let more = found.len() - keys.len();
        let file = &self.files[index];
        let top = file.top.min(file.buffer().lines().saturating_sub(PAGE));
        let in_view = lines.iter().any(|line| (top..top + PAGE).contains(line));
        match in_view {
            // What is shown stays as it is, to the byte: only the places are new.
            true => self.switch(Some(path.clone()), &author(context)),
            false => self.go(index, line.saturating_sub(ABOVE), context),
        }
        let text = text.to_owned();
        self.listing = Some(Listing { path, text, keys, more, shown: true });
        let on = match lines.len() {
            1 => format!("line {}", line + 1),
            several => format!("{several} lines, the first is {}", line + 1),
        };
        Ok(Done::new(format!("{} on {on}", count(found.len(), "match"))).into())
    }

    pub(super) fn select(
        &mut self,
        first: &Line,
        last: &Line,
        context: &Context,
    ) -> Result<Reply, Fault> {
        let span = self.span(first, last, context)?;
        let file = &mut self.files[span.file];
        let bytes = file.buffer().bytes_of(&span.lines);
        if bytes.is_empty() {
            return Err(Fault::failed("there is nothing to select: the file is empty"));
        }
        let bound = self.selection.as_deref().and_then(|key| file.marks.get(key));
        let same = bound.is_some_and(|mark| mark.gone.is_none() && mark.bytes == bytes);
        if !same {
            let key = self.names.make("selection");
            file.marks.add(key.clone(), MarkKind::Selection, bytes);
            self.selection = Some(key);
        }
        let place = self.place_name(span.file, &span.lines);
        Ok(Done::new(format!("{place}, {}", count(span.lines.len(), "line"))).into())
    }

    pub(super) fn lines(
        &mut self,
        first: &Line,
        last: &Line,
        context: &Context,
    ) -> Result<Reply, Fault> {
        let span = self.span(first, last, context)?;
        let buffer = self.files[span.file].buffer();
        let bytes = buffer.bytes_of(&span.lines);
        if bytes.len() > VALUE_MAX {
            let (has, most) = (bytes.len(), VALUE_MAX);
            return Err(Fault::refused(format!(
                "these lines have {has} bytes, at most {most} at once"
            ))
            .hint("ask for fewer lines"));
        }
        let place = self.place_name(span.file, &span.lines);
        let text = buffer.slice(bytes);
        let brief = format!("{} from {place}", count(span.lines.len(), "line"));
        Ok(Done::new(brief).value(text).label(place).into())
    }

    pub(super) fn goto(&mut self, line: &Line, context: &Context) -> Result<Reply, Fault> {
        let span = self.target(line, context)?;
        self.unlist();
        self.go(span.file, span.lines.start, context);
        let shown = self.shown(self.files[span.file].path());
        Ok(Done::new(format!("{shown}:{}", span.lines.start + 1)).into())
    }

    pub(super) fn diff(&mut self, context: &Context) -> Result<Reply, Fault> {
        let index = self.seen_current(context)?;
        let file = &self.files[index];
        let shown = self.shown(file.path());
        let disk = match disk::load(file.path()) {
            Ok(loaded) => loaded.text,
            Err(fault) if fault.code == Fault::not_found("").code => String::new(),
            Err(fault) => return Err(fault),
        };
        let now = file.buffer().text();
        if disk == now {
            return Ok(Done::new(format!("{shown}, no changes")).value("").into());
        }
        let mut config = TextDiff::configure();
        config.timeout(Duration::from_millis(DIFF_MS));
        let (old, new): (Vec<_>, Vec<_>) =
            (disk.split_inclusive('\n').collect(), now.split_inclusive('\n').collect());
        let diff = config.newline_terminated(true).diff_slices(&old, &new);
        let (mut added, mut removed) = (0, 0);
        for op in diff.ops() {
            let (tag, before, after) = op.as_tag_tuple();
            if tag != similar::DiffTag::Equal {
                (removed, added) = (removed + before.len(), added + after.len());
            }
        }
        let mut text =
            diff.unified_diff().header(&shown, &format!("{shown} (unsaved)")).to_string();
        let mut brief = format!("{shown}, +{added} -{removed} lines");
        if text.len() > VALUE_MAX {
            text = format!("{}\n… cut\n", head(&text, VALUE_MAX));
            brief += ", cut";
        }
        let detail = match text.len() > DETAIL_MAX {
            true => format!("{}\n… cut\n", head(&text, DETAIL_MAX)),
            false => text.clone(),
        };
        Ok(Done::new(brief).detail(detail).value(text).label(format!("diff of {shown}")).into())
    }

    /// Shows the file from a line on.
    fn go(&mut self, index: usize, line: usize, context: &Context) {
        let path = self.files[index].path().to_owned();
        self.files[index].top = line;
        self.files[index].settle();
        self.switch(Some(path), &author(context));
    }

    /// `src/parse.rs:101-300`
    pub(crate) fn place_name(&self, index: usize, lines: &Range<usize>) -> String {
        let shown = self.shown(self.files[index].path());
        let lines = numbers(lines);
        let lines = lines.split_once(' ').map_or("", |(_, numbers)| numbers);
        format!("{shown}:{lines}")
    }
}

/// Whole lines from the start, at most so many bytes.
fn head(text: &str, max: usize) -> &str {
    let end = (0..=max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text[..end].rsplit_once('\n').map_or(&text[..end], |(head, _)| head)
}
