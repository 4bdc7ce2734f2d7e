//! Maps line numbers across versions: finds the current line for a number that a reader saw
//! earlier.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::limits::LINE_LOG_MAX;

use super::line_change::{LineChange, Unmapped};

/// The reference point of a caller's line numbers: the version seen plus the run's changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Baseline<'a> {
    /// The version that the reader last saw; 0 if the reader saw none of this process.
    pub version: u64,
    /// True when the reader last saw an earlier process of the session.
    pub from_earlier_process: bool,
    pub run: &'a str,
}

/// The history of a file's line numbers, bounded by [`LINE_LOG_MAX`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LineLog {
    entries: VecDeque<LineLogEntry>,
    weight: usize,
    /// The version since which every change has an entry.
    floor: u64,
    /// True when there were changes before `floor`.
    truncated: bool,
    /// True when readers of earlier processes saw exactly the lines that the log began with.
    trusted: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct LineLogEntry {
    version: u64,
    run: String,
    change: LineChange,
}

/// Lines as they were, and the first of them now.
pub type Survivor = (Range<usize>, usize);

impl LineLog {
    /// Returns the log of a file that nobody saw before a version.
    pub fn new(version: u64) -> Self {
        Self { floor: version, ..Self::default() }
    }

    /// Returns the log of a file that readers may have seen with other lines before a version.
    pub fn with_unknown_past(version: u64) -> Self {
        Self { floor: version, truncated: true, ..Self::default() }
    }

    /// Records that readers of earlier processes saw exactly the lines that the log begins with.
    /// Does nothing if the lines may have changed.
    pub fn trust_earlier_numbers(&mut self) {
        self.trusted = !self.truncated && self.entries.is_empty();
    }

    /// Records a change by a run; `version` is the one after the change.
    pub fn record(&mut self, version: u64, run: &str, change: LineChange) {
        self.weight += change.weight();
        self.entries.push_back(LineLogEntry { version, run: run.into(), change });
        while self.weight > LINE_LOG_MAX
            && let Some(oldest) = self.entries.pop_front()
        {
            self.weight -= oldest.change.weight();
            (self.floor, self.truncated) = (oldest.version, true);
        }
    }

    /// Returns where the lines of a range, which must not be empty, are now.
    ///
    /// # Errors
    /// The lines are gone, or they are not the ones that the reader saw.
    pub fn map_range(
        &self,
        lines: Range<usize>,
        baseline: Baseline<'_>,
    ) -> Result<Range<usize>, Unmapped> {
        let since = self.entries_since(baseline)?;
        let mut lines = lines;
        for (index, entry) in since.clone().enumerate() {
            let same_run = entry.run == baseline.run;
            lines = entry.change.map_range(lines, same_run).map_err(|unmapped| {
                let now = |range: Range<usize>| nearest_range(since.clone().skip(index + 1), range);
                match unmapped {
                    Unmapped::ChangedByOther(range) => Unmapped::ChangedByOther(now(range)),
                    Unmapped::ReplacedByRun(range) => Unmapped::ReplacedByRun(now(range)),
                    other => other,
                }
            })?;
        }
        Ok(lines)
    }

    /// Returns where a line is now, or what is in its place. A number whose version isn't known is
    /// taken as it is.
    pub fn nearest_line(&self, line: usize, baseline: Baseline<'_>) -> usize {
        match self.entries_since(baseline) {
            Ok(since) => since.fold(line, |line, entry| entry.change.nearest_line(line)),
            Err(_) => line,
        }
    }

    /// Returns the growth in lines since a version; `None` if that is unknown.
    pub fn growth_since(&self, baseline: Baseline<'_>) -> Option<isize> {
        Some(self.entries_since(baseline).ok()?.map(|entry| entry.change.growth()).sum())
    }

    /// Returns what is left of lines: for each piece that is still the same, its lines then, and
    /// the first of them now. At most `max` pieces; the flag is false if there are more.
    ///
    /// # Errors
    /// The lines of that version aren't known.
    pub fn survivors(
        &self,
        lines: Range<usize>,
        baseline: Baseline<'_>,
        until: u64,
        max: usize,
    ) -> Result<(Vec<Survivor>, bool), Unmapped> {
        let since = self.entries_since(baseline)?.take_while(|entry| entry.version <= until);
        let mut pieces = vec![(lines.start, lines)];
        let mut complete = true;
        for entry in since {
            pieces = entry.change.survivors(&pieces, entry.run == baseline.run);
            complete &= pieces.len() <= max;
            pieces.truncate(max);
        }
        Ok((pieces.into_iter().map(|(now, lines)| (lines, now)).collect(), complete))
    }

    /// Returns the version of the present text, or of the text before a run's own changes.
    pub fn version_before(&self, run: &str) -> u64 {
        let own = self.entries.iter().find(|entry| !run.is_empty() && entry.run == run);
        match own.or(self.entries.back()) {
            Some(entry) => entry.version - u64::from(own.is_some()),
            None => self.floor,
        }
    }

    /// Returns how many changes of the file's lines came up to a version: readers of versions with
    /// equal counts saw the same lines. `None` if that isn't known.
    pub fn changes_until(&self, baseline: Baseline<'_>) -> Option<usize> {
        Some(self.entries.len() - self.entries_since(baseline).ok()?.count())
    }

    /// True when the run has changed the file up to a version.
    pub fn has_change_by(&self, run: &str, until: u64) -> bool {
        self.entries.iter().rev().any(|entry| entry.run == run && entry.version <= until)
    }

    /// True when the file's lines changed in a version.
    pub fn changed_in(&self, version: u64) -> bool {
        self.entries.back().is_some_and(|entry| entry.version == version)
    }

    fn entries_since(
        &self,
        baseline: Baseline<'_>,
    ) -> Result<impl Iterator<Item = &LineLogEntry> + Clone + use<'_>, Unmapped> {
        let version = if baseline.from_earlier_process { 0 } else { baseline.version };
        let unknown = match version {
            0 => {
                self.truncated
                    || (baseline.from_earlier_process && !self.trusted)
                    || self.entries.iter().any(|entry| entry.run != baseline.run)
            }
            _ => self.truncated && version < self.floor,
        };
        if unknown {
            return Err(Unmapped::UnknownVersion);
        }
        // Versions only grow, so the older entries are skipped by a binary search.
        let first = self.entries.partition_point(|entry| entry.version <= version);
        Ok(self.entries.range(first..))
    }
}

fn nearest_range<'a>(
    entries: impl Iterator<Item = &'a LineLogEntry>,
    range: Range<usize>,
) -> Range<usize> {
    entries.fold(range, |range, entry| {
        let start = entry.change.nearest_line(range.start);
        start..entry.change.nearest_line(range.end).max(start)
    })
}

#[cfg(test)]
mod tests;
