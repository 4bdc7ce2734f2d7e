//! Lines that may have a match.

use std::io::{self, Read};
use std::ops::Range;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};

/// Finds the lines of texts that may have a match. It is made once a thread, since it keeps a
/// buffer.
pub(crate) struct CandidateLines {
    in_memory: Searcher,
    /// Stops at a NUL byte.
    in_file: Searcher,
}

/// What a line with a match has in any case.
#[derive(Clone, Copy)]
pub(crate) struct Candidates<'p> {
    pub matcher: &'p RegexMatcher,
    /// True when a line's `\r` may keep the expression from matching it.
    pub line_ends: bool,
}

/// The result of a first scan of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstLook {
    /// There may be a match in the file.
    Candidate,
    /// There is no match in the file.
    Nothing,
    /// There is a NUL byte before the first match.
    Binary,
}

impl Default for CandidateLines {
    fn default() -> Self {
        let searcher = |binary| {
            let mut builder = SearcherBuilder::new();
            builder.line_number(true).bom_sniffing(false).binary_detection(binary).build()
        };
        Self {
            in_memory: searcher(BinaryDetection::none()),
            in_file: searcher(BinaryDetection::quit(0)),
        }
    }
}

impl CandidateLines {
    /// Calls `take` with the number of each such line and its bytes without the line's ending,
    /// until it returns false.
    pub(crate) fn each(
        &mut self,
        wanted: Candidates<'_>,
        text: &[u8],
        mut take: impl FnMut(u64, Range<usize>) -> bool,
    ) {
        if wanted.line_ends && memchr::memchr(b'\r', text).is_some() {
            return each_line(wanted.matcher, text, take);
        }
        let mut sink = MatchSink(|found: &SinkMatch<'_>| {
            let start = usize::try_from(found.absolute_byte_offset()).unwrap_or(usize::MAX);
            take(found.line_number().unwrap_or(0), start..start + body(found.bytes()).len())
        });
        // Neither the slice nor the sink has errors.
        let _ = self.in_memory.search_slice(wanted.matcher, text, &mut sink);
    }

    /// Reads a file up to its first candidate.
    ///
    /// # Errors
    /// It can't be read.
    pub(crate) fn first_look(
        &mut self,
        wanted: Candidates<'_>,
        file: impl Read,
    ) -> io::Result<FirstLook> {
        let mut sink = First(FirstLook::Nothing);
        self.in_file.search_reader(wanted.matcher, file, &mut sink)?;
        Ok(sink.0)
    }
}

/// Returns a line without its ending.
fn body(line: &[u8]) -> &[u8] {
    match line.strip_suffix(b"\n") {
        Some(body) => body.strip_suffix(b"\r").unwrap_or(body),
        None => line,
    }
}

/// Looks at one line after the other: to the expression, the `\r` of a line's ending would be text.
fn each_line(matcher: &RegexMatcher, text: &[u8], mut take: impl FnMut(u64, Range<usize>) -> bool) {
    let (mut start, mut line) = (0, 1);
    while start < text.len() {
        let next = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at + 1);
        let bytes = body(&text[start..next]);
        let is_match = matcher.is_match(bytes).unwrap_or(false);
        if is_match && !take(line, start..start + bytes.len()) {
            return;
        }
        (start, line) = (next, line + 1);
    }
}

struct MatchSink<F>(F);

impl<F: FnMut(&SinkMatch<'_>) -> bool> Sink for MatchSink<F> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        Ok((self.0)(found))
    }
}

/// Stops at the first match.
struct First(FirstLook);

impl Sink for First {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.0 = FirstLook::Candidate;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        if self.0 == FirstLook::Nothing && finish.binary_byte_offset().is_some() {
            self.0 = FirstLook::Binary;
        }
        Ok(())
    }
}
