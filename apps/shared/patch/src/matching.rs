//! Finds lines in a file, exactly or ignoring whitespace.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use crate::document::DocumentLine;
use crate::limits::CANDIDATES_MAX;

/// The exactness with which the lines of a hunk were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tolerance {
    /// Character by character; line endings don't count.
    Exact,
    /// But for whitespace at the ends of lines.
    TrailingSpace,
    /// But for the indentation, which differs in one and the same way in all lines; new lines get
    /// the same shift.
    Indentation,
}

impl Tolerance {
    pub(crate) const ALL: [Self; 3] = [Self::Exact, Self::TrailingSpace, Self::Indentation];

    pub(crate) fn normalize(self, line: &str) -> &str {
        match self {
            Self::Exact => line,
            Self::TrailingSpace => line.trim_end_matches(SPACE),
            Self::Indentation => line.trim_matches(SPACE),
        }
    }
}

pub(crate) const SPACE: [char; 2] = [' ', '\t'];

/// The error for a patch that needs more work than [`crate::limits::WORK_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMuchWork;

/// Counts the lines that were looked at.
pub(crate) struct Work(pub(crate) u64);

impl Work {
    pub(crate) fn spend(&mut self, lines: usize) -> Result<(), TooMuchWork> {
        self.0 = self.0.checked_sub(lines as u64).ok_or(TooMuchWork)?;
        Ok(())
    }
}

/// The indexes of equal lines of a file, by text.
pub(crate) type Positions<'d> = HashMap<&'d str, Vec<usize>>;

/// The lines of a file, to be searched.
pub(crate) struct IndexedLines<'d, 'a> {
    pub(crate) all: &'d [DocumentLine<'a>],
    indexes: [OnceCell<Positions<'d>>; 3],
}

/// Places where lines were found.
pub(crate) struct FoundLines {
    /// Their first lines, from 0: those near the expected one first, then as in the file.
    pub(crate) starts: Vec<usize>,
    /// True if there are more places than were requested.
    pub(crate) more: bool,
}

impl<'d, 'a> IndexedLines<'d, 'a> {
    pub(crate) fn new(all: &'d [DocumentLine<'a>]) -> Self {
        Self { all, indexes: Default::default() }
    }

    pub(crate) fn index(
        &self,
        tolerance: Tolerance,
        work: &mut Work,
    ) -> Result<&Positions<'d>, TooMuchWork> {
        let cell = &self.indexes[tolerance as usize];
        if cell.get().is_none() {
            work.spend(self.all.len())?;
        }
        Ok(cell.get_or_init(|| {
            let mut positions = Positions::new();
            for (number, line) in self.all.iter().enumerate() {
                positions.entry(tolerance.normalize(&line.text)).or_default().push(number);
            }
            positions
        }))
    }

    /// Finds the places of these consecutive lines; `near` is the line where they are expected.
    pub(crate) fn find(
        &self,
        pattern: &[&str],
        tolerance: Tolerance,
        near: Option<usize>,
        work: &mut Work,
    ) -> Result<FoundLines, TooMuchWork> {
        let index = self.index(tolerance, work)?;
        work.spend(pattern.len())?;
        let mut rarest: Option<(usize, &[usize])> = None;
        for (offset, line) in pattern.iter().enumerate() {
            let positions = index.get(tolerance.normalize(line)).map_or(&[][..], Vec::as_slice);
            if rarest.is_none_or(|(_, found)| positions.len() < found.len()) {
                rarest = Some((offset, positions));
            }
            if positions.is_empty() {
                break;
            }
        }
        let mut found = FoundLines { starts: Vec::new(), more: false };
        let Some((offset, positions)) = rarest else { return Ok(found) };
        for start in outwards(positions, near.map(|near| near + offset)) {
            let Some(start) = start.checked_sub(offset) else { continue };
            if self.matches(start, pattern, tolerance, work)? {
                if found.starts.len() == CANDIDATES_MAX {
                    found.more = true;
                    break;
                }
                found.starts.push(start);
            }
        }
        if near.is_none() {
            found.starts.sort_unstable();
        }
        Ok(found)
    }

    /// Returns true if these lines are exactly here.
    pub(crate) fn matches(
        &self,
        start: usize,
        pattern: &[&str],
        tolerance: Tolerance,
        work: &mut Work,
    ) -> Result<bool, TooMuchWork> {
        let Some(lines) = start.checked_add(pattern.len()).and_then(|end| self.all.get(start..end))
        else {
            return Ok(false);
        };
        let mut equal = 0;
        let all = lines.iter().zip(pattern).all(|(line, wanted)| {
            equal += 1;
            tolerance.normalize(&line.text) == tolerance.normalize(wanted)
        });
        work.spend(equal)?;
        Ok(all && (tolerance != Tolerance::Indentation || Shift::between(lines, pattern).is_some()))
    }
}

/// Positions by their distance from one, or as they come.
fn outwards(positions: &[usize], near: Option<usize>) -> impl Iterator<Item = usize> + '_ {
    let middle = near.map_or(0, |near| positions.partition_point(|&position| position < near));
    let (below, above) = positions.split_at(middle);
    let mut below = below.iter().rev().copied().peekable();
    let mut above = above.iter().copied().peekable();
    let near = near.unwrap_or(0);
    std::iter::from_fn(move || match (below.peek(), above.peek()) {
        (Some(&low), Some(&high)) if near - low <= high - near => below.next(),
        (Some(_), None) => below.next(),
        _ => above.next(),
    })
}

/// The difference between the indentation of a file and that of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    None,
    /// The file has this additional indentation before that of each line.
    Deeper(String),
    /// The hunk has this additional indentation before that of each line.
    Shallower(String),
    /// The hunk has this number of spaces where the file has a tab.
    ToTabs(usize),
    /// The hunk has tabs where the file has this number of spaces each.
    ToSpaces(usize),
    /// The hunk has `.0` spaces where the file has `.1`.
    Scale(usize, usize),
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(SPACE).len()]
}

impl Shift {
    /// The one that leads from all of the hunk's lines to all of the file's.
    fn between(lines: &[DocumentLine<'_>], pattern: &[&str]) -> Option<Self> {
        let pairs = || {
            lines.iter().zip(pattern).map(|(line, wanted)| (indent(wanted), line)).filter_map(
                |(wanted, line)| {
                    let text = Tolerance::TrailingSpace.normalize(&line.text);
                    (!text.is_empty()).then(|| (wanted, indent(text)))
                },
            )
        };
        let Some((wanted, has)) = pairs().next() else { return Some(Self::None) };
        let mut shifts = vec![Self::None];
        if let Some(deeper) = has.strip_suffix(wanted) {
            shifts.push(Self::Deeper(deeper.to_owned()));
        }
        if let Some(shallower) = wanted.strip_suffix(has) {
            shifts.push(Self::Shallower(shallower.to_owned()));
        }
        shifts.extend([4, 2, 8, 3].map(Self::ToTabs));
        shifts.extend([4, 2, 8, 3].map(Self::ToSpaces));
        shifts.extend(
            [(2, 4), (4, 2), (4, 8), (8, 4), (2, 8), (8, 2)].map(|(a, b)| Self::Scale(a, b)),
        );
        shifts.into_iter().find(|shift| {
            pairs().all(|(wanted, has)| shift.indent(wanted).is_some_and(|shifted| shifted == has))
        })
    }

    /// The shift at a place where the lines were found.
    pub(crate) fn at(lines: &[DocumentLine<'_>], start: usize, pattern: &[&str]) -> Self {
        lines
            .get(start..start + pattern.len())
            .and_then(|lines| Self::between(lines, pattern))
            .unwrap_or(Self::None)
    }

    fn indent(&self, indent: &str) -> Option<String> {
        match self {
            Self::None => Some(indent.to_owned()),
            Self::Deeper(more) => Some(format!("{more}{indent}")),
            Self::Shallower(less) => indent.strip_prefix(less.as_str()).map(str::to_owned),
            Self::ToTabs(width) => {
                let tabs = indent.bytes().take_while(|&byte| byte == b'\t').count();
                let spaces = indent.len() - tabs;
                if indent[tabs..].contains('\t') {
                    return None;
                }
                Some("\t".repeat(tabs + spaces / width) + &" ".repeat(spaces % width))
            }
            Self::ToSpaces(width) => Some(indent.replace('\t', &" ".repeat(*width))),
            Self::Scale(from, to) => {
                let spaces = !indent.contains('\t') && indent.len().is_multiple_of(*from);
                spaces.then(|| " ".repeat(indent.len() / from * to))
            }
        }
    }

    /// Returns a new line of the hunk with its indentation adapted to the file.
    pub(crate) fn line<'p>(&self, line: &'p str) -> Cow<'p, str> {
        let text = line.trim_start_matches(SPACE);
        if text.is_empty() || *self == Self::None {
            return Cow::Borrowed(line);
        }
        let own = &line[..line.len() - text.len()];
        match (self.indent(own), self) {
            (Some(indent), _) => Cow::Owned(indent + text),
            // It stands further to the left than what there was: as far left as it can.
            (None, Self::Shallower(_)) => Cow::Borrowed(text),
            (None, _) => Cow::Borrowed(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    fn shift(file: &str, pattern: &str) -> Option<Shift> {
        let document = Document::new(file);
        let pattern: Vec<_> = pattern.lines().collect();
        Shift::between(&document.lines, &pattern)
    }

    #[test]
    fn shifts_are_the_same_in_all_lines() {
        assert_eq!(shift("    a\n\n      b\n", "a\n\n  b"), Some(Shift::Deeper("    ".into())));
        assert_eq!(shift("a\n  b\n", "  a\n    b"), Some(Shift::Shallower("  ".into())));
        assert_eq!(shift("\ta\n\t\tb\n", "    a\n        b"), Some(Shift::ToTabs(4)));
        assert_eq!(shift("  a\n    b\n", "\ta\n\t\tb"), Some(Shift::ToSpaces(2)));
        assert_eq!(shift("a\n    b\n", "a\n  b"), Some(Shift::Scale(2, 4)));
        assert_eq!(shift("a\n    b\n c\n", "a\n  b\n  c"), None);
        assert_eq!(shift("\n\n", "\n "), Some(Shift::None));
    }

    #[test]
    fn new_lines_get_the_shift() {
        assert_eq!(Shift::Deeper("  ".into()).line("\tx"), "  \tx");
        assert_eq!(Shift::Shallower("    ".into()).line("  x"), "x");
        assert_eq!(Shift::ToTabs(4).line("      x"), "\t  x");
        assert_eq!(Shift::Deeper("  ".into()).line(""), "");
    }

    #[test]
    fn places_near_the_expected_one_come_first() {
        let order: Vec<_> = outwards(&[1, 4, 6, 20], Some(5)).collect();
        assert_eq!(order, [4, 6, 1, 20]);
        let order: Vec<_> = outwards(&[1, 4, 6], None).collect();
        assert_eq!(order, [1, 4, 6]);
    }
}
