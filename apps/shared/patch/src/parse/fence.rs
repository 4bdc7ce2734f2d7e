//! The Markdown fences around patches.

/// The fence that is open after these lines.
pub(super) fn open_fence<'l>(lines: &[&'l str]) -> Option<&'l str> {
    let mut open: Option<&str> = None;
    for line in lines {
        match open {
            Some(fence) if closes(fence, line) => open = None,
            Some(_) => {}
            None => open = fence_of(line),
        }
    }
    open
}

/// The backticks or tildes that a line opens a fence with.
pub(super) fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start_matches([' ', '\t', '>']);
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let fence = &line[..line.len() - line.trim_start_matches(mark).len()];
    (fence.len() >= 3 && !line[fence.len()..].contains('`')).then_some(fence)
}

pub(super) fn closes(fence: &str, line: &str) -> bool {
    let line = line.trim_matches([' ', '\t', '>']);
    line.len() >= fence.len()
        && line.trim_start_matches(fence.chars().next().unwrap_or('`')).is_empty()
}
