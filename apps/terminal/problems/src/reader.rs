//! Reads an output as it comes.

use crate::collector::Collector;
use crate::limits::TEXT_MAX;
use crate::lines::{Line, LineSplitter};
use crate::model::Report;
use crate::recognise::{Expected, Recognisers};
use crate::transcript::Transcript;

/// Reads the output of one command in chunks.
///
/// ```
/// let mut reader = pipemux_problems::OutputReader::new();
/// reader.feed(b"src/a.c:3:5: error: 'x' undec");
/// reader.feed(b"lared\n");
/// let report = reader.finish();
/// assert_eq!(report.problems[0].message, "'x' undeclared");
/// assert_eq!(report.problems[0].place.as_ref().unwrap().to_string(), "src/a.c:3:5");
/// ```
#[derive(Debug, Clone)]
pub struct OutputReader {
    lines: LineSplitter,
    reading: Reading,
}

#[derive(Debug, Clone)]
struct Reading {
    recognisers: Recognisers,
    found: Collector,
    transcript: Transcript,
}

impl Default for OutputReader {
    fn default() -> Self {
        Self::new()
    }
}

impl OutputReader {
    /// Creates a reader that hasn't read any output yet.
    #[must_use]
    pub fn new() -> Self {
        Self::expecting(Expected::default())
    }

    fn expecting(expected: Expected) -> Self {
        let recognisers = Recognisers::new(expected);
        let (found, transcript) = (Collector::default(), Transcript::default());
        let reading = Reading { recognisers, found, transcript };
        Self { lines: LineSplitter::default(), reading }
    }

    /// A reader of what a command prints, if its words tell more than its output does: `git status
    /// --short`.
    #[must_use]
    pub fn of_command(words: &[String]) -> Self {
        let is_git = words.first().is_some_and(|program| program == "git");
        let has = |wanted: &str| is_git && words.iter().any(|word| word == wanted);
        let short = |word: &String| {
            let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            matches!(&**word, "--short" | "--porcelain" | "--porcelain=v1" | "--porcelain=1")
                || letters.is_some_and(|letters| letters.contains('s'))
        };
        Self::expecting(Expected {
            short_status: has("status") && words.iter().any(short),
            oneline_log: has("log") && has("--oneline"),
        })
    }

    /// Reads the next bytes, however they are cut.
    pub fn feed(&mut self, bytes: &[u8]) {
        let reading = &mut self.reading;
        self.lines.feed(bytes, &mut |line| reading.line(line));
    }

    /// Returns the report on the whole output.
    #[must_use]
    pub fn finish(mut self) -> Report {
        let reading = &mut self.reading;
        self.lines.finish(&mut |line| reading.line(line));
        let Reading { mut recognisers, mut found, transcript } = self.reading;
        recognisers.end(&mut found);
        let report = found.finish();
        Report {
            transcript: transcript.finish(),
            lines: self.lines.lines,
            bytes: self.lines.bytes,
            ..report
        }
    }

    /// The report so far, while the command still runs. Costs a copy of what is kept.
    #[must_use]
    pub fn so_far(&self) -> Report {
        self.clone().finish()
    }
}

impl Reading {
    fn line(&mut self, line: Line<'_>) {
        self.found.number = line.number;
        // Only messages in JSON need more of a line than is shown of it.
        let text = match line.text.as_bytes().first() {
            Some(b'{' | b'[') => line.text,
            _ => &line.text[..line.text.floor_char_boundary(TEXT_MAX)],
        };
        let class = self.recognisers.line(text.trim_end(), &mut self.found);
        if let Some(number) = self.found.earlier_problem.take() {
            self.transcript.mark_problem(number);
        }
        self.transcript.push(line, class);
    }
}
