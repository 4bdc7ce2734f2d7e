//! Writes outcomes, questions and refusals as text.

use std::fmt::Write as _;
use std::path::Path;

use crate::limits::{COLUMNS_MAX, FILES_TOLD, PROBLEMS_TOLD, RANGES_TOLD};
use crate::matching::Tolerance;
use crate::nearest::{Difference, Nearest};
use crate::plan::{FileChange, HunkOutcome, HunkState, Plan, Problem, ProblemKind};

/// A function that returns the display form of a path.
pub type Names<'n> = &'n dyn Fn(&Path) -> String;

impl Plan {
    /// Returns true if the patch changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|file| !file.changes())
    }

    /// Returns one line: `2 files, 3 hunks: src/a.rs 10-14, 40 · new src/c.rs 12 lines`.
    #[must_use]
    pub fn summary(&self, names: Names<'_>) -> String {
        // A file that was renamed is told once, under its new name.
        let files: Vec<_> = self.files.iter().filter(|file| !file.moved_away).collect();
        let hunks: usize = files.iter().map(|file| file.hunks.len()).sum();
        let told = files.iter().take(FILES_TOLD);
        let mut parts: Vec<_> = told.map(|file| file.summary(names)).collect();
        let more = files.len().saturating_sub(FILES_TOLD);
        if more > 0 {
            parts.push(format!("and {}", count(more, "more file")));
        }
        let body = parts.join(" · ");
        if let ([_], 0 | 1) = (&files[..], hunks) {
            return body;
        }
        let mut counts = count(files.len(), "file");
        if hunks > 0 {
            let _ = write!(counts, ", {}", count(hunks, "hunk"));
        }
        format!("{counts}: {body}")
    }
}

impl FileChange {
    /// Returns true if anything of the file changes.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.text.is_none()
            || self.from.is_some()
            || !self.existed
            || self.rewritten
            || self.executable.is_some()
            || !self.splices.is_empty()
    }

    fn summary(&self, names: Names<'_>) -> String {
        let name = names(&self.path);
        let link = |is: bool| if is { "link " } else { "" };
        let Some(text) = &self.text else {
            return format!("deleted {}{name}", link(self.was_link));
        };
        let mut line = match &self.from {
            None if self.link && !(self.existed && self.was_link) => {
                format!("new link {name} to {}", cut(text))
            }
            None if self.was_link && !self.link => {
                format!("{name}: no link any more, {}", count(text.lines().count(), "line"))
            }
            _ if self.link && !self.hunks.is_empty() => format!("link {name} to {}", cut(text)),
            Some(from) if self.copied => format!("{name} copied from {}", names(from)),
            Some(from) => format!("{} renamed to {name}", names(from)),
            None if !self.existed => format!("new {name}, {}", count(text.lines().count(), "line")),
            None => name,
        };
        match self.executable {
            Some(true) => line.push_str(", executable"),
            // A new file is none unless it is said.
            Some(false) if self.existed => line.push_str(", not executable"),
            _ => {}
        }
        if self.rewritten && self.was_link == self.link {
            line.push_str(" rewritten");
        }
        let ranges: Vec<_> = self.hunks.iter().map(range).collect();
        // What holds for all hunks is said once.
        let words: Vec<_> = self.hunks.iter().map(|hunk| word(hunk.state)).collect();
        let same = words.iter().all(|word| *word == words[0]);
        for (number, (range, word)) in ranges.iter().zip(&words).enumerate() {
            if number == RANGES_TOLD {
                let _ = write!(line, " and {} more", ranges.len() - number);
                break;
            }
            line.push_str(if number == 0 { " " } else { ", " });
            line.push_str(range);
            let last = number + 1 == ranges.len().min(RANGES_TOLD);
            if !word.is_empty() && (!same || last) {
                let _ = write!(line, " ({word})");
            }
        }
        line
    }
}

fn range(hunk: &HunkOutcome) -> String {
    match hunk.lines {
        0 if hunk.removed > 0 => format!("{} (-{})", hunk.first, count(hunk.removed, "line")),
        0 | 1 => hunk.first.to_string(),
        lines => format!("{}-{}", hunk.first, hunk.first + lines - 1),
    }
}

fn word(state: HunkState) -> &'static str {
    match state {
        HunkState::Applied(Tolerance::Exact) => "",
        HunkState::Applied(Tolerance::TrailingSpace) => "trailing whitespace differed",
        HunkState::Applied(Tolerance::Indentation) => "indentation differed, new lines shifted",
        HunkState::Already => "applied before",
        HunkState::LeftOut => "left out",
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Returns the problems of a refusal as text, each with one or a few lines.
#[must_use]
pub fn problems(problems: &[Problem], names: Names<'_>) -> String {
    let mut text = String::new();
    for problem in problems.iter().take(PROBLEMS_TOLD) {
        if !text.is_empty() {
            text.push('\n');
        }
        describe(&mut text, problem, &names(&problem.path));
    }
    if let Some(more) = problems.len().checked_sub(PROBLEMS_TOLD + 1) {
        let _ = write!(text, "\nand {} more", more + 1);
    }
    text
}

fn describe(text: &mut String, problem: &Problem, name: &str) {
    let at = problem.at;
    let _ = match &problem.kind {
        ProblemKind::Outside => write!(text, "{name}: outside of the project"),
        ProblemKind::InvalidName => write!(text, "patch line {at}: not a file name: {name:?}"),
        ProblemKind::Missing => write!(text, "{name}: no such file"),
        ProblemKind::Exists(lines) => {
            write!(text, "{name}: exists already ({})", count(*lines, "line"))
        }
        ProblemKind::Unreadable(reason) => write!(text, "{name}: {reason}"),
        ProblemKind::NoContext => write!(
            text,
            "{name}: the hunk at patch line {at} has no line that says where it goes; add context lines"
        ),
        ProblemKind::Overlap => {
            write!(text, "{name}: the hunk at patch line {at} changes what another hunk changes")
        }
        ProblemKind::TooMany => write!(
            text,
            "{name}: the hunk at patch line {at} fits in too many places; add context lines"
        ),
        ProblemKind::DeletesOther => {
            write!(text, "{name}: the file isn't what the patch deletes")
        }
        ProblemKind::IsLink(target) => {
            write!(text, "{name}: is a link to {}; name the file that it leads to", cut(target))
        }
        ProblemKind::NoLink => write!(text, "{name}: is no link, but the patch is about one"),
        ProblemKind::TooMuchWork => {
            write!(text, "{name}: finding the places takes too long; split the patch")
        }
        ProblemKind::Nowhere(nearest) => {
            let _ = write!(text, "{name}: the hunk at patch line {at} fits nowhere");
            if let Some(nearest) = nearest {
                describe_nearest(text, nearest);
            }
            Ok(())
        }
    };
}

fn describe_nearest(text: &mut String, nearest: &Nearest) {
    let _ = match nearest.last - nearest.first {
        0 => write!(text, "; nearest is line {}:", nearest.first),
        _ => write!(text, "; nearest are lines {}-{}:", nearest.first, nearest.last),
    };
    for Difference { line, file, patch } in &nearest.differences {
        let (file, patch) = (file.as_deref().map(str::trim_end), patch.as_str());
        match file {
            Some(file) => {
                let (file, patch) = visible(file, patch);
                let _ = write!(text, "\n{line}\t{file}\npatch\t{patch}");
            }
            None => {
                let _ = write!(text, "\n{line}\t(past the end)\npatch\t{}", cut(patch));
            }
        }
    }
    if let Some(more) =
        nearest.differ.checked_sub(nearest.differences.len()).filter(|more| *more > 0)
    {
        let _ = write!(text, "\nand {more} more differ");
    }
}

/// Two lines that differ, with whitespace made visible where only that differs.
fn visible(file: &str, patch: &str) -> (String, String) {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    if bare(file) == bare(patch) {
        return (format!("{:?}", cut(file)), format!("{:?}", cut(patch)));
    }
    (cut(file), cut(patch))
}

/// Returns a line cut to at most `COLUMNS_MAX` characters.
#[must_use]
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(COLUMNS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
