//! The lines that were typed, to be brought back.

use std::collections::VecDeque;

/// Most lines that can be brought back.
const LINES_MAX: usize = 100;

/// Earlier lines, oldest first, and which of them is in the prompt.
#[derive(Debug, Default)]
pub struct LineHistory {
    lines: VecDeque<String>,
    /// Counted from the newest; `None` while the prompt has a line of its own.
    recalled: Option<usize>,
}

impl LineHistory {
    /// Notes that a line was entered. Without one, its text is secret: it isn't kept.
    pub fn enter(&mut self, line: Option<&str>) {
        self.recalled = None;
        let Some(line) = line.filter(|line| self.lines.back().is_none_or(|last| last != line))
        else {
            return;
        };
        self.lines.push_back(line.to_owned());
        if self.lines.len() > LINES_MAX {
            self.lines.pop_front();
        }
    }

    /// Returns the line before or behind the one in the prompt, empty behind the newest; `None` if
    /// the prompt stays.
    pub fn recall(&mut self, back: bool) -> Option<String> {
        let at = match (self.recalled, back) {
            (None, true) => Some(0),
            (Some(at), true) => Some((at + 1).min(self.lines.len().saturating_sub(1))),
            (Some(at), false) => at.checked_sub(1),
            (None, false) => return None,
        };
        let line = at.and_then(|at| self.lines.iter().rev().nth(at).cloned());
        self.recalled = at.filter(|_| line.is_some());
        Some(line.unwrap_or_default())
    }
}
