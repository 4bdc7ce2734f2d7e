//! The parts of a symbol that a reader may want separately or skip: its signature and
//! documentation. Lines count from 0.

use std::ops::Range;

use super::symbol::{Symbol, flatten};
use crate::language::Language;
use crate::limits::SIGNATURE_LINES_MAX;
use crate::regions::{Region, regions};
use crate::source::Source;

impl Source {
    /// Returns the lines of a symbol's declaration above its body, at most `SIGNATURE_LINES_MAX`;
    /// one line for a symbol without a body.
    pub fn signature(&self, symbol: &Symbol) -> Range<usize> {
        let first = self.line_of(symbol.range.start);
        let head =
            symbol.body.as_ref().and_then(|body| self.text().get(symbol.range.start..body.start));
        let more = head.map_or(0, |head| head.trim_end().matches('\n').count());
        first..first + (more + 1).min(SIGNATURE_LINES_MAX)
    }

    /// Returns the lines that only document: comments above symbols, those of whole files in Rust,
    /// and docstrings of Python. In order; none overlap or follow each other.
    pub fn documentation(&self) -> Vec<Range<usize>> {
        let (text, regions) = (self.text(), regions(self));
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let line_of =
            |byte: usize| starts.partition_point(|start| *start <= byte).saturating_sub(1);
        let is_comment = |line: usize| {
            let start = starts.get(line).copied().unwrap_or(text.len());
            let end = starts.get(line + 1).copied().unwrap_or(text.len());
            let written = text.get(start..end).unwrap_or_default();
            let from = start + written.len() - written.trim_start().len();
            let bytes = from..start + written.trim_end().len();
            bytes.start < bytes.end && regions.of(&bytes) == Region::Comment
        };
        let symbols = self.declarations();
        let mut lines: Vec<usize> = Vec::new();
        for symbol in flatten(&symbols) {
            let above = line_of(symbol.whole.start)..line_of(symbol.range.start);
            lines.extend(above.filter(|line| is_comment(*line)));
        }
        let of_file = |bytes: &&Range<usize>| {
            let comment = text.get((*bytes).clone()).unwrap_or_default();
            self.language() == Language::Rust
                && ["//!", "/*!"].iter().any(|mark| comment.starts_with(mark))
        };
        for bytes in regions.comments.iter().filter(of_file) {
            lines.extend(line_of(bytes.start)..line_of(bytes.end.saturating_sub(1)) + 1);
        }
        if self.language() == Language::Python {
            let bodies = flatten(&symbols).into_iter().filter_map(|symbol| symbol.interior.clone());
            for body in std::iter::once(0..text.len()).chain(bodies) {
                let written = text.get(body.clone()).unwrap_or_default();
                let first = body.start + written.len() - written.trim_start().len();
                let at = regions.strings.binary_search_by_key(&first, |string| string.start);
                if let Some(string) = at.ok().and_then(|at| regions.strings.get(at)) {
                    lines.extend(line_of(string.start)..line_of(string.end.saturating_sub(1)) + 1);
                }
            }
        }
        lines.sort_unstable();
        lines.dedup();
        let mut runs: Vec<Range<usize>> = Vec::new();
        for line in lines {
            match runs.last_mut().filter(|last| last.end == line) {
                Some(last) => last.end = line + 1,
                None => runs.push(line..line + 1),
            }
        }
        runs
    }
}
