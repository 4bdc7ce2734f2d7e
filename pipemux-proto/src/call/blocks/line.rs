//! One line of a message, read from the left: columns, tabs, the markers of quotes and list items.

use std::borrow::Cow;

/// The number of columns from one tab stop to the next.
const TAB: usize = 4;

/// The unread rest of a line.
#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    rest: &'a str,
    /// The column at which `rest` begins.
    column: usize,
    /// The number of columns of the last tab that haven't been skipped.
    spare: usize,
}

impl<'a> Line<'a> {
    /// Starts at the beginning of the line.
    pub fn new(text: &'a str) -> Self {
        Self { rest: text, column: 0, spare: 0 }
    }

    /// Returns the rest after its white space.
    pub fn text(&self) -> &'a str {
        self.rest.trim_start_matches([' ', '\t'])
    }

    /// Returns true if only white space is left.
    pub fn is_blank(&self) -> bool {
        self.text().is_empty()
    }

    /// Returns the number of columns of white space that come next.
    pub fn indent(&self) -> usize {
        let mut column = self.column;
        for byte in self.rest.bytes() {
            match byte {
                b' ' => column += 1,
                b'\t' => column += TAB - column % TAB,
                _ => break,
            }
        }
        column - self.column + self.spare
    }

    /// Skips columns, if necessary only a part of a tab.
    pub fn skip(&mut self, columns: usize) {
        let given = self.spare.min(columns);
        self.spare -= given;
        let end = self.column + columns - given;
        let mut following = self.rest.chars();
        while self.column < end
            && let Some(c) = following.next()
        {
            self.column += if c == '\t' { TAB - self.column % TAB } else { 1 };
            self.rest = following.as_str();
        }
        self.spare += self.column.saturating_sub(end);
    }

    /// Returns the rest without up to `columns` columns of white space.
    pub fn unindented(mut self, columns: usize) -> Cow<'a, str> {
        self.skip(columns.min(self.indent()));
        match self.spare {
            0 => Cow::Borrowed(self.rest),
            spare => Cow::Owned(" ".repeat(spare) + self.rest),
        }
    }

    /// Skips the marker of a block quote and returns true, if it comes next.
    pub fn take_quote(&mut self) -> bool {
        let indent = self.indent();
        let is_quote = indent <= 3 && self.text().starts_with('>');
        if is_quote {
            self.skip(indent + 1);
            if self.indent() > 0 {
                self.skip(1);
            }
        }
        is_quote
    }

    /// Skips the marker of a list item, if one comes next. Returns the number of columns before the
    /// item's content.
    pub fn take_marker(&mut self, in_paragraph: bool) -> Option<usize> {
        let indent = self.indent();
        let text = self.text();
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, behind) = text.split_at(digits);
        let content = match digits {
            0 => behind.strip_prefix(['-', '+', '*'])?,
            1..=9 => behind.strip_prefix(['.', ')'])?,
            _ => return None,
        };
        let is_empty = content.trim_matches([' ', '\t']).is_empty();
        let apart = is_empty || content.starts_with([' ', '\t']);
        // The line of a paragraph may begin with a number or a dash.
        let interrupts = !is_empty && (digits == 0 || number.bytes().eq(*b"1"));
        if indent > 3 || !apart || (in_paragraph && !interrupts) {
            return None;
        }
        self.skip(indent + digits + 1);
        let gap = self.indent();
        // A larger gap is indented code in the item.
        let gap = if is_empty || gap > TAB { 1 } else { gap };
        self.skip(gap.min(self.indent()));
        Some(indent + digits + 1 + gap)
    }
}

/// Returns true for `# …`.
pub(super) fn is_heading(text: &str) -> bool {
    let behind = text.trim_start_matches('#');
    (1..=6).contains(&(text.len() - behind.len()))
        && (behind.is_empty() || behind.starts_with([' ', '\t']))
}

/// Returns true for a line of three or more `*`, `-` or `_`.
pub(super) fn is_break(text: &str) -> bool {
    let sign = match text.bytes().next() {
        Some(sign @ (b'*' | b'-' | b'_')) => sign,
        _ => return false,
    };
    text.bytes().all(|b| b == sign || b == b' ' || b == b'\t')
        && text.bytes().filter(|b| *b == sign).nth(2).is_some()
}

/// Returns true for `===` or `---`, which make a heading of the paragraph above.
pub(super) fn is_underline(text: &str) -> bool {
    let text = text.trim_end_matches([' ', '\t']);
    !text.is_empty() && ["=", "-"].iter().any(|sign| text.trim_start_matches(sign).is_empty())
}
