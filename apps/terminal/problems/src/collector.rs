//! Collects the findings of the recognisers.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::inert::cut;
use crate::limits::{
    COUNTED_MAX, DETAIL_LINES, DETAIL_MAX, DIRECTORIES_MAX, FAILURES_MAX, NAMESAKES_MAX,
    PROBLEMS_MAX, TEXT_MAX,
};
use crate::model::{
    GitReport, Place, Problem, ProblemCounts, Report, Severity, TestCounts, TestFailure,
};
use crate::scan::{is_crash, stem};

/// The problem or failed test that the following lines belong to.
#[derive(Debug, Clone, Default)]
enum Open {
    #[default]
    Nothing,
    Problem(Problem),
    Failure(TestFailure),
}

/// The key by which equal problems are recognised.
type ProblemKey = (Severity, Option<String>, Option<Place>, String);

/// Collects problems and results in bounded memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Collector {
    /// The number of the current line.
    pub number: u64,
    /// The number of the previous line, if the current one shows that it reports a problem.
    pub earlier_problem: Option<u64>,
    pub tests: TestCounts,
    /// The information from git's output.
    pub git: GitReport,
    problems: Vec<Problem>,
    problem_index: HashMap<ProblemKey, usize>,
    /// Problems that were counted, but not kept, as hashes.
    counted: HashSet<u64>,
    counts: ProblemCounts,
    /// Errors and failed tests that were told, repeated ones among them.
    told: u64,
    /// The names of files with errors, without folders and extensions.
    error_stems: HashSet<String>,
    failures: Vec<TestFailure>,
    /// Failed tests by name. Two files can have a test of the same name.
    failure_index: HashMap<String, Vec<usize>>,
    failures_left_out: u64,
    open: Open,
    directories: Vec<String>,
}

impl Collector {
    /// Opens a problem: details and its place may follow until another one is opened.
    pub(crate) fn problem(
        &mut self,
        severity: Severity,
        code: Option<&str>,
        place: Option<Place>,
        message: &str,
    ) {
        self.close();
        self.open = Open::Problem(Problem {
            severity,
            code: code.map(str::to_owned),
            place: place.map(|place| self.placed(place)),
            message: cut(message.trim(), TEXT_MAX).into_owned(),
            detail: Vec::new(),
            at: self.number,
            count: 1,
        });
    }

    /// The place, with the base directory of its path if `make` reported one.
    pub(crate) fn placed(&self, mut place: Place) -> Place {
        if place.directory.is_none() && !place.file.starts_with('/') {
            place.directory = self.directories.last().cloned();
        }
        place
    }

    /// Opens a failed test.
    pub(crate) fn failure(&mut self, name: &str) {
        self.close();
        self.open = Open::Failure(TestFailure {
            name: cut(name.trim(), TEXT_MAX).into_owned(),
            place: None,
            assertion: String::new(),
            detail: Vec::new(),
            at: self.number,
        });
    }

    pub(crate) fn open_problem(&mut self) -> Option<&mut Problem> {
        if let Open::Problem(problem) = &mut self.open { Some(problem) } else { None }
    }

    pub(crate) fn open_failure(&mut self) -> Option<&mut TestFailure> {
        if let Open::Failure(failure) = &mut self.open { Some(failure) } else { None }
    }

    /// Adds a line to what is open.
    pub(crate) fn detail(&mut self, text: &str) {
        let detail = match &mut self.open {
            Open::Nothing => return,
            Open::Problem(problem) => &mut problem.detail,
            Open::Failure(failure) => &mut failure.detail,
        };
        let text = text.trim_end();
        if detail.len() < DETAIL_LINES && !(text.trim().is_empty() && detail.is_empty()) {
            detail.push(cut(text, DETAIL_MAX).into_owned());
        }
    }

    /// Leaves out lines of detail behind the first ones until there are no more than so many of
    /// them, the oldest first.
    pub(crate) fn shorten_detail(&mut self, first: usize, most: usize) {
        let Open::Problem(problem) = &mut self.open else { return };
        while problem.detail.len() > most.max(first) {
            problem.detail.remove(first);
        }
    }

    /// Whether the newest problem reports that a process crashed.
    pub(crate) fn is_crash_told(&self) -> bool {
        self.problems.last().is_some_and(|problem| is_crash(&problem.message))
    }

    /// `make` works in this directory until it leaves it.
    pub(crate) fn enter(&mut self, directory: &str) {
        if self.directories.len() < DIRECTORIES_MAX {
            self.directories.push(directory.to_owned());
        }
    }

    /// `make` has left this directory.
    pub(crate) fn leave(&mut self, directory: &str) {
        if let Some(depth) = self.directories.iter().rposition(|entered| entered == directory) {
            self.directories.truncate(depth);
        }
    }

    /// Whether an error or a failed test was found.
    pub(crate) fn has_errors(&self) -> bool {
        self.counts.errors > 0
            || !self.failures.is_empty()
            || matches!(&self.open, Open::Failure(_))
            || matches!(&self.open, Open::Problem(problem) if problem.severity == Severity::Error)
    }

    /// Whether an error or a failed test was told since `mark` was set by this call, which sets it
    /// again.
    pub(crate) fn told_since(&self, mark: &mut u64) -> bool {
        std::mem::replace(mark, self.told) < self.told
    }

    /// The number of reported errors and failed tests, for [`Self::told_since`].
    pub(crate) fn told(&self) -> u64 {
        self.told
    }

    /// Whether a file of this name, without folders and extensions, has an error.
    pub(crate) fn has_error_in(&self, stem: &str) -> bool {
        self.error_stems.contains(stem)
    }

    pub(crate) fn has_failure(&self, name: &str) -> bool {
        self.failure_index.contains_key(name)
    }

    /// Gives the first failed test of this name that has none a place: the name is its own, without
    /// those around it.
    pub(crate) fn add_place(&mut self, name: &str, place: Place) {
        self.close();
        let is_it = |failure: &&mut TestFailure| {
            failure.place.is_none()
                && failure
                    .name
                    .strip_suffix(name)
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with(" > "))
        };
        if let Some(failure) = self.failures.iter_mut().find(is_it) {
            failure.place = Some(place);
        }
    }

    /// Gives a failed test the name by which its runner selects it. Returns false when there is
    /// none of the first name.
    pub(crate) fn rename_failure(&mut self, name: &str, id: &str) -> bool {
        let Some(indices) = self.failure_index.get_mut(name) else { return false };
        let index = indices.remove(0);
        if indices.is_empty() {
            self.failure_index.remove(name);
        }
        id.clone_into(&mut self.failures[index].name);
        self.failure_index.entry(id.to_owned()).or_default().push(index);
        true
    }

    /// Forgets what is open: it was no more than the heading of what follows.
    pub(crate) fn discard(&mut self) {
        self.open = Open::Nothing;
    }

    /// Closes the open problem or failed test.
    pub(crate) fn close(&mut self) {
        match std::mem::take(&mut self.open) {
            Open::Nothing => {}
            Open::Problem(problem) => self.keep_problem(problem),
            Open::Failure(failure) => self.keep_failure(failure),
        }
    }

    pub(crate) fn finish(mut self) -> Report {
        self.close();
        Report {
            problems: self.problems,
            counts: self.counts,
            failures: self.failures,
            failures_left_out: self.failures_left_out,
            tests: self.tests,
            git: self.git,
            ..Report::default()
        }
    }

    fn keep_problem(&mut self, mut problem: Problem) {
        trim(&mut problem.detail);
        if problem.message.is_empty() {
            let said = problem.code.clone().unwrap_or_else(|| "no message".to_owned());
            problem.message = problem.detail.first().map_or(said, |line| line.trim().to_owned());
        }
        if problem.severity == Severity::Error {
            self.told += 1;
            if let Some(place) =
                problem.place.as_ref().filter(|_| self.error_stems.len() < PROBLEMS_MAX)
            {
                self.error_stems.insert(stem(&place.file).to_owned());
            }
        }
        let key = (
            problem.severity,
            problem.code.clone(),
            problem.place.clone(),
            problem.message.clone(),
        );
        if let Some(&index) = self.problem_index.get(&key) {
            self.problems[index].count += 1;
            return;
        }
        // Errors and all else have room apart: a thousand warnings must not cost an error.
        let is_error = problem.severity == Severity::Error;
        let alike = |kept: &&Problem| (kept.severity == Severity::Error) == is_error;
        let has_room = self.problems.len() < PROBLEMS_MAX
            || self.problems.iter().filter(alike).count() < PROBLEMS_MAX;
        if !has_room && self.counted.len() < COUNTED_MAX {
            let mut hasher = DefaultHasher::new();
            key.hash(&mut hasher);
            if !self.counted.insert(hasher.finish()) {
                return;
            }
        }
        match problem.severity {
            Severity::Error => self.counts.errors += 1,
            Severity::Warning => self.counts.warnings += 1,
            Severity::Note => self.counts.notes += 1,
        }
        if has_room {
            self.problem_index.insert(key, self.problems.len());
            self.problems.push(problem);
        }
    }

    fn keep_failure(&mut self, mut failure: TestFailure) {
        trim(&mut failure.detail);
        self.told += 1;
        let is_empty =
            |failure: &TestFailure| failure.assertion.is_empty() && failure.detail.is_empty();
        for &index in
            self.failure_index.get(&failure.name).into_iter().flatten().take(NAMESAKES_MAX)
        {
            let kept = &mut self.failures[index];
            if is_empty(kept) {
                *kept = TestFailure { at: kept.at, ..failure };
                return;
            }
            // Summaries name a failed test again, with no more.
            if is_empty(&failure)
                || (kept.place == failure.place && kept.assertion == failure.assertion)
            {
                return;
            }
        }
        if self.failures.len() < FAILURES_MAX {
            let index = self.failures.len();
            self.failure_index.entry(failure.name.clone()).or_default().push(index);
            self.failures.push(failure);
        } else {
            self.failures_left_out += 1;
        }
    }
}

fn trim(detail: &mut Vec<String>) {
    while detail.last().is_some_and(|line| line.trim().is_empty()) {
        detail.pop();
    }
}
