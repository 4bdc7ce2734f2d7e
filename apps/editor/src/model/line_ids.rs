//! The identities of a file's lines, so that readers can be told which lines moved.

use std::ops::Range;

use docui::LineRun;
use serde::{Deserialize, Serialize};

use super::line_change::{LineChange, LineSplice};

/// An identity for each line. A line keeps its identity while it moves or is altered; an identity
/// is never used for another line of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineIds {
    /// Runs of consecutive identities, each with how many lines it has.
    runs: Vec<(u64, usize)>,
    next: u64,
}

impl LineIds {
    /// Returns the identities of a file that is opened in a version. They differ from those of the
    /// same file when it was opened before.
    pub fn new(lines: usize, version: u64) -> Self {
        let first = (version << 32) + 1;
        let runs = if lines == 0 { Vec::new() } else { vec![(first, lines)] };
        Self { runs, next: first + lines as u64 }
    }

    /// True for those of a file whose state was saved before lines had identities.
    pub fn is_unknown(&self) -> bool {
        self.next == 0
    }

    pub fn line_count(&self) -> usize {
        self.runs.iter().map(|(_, count)| count).sum()
    }

    /// Returns the identities of some lines, which count from 0.
    pub fn of(&self, lines: &Range<usize>) -> Vec<LineRun> {
        let run = |(id, count): (u64, usize)| LineRun { id, count: count as u64 };
        self.slice(lines.clone()).into_iter().map(run).collect()
    }

    /// Follows a change of the lines.
    pub fn apply(&mut self, change: &LineChange) {
        match change {
            LineChange::Move(moved) => {
                let block = self.slice(moved.first..moved.first + moved.count);
                let all = self.line_count();
                let mut rest = self.slice(0..moved.first);
                rest.extend(self.slice(moved.first + moved.count..all));
                self.set(rest);
                let at = moved.destination();
                let mut runs = self.slice(0..at);
                runs.extend(block);
                runs.extend(self.slice(at..all));
                self.set(runs);
            }
            LineChange::Splices(splices) => self.splice(splices),
        }
    }

    fn splice(&mut self, splices: &[LineSplice]) {
        let all = self.line_count();
        let (mut runs, mut from) = (Vec::new(), 0);
        for splice in splices.iter().filter(|splice| splice.removed != splice.inserted) {
            runs.extend(self.slice(from..splice.start));
            if splice.inserted > 0 {
                runs.push((self.next, splice.inserted));
                self.next += splice.inserted as u64;
            }
            from = splice.start + splice.removed;
        }
        runs.extend(self.slice(from..all));
        self.set(runs);
    }

    fn set(&mut self, runs: Vec<(u64, usize)>) {
        self.runs.clear();
        for (id, count) in runs {
            match self.runs.last_mut() {
                Some((first, before)) if *first + *before as u64 == id => *before += count,
                _ => self.runs.push((id, count)),
            }
        }
    }

    fn slice(&self, lines: Range<usize>) -> Vec<(u64, usize)> {
        let (mut part, mut at) = (Vec::new(), 0);
        for (id, count) in &self.runs {
            let (start, end) = (lines.start.max(at), lines.end.min(at + count));
            if start < end {
                part.push((id + (start - at) as u64, end - start));
            }
            at += count;
            if at >= lines.end {
                break;
            }
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::line_change::LineMove;

    fn each(ids: &LineIds) -> Vec<u64> {
        let runs = ids.of(&(0..ids.line_count()));
        runs.iter().flat_map(|run| run.id..run.id + run.count).collect()
    }

    #[test]
    fn lines_keep_their_identities_and_new_ones_get_new_ones() {
        let mut ids = LineIds::new(6, 0);
        assert_eq!(each(&ids), [1, 2, 3, 4, 5, 6]);
        let splice = |start, removed, inserted| LineSplice { start, removed, inserted };
        ids.apply(&LineChange::Splices(vec![splice(0, 1, 0), splice(2, 1, 1), splice(4, 1, 2)]));
        assert_eq!(each(&ids), [2, 3, 4, 7, 8, 6]);
        ids.apply(&LineChange::Move(LineMove { first: 0, count: 2, before: 5 }));
        assert_eq!(each(&ids), [4, 7, 8, 2, 3, 6]);
        ids.apply(&LineChange::Move(LineMove { first: 3, count: 2, before: 0 }));
        assert_eq!(each(&ids), [2, 3, 4, 7, 8, 6]);
        assert_eq!(ids.of(&(1..4)), [LineRun { id: 3, count: 2 }, LineRun { id: 7, count: 1 }]);
        ids.apply(&LineChange::Splices(vec![splice(0, 6, 0)]));
        assert_eq!((each(&ids).len(), ids.line_count()), (0, 0));
        ids.apply(&LineChange::Splices(vec![splice(0, 0, 1)]));
        assert_eq!(each(&ids), [9]);
    }
}
