//! Reports the same replacement in many lines once instead of line by line.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use crate::limits::{FOLDED_LINES_MIN, FOLDED_TEXT_MAX, REPLACEMENTS_TRIED};

/// Lines that are others than before, without lines around them. Lines count from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The first old line of the hunk.
    pub old_from: usize,
    /// The first new line of the hunk.
    pub new_from: usize,
    pub old: Vec<String>,
    pub new: Vec<String>,
}

/// A replacement that is the only difference between some lines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Replacement {
    /// False replaces whole words only.
    within_words: bool,
    old: String,
    new: String,
}

impl Hunk {
    pub fn old_lines(&self) -> Range<usize> {
        self.old_from..self.old_from + self.old.len()
    }

    pub fn new_lines(&self) -> Range<usize> {
        self.new_from..self.new_from + self.new.len()
    }

    /// Takes out the lines that one of these replacements explains. Returns for each replacement
    /// the lines as they are numbered now, and what is left.
    pub fn fold(&self, replacements: &[Replacement]) -> (Vec<Vec<usize>>, Vec<Hunk>) {
        let mut folded = vec![Vec::new(); replacements.len()];
        let (old, new) = (&self.old, &self.new);
        let explained = |at_old: usize, at_new: usize| {
            let (old, new) = (old.get(at_old)?, new.get(at_new)?);
            replacements.iter().position(|one| one.explains(old, new))
        };
        let mut left: Vec<Hunk> = Vec::new();
        let mut leave = |old_lines: Range<usize>, new_lines: Range<usize>| {
            let (old, new) = (&old[old_lines.clone()], &new[new_lines.clone()]);
            match left.last_mut() {
                Some(last) if last.new_lines().end == self.new_from + new_lines.start => {
                    last.old.extend_from_slice(old);
                    last.new.extend_from_slice(new);
                }
                _ => left.push(Hunk {
                    old_from: self.old_from + old_lines.start,
                    new_from: self.new_from + new_lines.start,
                    old: old.to_vec(),
                    new: new.to_vec(),
                }),
            }
        };
        if old.len() == new.len() {
            for line in 0..old.len() {
                match explained(line, line) {
                    Some(one) => folded[one].push(self.new_from + line),
                    None => leave(line..line + 1, line..line + 1),
                }
            }
            return (folded, left);
        }
        // Lines were added or removed, too: only the outer ones have a counterpart for sure.
        let least = old.len().min(new.len());
        let ahead = (0..least).take_while(|line| explained(*line, *line).is_some()).count();
        let from_end = |line: usize| (old.len() - 1 - line, new.len() - 1 - line);
        let behind = (0..least - ahead)
            .take_while(|line| explained(from_end(*line).0, from_end(*line).1).is_some())
            .count();
        let outer = (0..ahead).map(|line| (line, line)).chain((0..behind).rev().map(from_end));
        for (at_old, at_new) in outer {
            if let Some(one) = explained(at_old, at_new) {
                folded[one].push(self.new_from + at_new);
            }
        }
        leave(ahead..old.len() - behind, ahead..new.len() - behind);
        (folded, left)
    }
}

impl Replacement {
    /// True when a line differs from what it was by this replacement alone, made at every place
    /// where it fits.
    fn explains(&self, old: &str, new: &str) -> bool {
        if !old.contains(&self.old) || !new.contains(&self.new) {
            return false;
        }
        let replaced = match self.within_words {
            true => old.replace(&self.old, &self.new),
            false => self.in_whole_words(old),
        };
        replaced == new
    }

    fn in_whole_words(&self, line: &str) -> String {
        let (mut replaced, mut from) = (String::with_capacity(line.len()), 0);
        let mut at = 0;
        while let Some(found) = line[at..].find(&self.old) {
            let (start, end) = (at + found, at + found + self.old.len());
            if is_boundary(line, start) && is_boundary(line, end) {
                replaced += &line[from..start];
                replaced += &self.new;
                (from, at) = (end, end);
            } else {
                at = start + line[start..].chars().next().map_or(1, char::len_utf8);
            }
        }
        replaced + &line[from..]
    }

    /// Returns the replacements that may be what a line differs by.
    fn candidates(old: &str, new: &str) -> Vec<Self> {
        let (mut ahead, mut behind) = common_ends(old, new);
        let mut all = Vec::new();
        let mut add = |within_words, old: &str, new: &str| {
            let one = Replacement { within_words, old: old.to_owned(), new: new.to_owned() };
            let fits = !old.trim().is_empty() && old.len() + new.len() <= FOLDED_TEXT_MAX;
            if fits && old != new && !all.contains(&one) {
                all.push(one);
            }
        };
        let is_part = |c: char| c.is_alphanumeric();
        let part =
            (grown(old, ahead, false, is_part), grown(old, old.len() - behind, true, is_part));
        let part_behind = old.len() - part.1;
        let end = old.len() - behind;
        if is_boundary(old, ahead) && is_boundary(old, end) {
            add(false, &old[ahead..end], &new[ahead..new.len() - behind]);
        }
        ahead = grown(old, ahead, false, is_word);
        behind = old.len() - grown(old, end, true, is_word);
        add(false, &old[ahead..old.len() - behind], &new[ahead..new.len() - behind]);
        // The replacement may have been made several times in the line.
        let (first, now) = (grown(old, ahead, true, is_word), grown(new, ahead, true, is_word));
        add(false, &old[ahead..first], &new[ahead..now]);
        add(true, &old[part.0..part.1], &new[part.0..new.len() - part_behind]);
        all
    }
}

impl fmt::Display for Replacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |text: &str| !text.is_empty() && text.chars().all(is_word);
        match (self.within_words, plain(&self.old) && plain(&self.new)) {
            (false, true) => write!(f, "{} → {}", self.old, self.new),
            (false, false) => write!(f, "`{}` → `{}`", self.old, self.new),
            (true, true) => write!(f, "{} → {}, also within words", self.old, self.new),
            (true, false) => {
                write!(f, "`{}` → `{}`, also within words", self.old, self.new)
            }
        }
    }
}

/// Returns the replacements that explain many changed lines, in the order in which they are to be
/// tried.
pub(super) fn replacements<'a>(hunks: impl Iterator<Item = &'a Hunk>) -> Vec<Replacement> {
    let mut lines: Vec<(&str, &str)> = hunks
        .flat_map(|hunk| hunk.old.iter().zip(&hunk.new))
        .map(|(old, new)| (old.as_str(), new.as_str()))
        .collect();
    let mut votes: HashMap<Replacement, usize> = HashMap::new();
    for (old, new) in &lines {
        for one in Replacement::candidates(old, new) {
            *votes.entry(one).or_default() += 1;
        }
    }
    let mut ranked: Vec<(Replacement, usize)> = votes.into_iter().collect();
    ranked.sort_by(|(one, votes), (other, others)| others.cmp(votes).then_with(|| one.cmp(other)));
    let mut chosen = Vec::new();
    for (one, _) in ranked.into_iter().take(REPLACEMENTS_TRIED) {
        let left: Vec<_> =
            lines.iter().copied().filter(|(old, new)| !one.explains(old, new)).collect();
        if lines.len() - left.len() >= FOLDED_LINES_MIN {
            lines = left;
            chosen.push(one);
        }
    }
    chosen
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// True where no word goes on from one side to the other.
fn is_boundary(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back().is_some_and(is_word);
    let behind = text[at..].chars().next().is_some_and(is_word);
    !(before && behind)
}

/// Moves a place in a text on, or back, over such characters.
fn grown(text: &str, at: usize, on: bool, over: impl Fn(char) -> bool) -> usize {
    match on {
        true => text.len() - text[at..].trim_start_matches(&over).len(),
        false => text[..at].trim_end_matches(&over).len(),
    }
}

/// Returns how many bytes two texts have in common at their beginnings and, without these, at their
/// ends.
fn common_ends(one: &str, other: &str) -> (usize, usize) {
    let same = |(a, b): &(char, char)| a == b;
    let length = |(c, _): (char, char)| c.len_utf8();
    let ahead = one.chars().zip(other.chars()).take_while(same).map(length).sum();
    let (one, other): (&str, &str) = (&one[ahead..], &other[ahead..]);
    let behind = one.chars().rev().zip(other.chars().rev()).take_while(same).map(length).sum();
    (ahead, behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(from: usize, old: &[&str], new: &[&str]) -> Hunk {
        let lines = |of: &[&str]| of.iter().map(|line| format!("{line}\n")).collect();
        Hunk { old_from: from, new_from: from, old: lines(old), new: lines(new) }
    }

    fn told(hunks: &[Hunk]) -> Vec<String> {
        replacements(hunks.iter()).iter().map(ToString::to_string).collect()
    }

    fn each(pairs: &[(&str, &str)]) -> Vec<Hunk> {
        pairs.iter().enumerate().map(|(at, (old, new))| hunk(at * 3, &[old], &[new])).collect()
    }

    #[test]
    fn replacement_that_most_lines_differ_by_is_found() {
        let words = [
            ("a(get(1), get(2))", "a(fetch(1), fetch(2))"),
            ("get(3) // forget", "fetch(3) // forget"),
            ("x.get", "x.fetch"),
            ("    get", "    fetch"),
        ];
        assert_eq!(told(&each(&words)), ["get → fetch"]);
        assert!(told(&each(&words[..3])).is_empty());
        let parts =
            [("old_a", "new_a"), ("old_b", "new_b"), ("old_c", "new_c"), ("old_d", "new_d")];
        assert_eq!(told(&each(&parts)), ["old → new, also within words"]);
        let before = [("fn a", "pub fn a"), ("  fn b", "  pub fn b"), ("fn c", "pub fn c")];
        let before = [&before[..], &[("fn d", "pub fn d")]].concat();
        assert_eq!(told(&each(&before)), ["`fn` → `pub fn`"]);
        let gone = [("a.f()?", "a.f()"), ("b.g()?", "b.g()"), ("c?", "c"), ("d?;", "d;")];
        assert_eq!(told(&each(&gone)), ["`?` → ``"]);
        let indented = [("a", "  a"), ("b", "  b"), ("c", "  c"), ("d", "  d")];
        assert!(told(&each(&indented)).is_empty());
    }

    #[test]
    fn only_lines_that_a_replacement_explains_wholly_are_folded() {
        let one = [Replacement { within_words: false, old: "a".into(), new: "b".into() }];
        let all = hunk(9, &["a 1", "a 2", "a a", "x a"], &["b 1", "b 3", "b a", "x b"]);
        let left = hunk(10, &["a 2", "a a"], &["b 3", "b a"]);
        assert_eq!(all.fold(&one), (vec![vec![9, 12]], vec![left]));
        let more = hunk(4, &["a 1", "gone", "a 2"], &["b 1", "b 2"]);
        let left = hunk(5, &["gone"], &[]);
        assert_eq!(more.fold(&one), (vec![vec![4, 5]], vec![left]));
        let all_of_it = hunk(0, &["a"], &["b"]);
        assert_eq!(all_of_it.fold(&one), (vec![vec![0]], vec![]));
    }
}
