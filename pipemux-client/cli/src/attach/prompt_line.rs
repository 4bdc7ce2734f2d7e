//! The line that a person types: characters as a reader counts them, so that the cursor never
//! stands within one.

use unicode_segmentation::UnicodeSegmentation;

use super::rows::{fitted, inert};

/// Most bytes of a line.
pub const LINE_MAX: usize = 64 * 1024;

/// Most rows that the line takes on the terminal; of a longer one the rows around the cursor are
/// shown.
const ROWS_MAX: usize = 5;

/// The symbol for a line break within the line.
const LINE_BREAK: &str = "⏎";

/// The line that is being typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptLine {
    text: String,
    /// The byte position at which the next character is inserted.
    cursor: usize,
}

/// The visible part of a line.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    pub rows: Vec<String>,
    /// The row of the cursor within `rows`, and its column.
    pub cursor: (u16, u16),
}

impl PromptLine {
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn set(&mut self, text: String) {
        self.cursor = text.len();
        self.text = text;
    }

    /// Returns the line, which is empty afterwards.
    pub fn take(&mut self) -> String {
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }

    /// Inserts a text at the cursor; false if the line would become too long. Other line breaks
    /// become `\n`.
    pub fn insert(&mut self, text: &str) -> bool {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        if self.text.len() + text.len() > LINE_MAX {
            return false;
        }
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
        true
    }

    pub fn backspace(&mut self) {
        let end = self.cursor;
        self.left();
        self.text.replace_range(self.cursor..end, "");
    }

    pub fn delete(&mut self) {
        let end = self.next();
        self.text.replace_range(self.cursor..end, "");
    }

    /// Removes the word before the cursor, with the spaces behind it.
    pub fn delete_word(&mut self) {
        let before = self.text[..self.cursor].trim_end();
        let start = before.split_word_bound_indices().next_back().map_or(0, |(start, _)| start);
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    /// Removes what stands before the cursor.
    pub fn delete_to_start(&mut self) {
        self.text.replace_range(..self.cursor, "");
        self.cursor = 0;
    }

    pub fn left(&mut self) {
        let before = self.text[..self.cursor].graphemes(true).next_back();
        self.cursor -= before.map_or(0, str::len);
    }

    pub fn right(&mut self) {
        self.cursor = self.next();
    }

    pub fn start(&mut self) {
        self.cursor = 0;
    }

    pub fn end(&mut self) {
        self.cursor = self.text.len();
    }

    fn next(&self) -> usize {
        let behind = self.text[self.cursor..].graphemes(true).next();
        self.cursor + behind.map_or(0, str::len)
    }

    /// Lays the line out in rows of `width` columns. A secret line is shown as dots.
    pub fn show(&self, width: u16, secret: bool) -> Shown {
        let width = usize::from(width.max(1));
        let mut rows = vec![String::new()];
        let (mut columns, mut cursor) = (0, None);
        for (at, cluster) in self.text.grapheme_indices(true) {
            let shown = match cluster {
                _ if secret => "•".to_owned(),
                "\n" => LINE_BREAK.to_owned(),
                cluster => inert(cluster),
            };
            // A code point may be wider than a narrow terminal: it is shown character by character.
            let mut first = true;
            for shown in shown.graphemes(true) {
                let (shown, wide) = fitted(shown, width);
                if columns + wide > width {
                    rows.push(String::new());
                    columns = 0;
                }
                if std::mem::take(&mut first) && at == self.cursor {
                    cursor = Some((rows.len() - 1, columns));
                }
                if let Some(row) = rows.last_mut() {
                    row.push_str(shown);
                }
                columns += wide;
            }
        }
        let (mut row, column) = cursor.unwrap_or_else(|| {
            if columns >= width {
                rows.push(String::new());
                columns = 0;
            }
            (rows.len() - 1, columns)
        });
        let skipped = (row + 1).saturating_sub(ROWS_MAX);
        rows.drain(..skipped);
        rows.truncate(ROWS_MAX);
        row -= skipped;
        let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        Shown { rows, cursor: (short(row), short(column)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> PromptLine {
        let mut line = PromptLine::default();
        assert!(line.insert(text));
        line
    }

    #[test]
    fn keys_move_by_whole_characters() {
        let mut line = line("规👨‍👩‍👧e\u{301}");
        line.backspace();
        assert_eq!(line.text(), "规👨‍👩‍👧");
        line.left();
        line.left();
        line.left();
        line.insert("x");
        line.right();
        line.delete();
        assert_eq!(line.text(), "x规");
        line.delete();
        line.delete_to_start();
        line.backspace();
        assert_eq!(line.take(), "");
    }

    #[test]
    fn word_before_the_cursor_is_removed() {
        let mut line = line("ship the plan  ");
        line.delete_word();
        assert_eq!(line.text(), "ship the ");
        for _ in 0..5 {
            line.delete_word();
        }
        assert_eq!(line.text(), "");
    }

    #[test]
    fn long_line_is_shown_around_its_cursor() {
        let mut line = line(&"规划".repeat(20));
        let shown = line.show(5, false);
        assert_eq!((shown.rows.len(), shown.cursor), (5, (4, 4)));
        assert_eq!(shown.rows[0], "规划");
        line.start();
        assert_eq!(line.show(5, false).cursor, (0, 0));
    }

    #[test]
    fn line_is_inert_and_a_secret_one_hidden() {
        assert_eq!(line("a\x1b\nb").show(40, false).rows, ["a\\u{001b}⏎b"]);
        assert_eq!(line("密码1").show(40, true).rows, ["•••"]);
        assert!(!line("").insert(&"x".repeat(LINE_MAX + 1)));
        // Any width is survived.
        for width in 0..4 {
            line("规\x1b划").show(width, false);
        }
    }
}
