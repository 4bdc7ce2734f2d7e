//! A text whose last line has its ending, so that its lines can change places.

use std::ops::Range;

use crate::source::Source;

use super::arrangement::Arrangement;

/// A text whose last line ends with a line ending.
pub(super) struct TerminatedText<'s> {
    pub source: &'s Source,
    pub text: String,
    /// True if the last line has no ending in the file.
    open: bool,
}

impl<'s> TerminatedText<'s> {
    pub(super) fn new(source: &'s Source) -> Self {
        let mut text = source.text().to_owned();
        let open = !text.is_empty() && !text.ends_with('\n');
        if open {
            text += source.line_ending();
        }
        Self { source, text, open }
    }

    /// Returns a range, extended past the final line ending if it reaches the end of the file.
    pub(super) fn closed(&self, range: &Range<usize>) -> Range<usize> {
        let end = if range.end >= self.source.text().len() { self.text.len() } else { range.end };
        range.start..end
    }

    /// Returns edits of this text as edits of the file, whose last line may lack its ending.
    pub(super) fn finish(&self, mut arrangement: Arrangement) -> Arrangement {
        arrangement.edits.retain(|edit| self.text[edit.range.clone()] != edit.new);
        arrangement.edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        if !self.open {
            return arrangement;
        }
        let (end, ending) = (self.source.text().len(), self.source.line_ending());
        // What is put where the last lines are taken out becomes the end of the file.
        if let [.., one, other] = arrangement.edits.as_mut_slice()
            && one.range.end == other.range.start
        {
            one.range.end = other.range.end;
            one.new += &other.new;
            arrangement.edits.pop();
        }
        if let Some(last) = arrangement.edits.last_mut().filter(|edit| edit.range.end > end) {
            if last.range.start > end {
                last.new.insert_str(0, ending);
                last.range.start = end;
            }
            last.range.end = end;
            if last.new.ends_with('\n') {
                let body = last.new.strip_suffix(ending).unwrap_or(&last.new[..last.new.len() - 1]);
                last.new.truncate(body.len());
            } else {
                let before = &self.text[..last.range.start];
                let body = before
                    .strip_suffix('\n')
                    .map_or(before, |body| body.strip_suffix('\r').unwrap_or(body));
                last.range.start = body.len();
            }
        }
        let length = arrangement.apply(self.source.text()).len();
        arrangement.placed.end = arrangement.placed.end.min(length);
        arrangement.placed.start = arrangement.placed.start.min(arrangement.placed.end);
        arrangement
    }
}
