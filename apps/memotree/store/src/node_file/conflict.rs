//! Conflict markers of a merge.

/// Returns the number of the first line of a conflict that git left in a text: `<<<<<<< …`, later
/// `=======`, later `>>>>>>> …`, each at the beginning of a line. A text that means such lines as
/// text indents them.
pub fn conflict_line(text: &str) -> Option<usize> {
    if !text.contains("<<<<<<<") {
        return None;
    }
    let mut first = None;
    let mut parted = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        match first {
            _ if line.starts_with("<<<<<<< ") => (first, parted) = (Some(index + 1), false),
            Some(_) if line.trim_end() == "=======" => parted = true,
            Some(start) if parted && line.starts_with(">>>>>>> ") => return Some(start),
            _ => {}
        }
    }
    None
}

/// Returns a text with the first side of each conflict, to see what it would be.
pub(crate) fn first_side(text: &str) -> String {
    let mut out = String::new();
    // 0 outside, 1 in the first side, 2 in another.
    let mut part = 0;
    for line in text.split_inclusive('\n') {
        match part {
            0 if line.starts_with("<<<<<<< ") => part = 1,
            1 if line.starts_with("||||||| ") || line.trim_end() == "=======" => part = 2,
            2 if line.starts_with(">>>>>>> ") => part = 0,
            2 => {}
            _ => out += line,
        }
    }
    out
}
