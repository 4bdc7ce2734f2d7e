//! "Did you mean": the nearest of some names.

/// Longest name that is compared, in characters.
const COMPARED_MAX: usize = 64;

/// The name that was likely meant: the one with the fewest slips (a character more, less, other, or
/// two swapped; upper and lower case are one), at most a third of its length. Of equals the first.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(wanted)?;
    let mut best: Option<(usize, &'a str)> = None;
    for name in names {
        let Some(candidate) = folded(name) else { continue };
        let longest = wanted.len().max(candidate.len());
        let slips = distance(&wanted, &candidate);
        // One slip is allowed in the shortest names, but something must be left of them.
        let near = slips <= (longest / 3).max(1) && slips < longest;
        if near && best.is_none_or(|(fewest, _)| slips < fewest) {
            best = Some((slips, name));
        }
    }
    best.map(|(_, name)| name)
}

/// None for what is too long to be compared.
fn folded(name: &str) -> Option<Vec<char>> {
    if name.len() > COMPARED_MAX * 4 {
        return None;
    }
    let folded: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    (folded.len() <= COMPARED_MAX).then_some(folded)
}

/// Damerau–Levenshtein distance with each place changed at most once (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut two_back = vec![0; b.len() + 1];
    let mut back: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let other = usize::from(a[i - 1] != b[j - 1]);
            let mut slips = (back[j] + 1).min(row[j - 1] + 1).min(back[j - 1] + other);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                slips = slips.min(two_back[j - 2] + 1);
            }
            row[j] = slips;
        }
        two_back = std::mem::replace(&mut back, row);
    }
    back[b.len()]
}
