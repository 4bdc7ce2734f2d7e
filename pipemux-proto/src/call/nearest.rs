//! "Did you mean": the name that is most like a misspelt one.

/// Length in characters of the longest name that is compared.
const COMPARED_MAX: usize = 64;

/// Returns the name that was most likely meant, if one is near enough: the one with the fewest
/// typing mistakes, the first of several. A mistake is a missing, an added or another character, or
/// two swapped ones; case doesn't count. At most a third of a name may be mistaken.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (wanted, wanted_length) = folded(wanted)?;
    let mut best: Option<(usize, &'a str)> = None;
    for name in names {
        let Some((candidate, length)) = folded(name) else { continue };
        let longest = wanted_length.max(length);
        let mistakes = strsim::osa_distance(&wanted, &candidate);
        // The shortest names may have one mistake too, but not if it leaves nothing of the name.
        let near = mistakes <= (longest / 3).max(1) && mistakes < longest;
        if near && best.is_none_or(|(fewest, _)| mistakes < fewest) {
            best = Some((mistakes, name));
        }
    }
    best.map(|(_, name)| name)
}

/// The name in lower case and its length in characters; none if it is too long to be compared.
fn folded(name: &str) -> Option<(String, usize)> {
    if name.len() > COMPARED_MAX * 4 {
        return None;
    }
    let folded: String = name.chars().flat_map(char::to_lowercase).collect();
    let length = folded.chars().count();
    (length <= COMPARED_MAX).then_some((folded, length))
}
