//! Counts matches, and those that each filter excluded.

use crate::limits::LEFT_LINES_MAX;

/// Matches and the lines that they are on: a line counts once however many matches it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub matches: u64,
    /// The number of lines that contain a match or a part of one.
    pub lines: u64,
}

impl Counts {
    /// Adds the counts of other lines.
    pub fn add(&mut self, other: Self) {
        self.matches += other.matches;
        self.lines += other.lines;
    }
}

/// Matches that a filter left out of one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOutLines {
    pub matches: u64,
    /// The numbers of their lines, each once, in order; the first [`LEFT_LINES_MAX`] and one more,
    /// if there are more.
    pub lines: Vec<u64>,
}

impl LeftOutLines {
    pub(crate) fn push(&mut self, line: u64) {
        self.matches += 1;
        if self.lines.len() <= LEFT_LINES_MAX && self.lines.last() != Some(&line) {
            self.lines.push(line);
        }
    }

    /// Returns the line numbers of all matches; `None` if there are too many to list.
    pub fn all(&self) -> Option<&[u64]> {
        (self.lines.len() <= LEFT_LINES_MAX).then_some(&self.lines)
    }
}

/// What the filters left out of one text. A match is counted under the first of them that left it
/// out, in the order of the fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Parts of longer words.
    pub not_words: LeftOutLines,
    /// On lines that match `not`.
    pub excluded: LeftOutLines,
    /// In code.
    pub code: LeftOutLines,
    /// In comments.
    pub comments: LeftOutLines,
    /// In strings.
    pub strings: LeftOutLines,
    /// In texts of a language that isn't known, in which nothing tells comments and strings from
    /// code.
    pub unknown: LeftOutLines,
}

impl LeftOut {
    /// Returns the number of matches that were left out.
    pub fn matches(&self) -> u64 {
        let all = [&self.not_words, &self.excluded, &self.code, &self.comments, &self.strings];
        all.iter().map(|left| left.matches).sum::<u64>() + self.unknown.matches
    }
}
