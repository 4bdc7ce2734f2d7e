//! Finds the closest match for a hunk that fits nowhere.

use std::collections::HashMap;

use crate::limits::{
    COMMON_LINE, DIFFERENCES_TOLD, SIMILAR_BYTES_MAX, SIMILAR_LINES_MAX, SIMILAR_MIN,
    SIMILAR_PATTERNS_MAX,
};
use crate::matching::{IndexedLines, Tolerance, TooMuchWork, Work};

/// Lines that a hunk may have meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The number of the first line, from 1.
    pub first: usize,
    /// The number of the last line.
    pub last: usize,
    /// The first of the differing lines.
    pub differences: Vec<Difference>,
    /// The number of differing lines.
    pub differ: usize,
}

/// A differing line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The number of the line in the file, from 1.
    pub line: usize,
    /// The line in the file; `None` past the end of the file.
    pub file: Option<String>,
    pub patch: String,
}

/// Returns the lines most similar to the pattern, if there are any.
pub(crate) fn nearest(
    lines: &IndexedLines<'_, '_>,
    pattern: &[&str],
    near: Option<usize>,
    work: &mut Work,
) -> Result<Option<Nearest>, TooMuchWork> {
    let start = match by_equal_lines(lines, pattern, near, work)? {
        Some(start) => start,
        None => match by_similar_lines(lines, pattern, work)? {
            Some(start) => start,
            None => return Ok(None),
        },
    };
    let exact = (0..pattern.len()).filter_map(|offset| {
        let number = usize::try_from(start + isize::try_from(offset).ok()?).ok()?;
        let file = lines.all.get(number).map(|line| line.text.as_ref());
        (file != Some(pattern[offset])).then(|| Difference {
            line: number + 1,
            file: file.map(str::to_owned),
            patch: pattern[offset].to_owned(),
        })
    });
    let all: Vec<_> = exact.collect();
    let visible = |text: &str| text.split_whitespace().collect::<String>();
    let mut differences: Vec<_> = all
        .iter()
        // What differs by more than whitespace tells most.
        .filter(|one| one.file.as_deref().map(visible) != Some(visible(&one.patch)))
        .take(DIFFERENCES_TOLD)
        .cloned()
        .collect();
    if differences.is_empty() {
        differences = all.iter().take(DIFFERENCES_TOLD).cloned().collect();
    }
    let first = usize::try_from(start).unwrap_or(0);
    let end = usize::try_from(start + pattern.len().cast_signed()).unwrap_or(0);
    let last = end.min(lines.all.len()).max(first + 1);
    Ok(Some(Nearest { first: first + 1, last, differ: all.len(), differences }))
}

/// Returns the position that most equal lines suggest; rare lines count more.
fn by_equal_lines(
    lines: &IndexedLines<'_, '_>,
    pattern: &[&str],
    near: Option<usize>,
    work: &mut Work,
) -> Result<Option<isize>, TooMuchWork> {
    let index = lines.index(Tolerance::Indentation, work)?;
    let mut votes: HashMap<isize, usize> = HashMap::new();
    for (offset, line) in pattern.iter().enumerate() {
        let line = Tolerance::Indentation.normalize(line);
        let letters = line.chars().filter(|letter| letter.is_alphanumeric()).take(20).count();
        let positions = index.get(line).map_or(&[][..], Vec::as_slice);
        work.spend(1 + positions.len().min(COMMON_LINE))?;
        if letters < 2 || positions.len() > COMMON_LINE {
            continue;
        }
        for &position in positions {
            let start = position.cast_signed() - offset.cast_signed();
            *votes.entry(start).or_default() += 20 + letters - positions.len().min(20);
        }
    }
    let distance =
        |start: isize| near.map_or(start.unsigned_abs(), |near| start.abs_diff(near.cast_signed()));
    let best = votes
        .into_iter()
        .max_by_key(|&(start, votes)| (votes, std::cmp::Reverse(distance(start)), start));
    Ok(best.map(|(start, _)| start))
}

/// Returns the position at which the most distinctive line has a similar one.
fn by_similar_lines(
    lines: &IndexedLines<'_, '_>,
    pattern: &[&str],
    work: &mut Work,
) -> Result<Option<isize>, TooMuchWork> {
    let mut telling: Vec<_> = pattern.iter().map(|line| line.trim()).enumerate().collect();
    telling.retain(|(_, line)| line.chars().any(char::is_alphanumeric));
    telling.sort_by_key(|(_, line)| std::cmp::Reverse(line.len().min(SIMILAR_BYTES_MAX)));
    for (offset, wanted) in telling.into_iter().take(SIMILAR_PATTERNS_MAX) {
        let wanted = cut(wanted);
        let mut best = (SIMILAR_MIN, None);
        for (number, line) in lines.all.iter().enumerate().take(SIMILAR_LINES_MAX) {
            let text = cut(line.text.trim());
            if text.len() * 3 < wanted.len() || wanted.len() * 3 < text.len() {
                continue;
            }
            work.spend(8)?;
            let alike = strsim::sorensen_dice(text, wanted);
            if alike > best.0 {
                best = (alike, Some(number.cast_signed() - offset.cast_signed()));
            }
        }
        if best.1.is_some() {
            return Ok(best.1);
        }
    }
    Ok(None)
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(SIMILAR_BYTES_MAX)]
}
