//! Writes patches from two texts, knowing nothing of the library: a table of longest common
//! subsequences, then hunks with context.

use std::fmt::Write as _;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Keep(usize, usize),
    Remove(usize),
    Add(usize),
}

pub fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

pub fn ops(old: &[&str], new: &[&str]) -> Vec<Op> {
    let mut table = vec![vec![0; new.len() + 1]; old.len() + 1];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            table[a][b] = if old[a] == new[b] {
                table[a + 1][b + 1] + 1
            } else {
                table[a + 1][b].max(table[a][b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut ops = Vec::new();
    while a < old.len() || b < new.len() {
        if a < old.len() && b < new.len() && old[a] == new[b] {
            ops.push(Op::Keep(a, b));
            (a, b) = (a + 1, b + 1);
        } else if b == new.len() || a < old.len() && table[a + 1][b] >= table[a][b + 1] {
            ops.push(Op::Remove(a));
            a += 1;
        } else {
            ops.push(Op::Add(b));
            b += 1;
        }
    }
    ops
}

/// Ranges of ops: each change with its context; those that touch are one.
pub fn hunks(ops: &[Op], context: usize) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        if matches!(op, Op::Keep(..)) {
            continue;
        }
        let range = at.saturating_sub(context)..(at + context + 1).min(ops.len());
        match ranges.last_mut() {
            Some(last) if last.end >= range.start => last.end = range.end,
            _ => ranges.push(range),
        }
    }
    ranges
}

pub struct Diff<'t> {
    pub old: Vec<&'t str>,
    pub new: Vec<&'t str>,
    pub ops: Vec<Op>,
    pub hunks: Vec<Range<usize>>,
}

impl<'t> Diff<'t> {
    pub fn new(old: &'t str, new: &'t str, context: usize) -> Self {
        let (old, new) = (lines(old), lines(new));
        let ops = ops(&old, &new);
        let hunks = hunks(&ops, context);
        Self { old, new, ops, hunks }
    }

    fn body(&self, out: &mut String, hunk: &Range<usize>) {
        for op in &self.ops[hunk.clone()] {
            let (sign, line) = match *op {
                Op::Keep(at, _) => (' ', self.old[at]),
                Op::Remove(at) => ('-', self.old[at]),
                Op::Add(at) => ('+', self.new[at]),
            };
            out.push(sign);
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }

    /// How many old and new lines stand before and in a hunk.
    fn counts(&self, hunk: &Range<usize>) -> [usize; 4] {
        let count = |ops: &[Op]| {
            let old = ops.iter().filter(|op| !matches!(op, Op::Add(_))).count();
            let new = ops.iter().filter(|op| !matches!(op, Op::Remove(_))).count();
            (old, new)
        };
        let (a, b) = count(&self.ops[..hunk.start]);
        let (c, d) = count(&self.ops[hunk.clone()]);
        [a, b, c, d]
    }

    pub fn unified(&self, name: &str) -> String {
        let mut out = format!("--- a/{name}\n+++ b/{name}\n");
        for hunk in &self.hunks {
            let [a, b, c, d] = self.counts(hunk);
            let start = |before: usize, count: usize| if count == 0 { before } else { before + 1 };
            let _ = writeln!(out, "@@ -{},{c} +{},{d} @@", start(a, c), start(b, d));
            self.body(&mut out, hunk);
        }
        out
    }

    pub fn envelope(&self, name: &str) -> String {
        let mut out = format!("*** Begin Patch\n*** Update File: {name}\n");
        for hunk in &self.hunks {
            out.push_str("@@\n");
            self.body(&mut out, hunk);
        }
        out.push_str("*** End Patch\n");
        out
    }

    pub fn blocks(&self, name: &str) -> String {
        let mut out = String::new();
        for hunk in &self.hunks {
            let _ = write!(out, "{name}\n```\n<<<<<<< SEARCH\n");
            for op in &self.ops[hunk.clone()] {
                if let Op::Keep(at, _) | Op::Remove(at) = *op {
                    out.push_str(self.old[at]);
                }
            }
            out.push_str("=======\n");
            for op in &self.ops[hunk.clone()] {
                if let Op::Keep(_, at) | Op::Add(at) = *op {
                    out.push_str(self.new[at]);
                }
            }
            out.push_str(">>>>>>> REPLACE\n```\n\n");
        }
        out
    }

    /// The first changed line of each hunk, from 1, in the old text.
    pub fn first_changes(&self) -> Vec<usize> {
        let changed = |hunk: &Range<usize>| {
            let first = self.ops[hunk.clone()].iter().position(|op| !matches!(op, Op::Keep(..)));
            self.counts(&(hunk.start + first.unwrap()..hunk.end))[0] + 1
        };
        self.hunks.iter().map(changed).collect()
    }
}
