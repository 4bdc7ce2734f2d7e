//! Compares two runs of the same command: what the second fixed and broke.

use std::collections::{BTreeSet, HashMap};

use crate::model::{Problem, Report, Severity, TestFailure};

/// Two runs of the same command, compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Problems of the first run that the second one doesn't have.
    pub fixed: Vec<Problem>,
    /// Problems of the second run that the first one didn't have.
    pub new: Vec<Problem>,
    /// Problems of both, as the second run tells them.
    pub still: Vec<Problem>,
    /// Tests that failed in the first run only.
    pub fixed_tests: Vec<TestFailure>,
    /// Tests that fail in the second run only.
    pub new_tests: Vec<TestFailure>,
    /// Tests that fail in both, as the second run tells them.
    pub still_failing: Vec<TestFailure>,
}

/// What tells a problem from others while lines move: everything but its line and column, and not
/// the numbers in its message.
type ProblemKey<'p> = (Severity, Option<&'p str>, Option<&'p str>, Option<&'p str>, String);

impl Comparison {
    /// Compares two runs. Problems that are alike but for their places are paired in their order.
    #[must_use]
    pub fn of(before: &Report, after: &Report) -> Self {
        let (fixed, new, still) = pair(&before.problems, &after.problems, problem_key);
        let (fixed_tests, new_tests, still_failing) =
            pair(&before.failures, &after.failures, |failure| failure.name.clone());
        Self { fixed, new, still, fixed_tests, new_tests, still_failing }
    }

    /// Which problems and which failed tests of the second run the first one had, too, by their
    /// indices.
    #[must_use]
    pub fn known(before: &Report, after: &Report) -> (BTreeSet<usize>, BTreeSet<usize>) {
        let (_, _, problems) = paired(&before.problems, &after.problems, problem_key);
        let (_, _, failures) =
            paired(&before.failures, &after.failures, |failure| failure.name.clone());
        (problems.into_iter().collect(), failures.into_iter().collect())
    }

    /// One line, without tests or problems that there are none of: `2 fixed, 1 new, 3 still there`.
    #[must_use]
    pub fn summary(&self) -> String {
        let counts = [
            (self.fixed.len() + self.fixed_tests.len(), "fixed"),
            (self.new.len() + self.new_tests.len(), "new"),
            (self.still.len() + self.still_failing.len(), "still there"),
        ];
        let parts: Vec<_> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        parts.join(", ")
    }
}

fn problem_key(problem: &Problem) -> ProblemKey<'_> {
    let place = problem.place.as_ref();
    let message = problem.message.chars().map(|c| if c.is_ascii_digit() { '0' } else { c });
    (
        problem.severity,
        problem.code.as_deref(),
        place.and_then(|place| place.directory.as_deref()),
        place.map(|place| &*place.file),
        message.collect(),
    )
}

/// The items only in the first list, only in the second one, and in both.
fn pair<'i, T: Clone, K: std::hash::Hash + Eq>(
    before: &'i [T],
    after: &'i [T],
    key: impl Fn(&'i T) -> K,
) -> (Vec<T>, Vec<T>, Vec<T>) {
    let (fixed, new, still) = paired(before, after, key);
    let of =
        |items: &[T], indices: Vec<usize>| indices.into_iter().map(|i| items[i].clone()).collect();
    (of(before, fixed), of(after, new), of(after, still))
}

/// As `pair`, by indices: the first into the first list, the others into the second.
fn paired<'i, T, K: std::hash::Hash + Eq>(
    before: &'i [T],
    after: &'i [T],
    key: impl Fn(&'i T) -> K,
) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
    let mut left: HashMap<K, u64> = HashMap::new();
    for item in before {
        *left.entry(key(item)).or_default() += 1;
    }
    let (mut new, mut still) = (Vec::new(), Vec::new());
    for (index, item) in after.iter().enumerate() {
        match left.get_mut(&key(item)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                still.push(index);
            }
            _ => new.push(index),
        }
    }
    // The last ones of those that are alike are what is gone.
    let mut fixed: Vec<usize> = Vec::new();
    for (index, item) in before.iter().enumerate().rev() {
        if let Some(count) = left.get_mut(&key(item)).filter(|count| **count > 0) {
            *count -= 1;
            fixed.push(index);
        }
    }
    fixed.reverse();
    (fixed, new, still)
}
