//! The search pattern, and its matches in a text.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::mem::take;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use memchr::memmem;

use crate::candidates::{CandidateLines, Candidates};
use crate::counts::{Counts, LeftOut};
use crate::limits::PATTERN_MAX;
use crate::line_matcher::LineMatcher;
use crate::pattern_error::PatternError;

/// The kind of a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Neither of the others.
    Code,
    Comment,
    /// A string literal.
    String,
}

/// Tells what a range of one text is.
pub type PartOf = Box<dyn Fn(&Range<usize>) -> Part>;

/// Reads a text so that its parts can be told; `None` if nothing is known of its language. It is
/// only called for texts with matches.
pub type Classify = dyn Fn(&Path, &str) -> Option<PartOf> + Send + Sync;

/// The filters that a match must pass.
#[derive(Default)]
pub struct Filters {
    /// Accepts only whole words.
    pub word: bool,
    /// Accepts only matches in parts of this kind.
    pub only: Option<Part>,
    /// Tells the parts of a text.
    pub classify: Option<Arc<Classify>>,
    /// A regular expression that a line of the match must not match.
    pub not: Option<String>,
    /// Files of which only parts are searched, with the bytes of these parts. A match counts if all
    /// of it is in one; the others aren't told as left out. Files that aren't named here are
    /// searched whole.
    pub within: Parts,
}

/// The parts of files that are searched, in bytes of the text without its byte order mark.
pub type Parts = BTreeMap<PathBuf, Vec<Range<usize>>>;

/// A text or a regular expression to search for, compiled. A clone is faster than to share it among
/// threads.
#[derive(Clone)]
pub struct Pattern {
    /// Finds all matches, also those that aren't whole words.
    any: RegexMatcher,
    word: Option<RegexMatcher>,
    not: Option<LineMatcher>,
    only: Option<Part>,
    classify: Option<Arc<Classify>>,
    within: Arc<Parts>,
    /// True when what ends a line matters to the expression.
    line_ends: bool,
    /// True when a match can go on over the end of a line.
    multi_line: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    pub bytes: Range<usize>,
    /// The number of the first line.
    pub line: u64,
    pub last_line: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matches {
    /// The matches that pass the filters, in order, without overlaps.
    pub found: Vec<Match>,
    /// The matches that the filters left out.
    pub left: LeftOut,
}

impl Matches {
    /// Counts the matches and their lines.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { matches: self.found.len() as u64, lines: 0 };
        let mut last = 0;
        for found in &self.found {
            counts.lines += (found.last_line + 1).saturating_sub(found.line.max(last + 1));
            last = last.max(found.last_line);
        }
        counts
    }
}

impl Pattern {
    /// Compiles a text, or a regular expression in the syntax of the crate `regex`. Without `case`,
    /// upper and lower case are the same.
    ///
    /// # Errors
    /// The text is empty, or it or [`Filters::not`] isn't a regular expression.
    pub fn new(
        text: &str,
        is_regex: bool,
        case: bool,
        filters: Filters,
    ) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        let text = text.replace("\r\n", "\n");
        let mut builder = RegexMatcherBuilder::new();
        builder.multi_line(true).case_insensitive(!case).fixed_strings(!is_regex);
        builder.size_limit(PATTERN_MAX);
        // With a line terminator the expression never matches one, and is an error if it names one.
        builder.line_terminator(Some(b'\n'));
        let multi_line = builder.build(&text).is_err();
        if multi_line {
            builder.line_terminator(None);
        }
        let any = builder.build(&text).map_err(|error| PatternError::syntax("", &error))?;
        let word = match filters.word {
            true => {
                builder.word(true);
                Some(builder.build(&text).map_err(|error| PatternError::syntax("", &error))?)
            }
            false => None,
        };
        let not = filters.not.as_deref().map(|not| LineMatcher::new("not", not));
        let line_ends = is_regex && ["$", r"\z", r"\Z"].iter().any(|end| text.contains(end));
        let Filters { only, classify, within, .. } = filters;
        let (not, within) = (not.transpose()?, Arc::new(within));
        Ok(Self { any, word, not, only, classify, within, line_ends, multi_line })
    }

    /// True when a match can go on over the end of a line.
    pub fn is_multi_line(&self) -> bool {
        self.multi_line
    }

    /// Returns what finds the groups of a match.
    pub(crate) fn groups(&self) -> &RegexMatcher {
        // That of whole words has the same groups.
        self.word.as_ref().unwrap_or(&self.any)
    }

    /// Finds the lines with a match, and others only if a filter leaves all of their matches out.
    pub(crate) fn candidates(&self) -> Candidates<'_> {
        Candidates { matcher: &self.any, line_ends: self.line_ends }
    }

    /// Searches a text, which is that of the file at `path`, without its byte order mark.
    pub fn search(&self, path: &Path, text: &str) -> Matches {
        self.search_first(path, text, usize::MAX)
    }

    /// Searches a text as [`Pattern::search`] does, but may stop once this many lines with matches
    /// are found.
    pub fn search_first(&self, path: &Path, text: &str, lines: usize) -> Matches {
        let mut scan = Scan::new(self, path, text);
        let (mut found, mut with_matches) = (0, 0);
        match self.multi_line {
            true => scan.whole(),
            false => {
                CandidateLines::default().each(self.candidates(), text.as_bytes(), |line, bytes| {
                    scan.region(bytes, line);
                    with_matches += usize::from(scan.matches.found.len() > found);
                    found = scan.matches.found.len();
                    with_matches < lines
                })
            }
        }
        scan.matches
    }
}

/// The search of a text.
pub(crate) struct Scan<'a> {
    pattern: &'a Pattern,
    path: &'a Path,
    text: &'a str,
    /// The parts to search; `None` for the whole text.
    within: Option<&'a [Range<usize>]>,
    /// The classifier of the text's parts, created when first needed.
    part_of: OnceCell<Option<PartOf>>,
    /// The lines last checked against `not`, and the result.
    excluded: (Range<u64>, bool),
    pub(crate) matches: Matches,
    found: Vec<Range<usize>>,
    words: Vec<Range<usize>>,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(pattern: &'a Pattern, path: &'a Path, text: &'a str) -> Self {
        Self {
            pattern,
            path,
            text,
            within: pattern.within.get(path).map(Vec::as_slice),
            part_of: OnceCell::new(),
            excluded: (0..0, false),
            matches: Matches::default(),
            found: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Takes in the matches of the whole text, which may go on over the ends of lines. A line break
    /// in the expression stands for either line ending.
    pub(crate) fn whole(&mut self) {
        // Each part by itself: a match that reaches into a part must not hide one within it.
        let whole = 0..self.text.len();
        for part in self.within.unwrap_or(std::slice::from_ref(&whole)) {
            let Some(text) = self.text.get(part.clone()) else { continue };
            let line = 1 + line_ends(&self.text.as_bytes()[..part.start]);
            self.lines(text, part.start, line);
        }
    }

    /// Takes in the matches of a text of several lines, which begins at a byte and in a line of the
    /// whole text.
    fn lines(&mut self, text: &str, start: usize, line: u64) {
        let returns: Vec<usize> = memmem::find_iter(text.as_bytes(), "\r\n").collect();
        if returns.is_empty() {
            return self.take(text.as_bytes(), line, |at| start + at);
        }
        let text = text.replace("\r\n", "\n");
        // A byte of the shorter text has those `\r` before it that were before an earlier `\n`.
        let back = |at: usize| {
            let (mut low, mut high) = (0, returns.len());
            while low < high {
                let middle = (low + high) / 2;
                match returns[middle] - middle < at {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            start + at + low
        };
        self.take(text.as_bytes(), line, back);
    }

    /// Takes in the matches of one line, given without its ending.
    pub(crate) fn region(&mut self, bytes: Range<usize>, line: u64) {
        let start = bytes.start;
        self.take(&self.text.as_bytes()[bytes], line, |at| start + at);
    }

    /// Takes in the matches of a part of the text that begins with a line of this number. `back`
    /// tells where a byte of the part is in the text.
    fn take(&mut self, part: &[u8], first_line: u64, back: impl Fn(usize) -> usize) {
        let (mut found, mut words) = (take(&mut self.found), take(&mut self.words));
        find_all(&self.pattern.any, part, &mut found);
        if let Some(word) = &self.pattern.word {
            find_all(word, part, &mut words);
        }
        let (mut counted, mut line) = (0, first_line);
        let mut add = |scan: &mut Self, one: &Range<usize>, is_word: bool| {
            line += line_ends(&part[counted..one.start]);
            counted = one.start;
            // A line ending at the end of the match belongs to its last line.
            let last_line = line + line_ends(&part[one.start..one.end.max(one.start + 1) - 1]);
            let bytes = back(one.start)..back(one.end);
            scan.sort(Match { bytes, line, last_line }, is_word);
        };
        if self.pattern.word.is_none() {
            found.iter().for_each(|one| add(self, one, true));
        } else {
            // The expression may match otherwise where it must begin and end with a word: those
            // matches count, and of the others those are no words that have nothing in common with
            // them.
            let mut rest = words.iter().peekable();
            for one in &found {
                while let Some(word) =
                    rest.next_if(|word| word.end <= one.start && !meet(word, one))
                {
                    add(self, word, true);
                }
                if rest.peek().is_none_or(|word| !meet(word, one)) {
                    add(self, one, false);
                }
            }
            rest.for_each(|word| add(self, word, true));
        }
        (self.found, self.words) = (found, words);
    }

    /// Takes in one match, unless a filter leaves it out.
    fn sort(&mut self, found: Match, is_word: bool) {
        let is_in =
            |part: &Range<usize>| part.start <= found.bytes.start && found.bytes.end <= part.end;
        if self.within.is_some_and(|parts| !parts.iter().any(is_in)) {
            return;
        }
        let left = &mut self.matches.left;
        if !is_word {
            return left.not_words.push(found.line);
        }
        if self.is_excluded(&found) {
            return self.matches.left.excluded.push(found.line);
        }
        let Some(only) = self.pattern.only else { return self.matches.found.push(found) };
        let (pattern, path, text) = (self.pattern, self.path, self.text);
        let part_of = self
            .part_of
            .get_or_init(|| pattern.classify.as_ref().and_then(|classify| classify(path, text)));
        let left = &mut self.matches.left;
        match part_of.as_ref().map(|part_of| part_of(&found.bytes)) {
            Some(part) if part == only => self.matches.found.push(found),
            Some(Part::Code) => left.code.push(found.line),
            Some(Part::Comment) => left.comments.push(found.line),
            Some(Part::String) => left.strings.push(found.line),
            None => left.unknown.push(found.line),
        }
    }

    /// True if `not` matches one of the lines of a match.
    fn is_excluded(&mut self, found: &Match) -> bool {
        let Some(not) = &self.pattern.not else { return false };
        let lines = found.line..found.last_line + 1;
        if self.excluded.0 != lines {
            let text = self.text.as_bytes();
            let start = memchr::memrchr(b'\n', &text[..found.bytes.start]).map_or(0, |at| at + 1);
            // The last line is that of the last byte.
            let last = found.bytes.end.max(found.bytes.start + 1) - 1;
            let end = memchr::memchr(b'\n', &text[last..]).map_or(text.len(), |at| last + at);
            let is_excluded = self.text[start..end].split('\n').any(|line| not.is_match(line));
            self.excluded = (lines, is_excluded);
        }
        self.excluded.1
    }
}

/// Collects all matches of an expression, from the start to the end, without overlaps. To the
/// expression a text is bytes: matches that begin or end within a character are no matches.
fn find_all(matcher: &RegexMatcher, part: &[u8], found: &mut Vec<Range<usize>>) {
    found.clear();
    let is_boundary = |at: usize| part.get(at).is_none_or(|byte| byte & 0xc0 != 0x80);
    // This matcher has no errors.
    let _ = matcher.find_iter(part, |one| {
        if is_boundary(one.start()) && is_boundary(one.end()) {
            found.push(one.start()..one.end());
        }
        true
    });
}

fn line_ends(part: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', part).count() as u64
}

/// True when two matches have a byte in common; an empty match meets what it touches.
fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    match one.is_empty() || other.is_empty() {
        true => one.start <= other.end && other.start <= one.end,
        false => one.start < other.end && other.start < one.end,
    }
}
