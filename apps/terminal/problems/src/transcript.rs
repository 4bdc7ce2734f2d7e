//! The output as it is shown: similar lines folded, the middle left out, problems never.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::inert::cut;
use crate::limits::{FOLD_HEAD, FOLD_WORDS, HEAD_LINES, PROBLEM_LINES, TAIL_LINES, TEXT_MAX};
use crate::lines::Line;

/// The class of a line, as determined by the recognisers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// The line reports a problem or a failed test.
    Problem,
    /// The line belongs to a problem or a failed test.
    Detail,
    /// The line reports a passing test or a step of a build.
    Progress,
    /// Nobody knows it, but it looks like an error.
    Suspect,
    /// Anything else.
    Plain,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A line that is shown.
    Line {
        /// The line's number, counted from 1.
        number: u64,
        /// The line's text, inert and at most [`TEXT_MAX`] bytes long.
        text: String,
        /// Whether the line reports a problem or a failed test.
        problem: bool,
        /// Whether it belongs to a problem or a failed test, so that it is shown with that one,
        /// too.
        detail: bool,
        /// Whether the line reports a passing test or a step of a build.
        progress: bool,
        /// Whether the line looks like an error in an unknown format.
        suspect: bool,
    },
    /// Lines that are much like those around them.
    Similar {
        /// The number of the first line.
        first: u64,
        /// The number of lines.
        count: u64,
        /// Whether all of the lines were recognised.
        known: bool,
    },
    /// Lines in the middle of a long output.
    LeftOut {
        /// The number of the first line.
        first: u64,
        /// The number of lines.
        count: u64,
    },
}

impl Entry {
    fn count(&self) -> u64 {
        match self {
            Self::Line { .. } => 1,
            Self::Similar { count, .. } | Self::LeftOut { count, .. } => *count,
        }
    }

    fn first(&self) -> u64 {
        match self {
            Self::Line { number, .. } => *number,
            Self::Similar { first, .. } | Self::LeftOut { first, .. } => *first,
        }
    }
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line { text, .. } => f.write_str(text),
            Self::Similar { count: 1, .. } => f.write_str("… 1 similar line"),
            Self::Similar { count, .. } => write!(f, "… {count} similar lines"),
            Self::LeftOut { count: 1, .. } => f.write_str("… 1 line left out"),
            Self::LeftOut { count, .. } => write!(f, "… {count} lines left out"),
        }
    }
}

/// Lines in a row that are alike.
#[derive(Debug, Clone)]
struct Run {
    words: Vec<u64>,
    class: Class,
    shown: usize,
    /// The first hidden line. One alone is shown, since the fold would be no shorter.
    first: Option<Entry>,
    folded: u64,
    /// The newest line, which is shown below the fold.
    last: Option<Entry>,
}

/// Builds a transcript in bounded memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcript {
    head: Vec<Entry>,
    middle: Vec<Entry>,
    middle_problems: usize,
    tail: VecDeque<Entry>,
    run: Option<Run>,
}

impl Transcript {
    pub(crate) fn push(&mut self, line: Line<'_>, class: Class) {
        let problem = class == Class::Problem;
        let suspect = class == Class::Suspect;
        // What was overwritten is no line of its own: it is shown only when it would be missed.
        if !line.stays && !problem && !suspect {
            return;
        }
        let text = cut(line.text, TEXT_MAX).into_owned();
        let detail = class == Class::Detail;
        let progress = class == Class::Progress;
        let entry = Entry::Line { number: line.number, text, problem, detail, progress, suspect };
        if problem || suspect {
            self.end_run();
            return self.keep(entry);
        }
        let words = words(line.text);
        if let Some(run) = &mut self.run
            && run.class == class
            && similar(&run.words, &words)
        {
            if run.shown < FOLD_HEAD {
                run.shown += 1;
                return self.keep(entry);
            }
            if let Some(folded) = run.last.replace(entry) {
                run.first.get_or_insert(folded);
                run.folded += 1;
            }
            return;
        }
        self.end_run();
        self.run = Some(Run { words, class, shown: 1, first: None, folded: 0, last: None });
        self.keep(entry);
    }

    /// Marks the newest line as reporting a problem, if it has this number.
    pub(crate) fn mark_problem(&mut self, number: u64) {
        let newest = self.tail.back_mut().or(self.head.last_mut());
        if let Some(Entry::Line { number: of, problem, suspect, .. }) = newest
            && *of == number
        {
            (*problem, *suspect) = (true, false);
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Entry> {
        self.end_run();
        let mut entries = self.head;
        entries.append(&mut self.middle);
        entries.extend(self.tail);
        entries
    }

    fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        match run.first {
            Some(first) if run.folded == 1 => self.keep(first),
            Some(first) => {
                let known = run.class != Class::Plain;
                self.keep(Entry::Similar { first: first.first(), count: run.folded, known });
            }
            None => {}
        }
        if let Some(last) = run.last {
            self.keep(last);
        }
    }

    fn keep(&mut self, entry: Entry) {
        if self.head.len() < HEAD_LINES {
            return self.head.push(entry);
        }
        self.tail.push_back(entry);
        if self.tail.len() <= TAIL_LINES {
            return;
        }
        let Some(oldest) = self.tail.pop_front() else { return };
        if matches!(oldest, Entry::Line { problem: true, .. } | Entry::Line { suspect: true, .. })
            && self.middle_problems < PROBLEM_LINES
        {
            self.middle_problems += 1;
            return self.middle.push(oldest);
        }
        if let Some(Entry::LeftOut { count, .. }) = self.middle.last_mut() {
            *count += oldest.count();
        } else {
            self.middle.push(Entry::LeftOut { first: oldest.first(), count: oldest.count() });
        }
    }
}

/// The hashes of a line's words, where each number counts as one digit.
fn words(text: &str) -> Vec<u64> {
    let text = &text[..text.floor_char_boundary(TEXT_MAX)];
    text.split_whitespace().take(FOLD_WORDS).map(mask).collect()
}

fn mask(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut before = '\0';
    for c in word.chars() {
        let masked = match c {
            '0'..='9' => '0',
            // The dots of which spinners are made.
            '\u{2800}'..='\u{28ff}' => '⠿',
            c => c,
        };
        // Numbers and bars differ by their length, too.
        let repeats = masked == before && matches!(masked, '0' | '#' | '=' | '.' | '-' | '━' | '█');
        if !repeats {
            masked.hash(&mut hasher);
        }
        before = masked;
    }
    hasher.finish()
}

/// Whether two lines differ in their particulars only: they begin alike and have at least half of
/// their words in common.
fn similar(a: &[u64], b: &[u64]) -> bool {
    if a.len() != b.len() || a.first() != b.first() {
        return false;
    }
    let same = a.iter().zip(b).filter(|(a, b)| a == b).count();
    2 * same >= a.len()
}
