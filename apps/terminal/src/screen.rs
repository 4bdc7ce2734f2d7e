//! What the terminal shows: only programs that draw on it are followed, since everything else is
//! lines.

use std::num::NonZero;

use memchr::memmem;
use vt100::Parser;

use crate::limits::{COLUMNS, ROWS};

/// Sequences by which a program takes over or clears the whole screen.
const DRAWS: &[&[u8]] = &[b"\x1b[?1049h", b"\x1b[?1047h", b"\x1b[?47h", b"\x1b[2J", b"\x1bc"];

/// The sequence that moves the cursor to the first line.
const HOME: &[u8] = b"\x1b[H";
/// The number of returns to the first line after which a program counts as drawing.
const REDRAWS: u64 = 3;

#[derive(Default)]
pub struct Screen {
    parser: Option<Parser>,
    /// True once a program had the whole screen.
    was_taken: bool,
    /// The number of times that the program continued in the first line of the screen.
    returns: u64,
}

impl Screen {
    /// Takes in what was printed; `tail` are the newest bytes, these among them.
    pub fn take(&mut self, bytes: &[u8], tail: &[u8]) {
        if let Some(parser) = &mut self.parser {
            parser.process(bytes);
            self.was_taken |= parser.screen().alternate_screen();
            self.returns += memmem::find_iter(bytes, HOME).count() as u64;
            return;
        }
        // Such a sequence may begin in the bytes before.
        let from = tail.len().saturating_sub(bytes.len() + 8);
        if DRAWS.iter().any(|draws| memmem::find(&tail[from..], draws).is_some()) {
            let parser = parse(tail);
            self.was_taken = parser.screen().alternate_screen();
            self.parser = Some(parser);
        }
    }

    /// Returns true while a program has the whole screen for itself.
    pub fn is_taken(&self) -> bool {
        self.parser.as_ref().is_some_and(|parser| parser.screen().alternate_screen())
    }

    /// Returns true if what was printed are no lines: a program had the whole screen, or drew it
    /// again and again. One that only clears it, as many do that watch files, prints lines.
    pub fn is_drawn(&self) -> bool {
        self.was_taken || self.returns >= REDRAWS
    }

    /// Returns true if cursor keys are sent as such a program wants them.
    pub fn has_application_cursor(&self) -> bool {
        self.parser.as_ref().is_some_and(|parser| parser.screen().application_cursor())
    }

    /// Returns the lines of the screen without empty ones at its end, and the cursor's line and
    /// column from 1.
    pub fn text(&self, tail: &[u8]) -> (Vec<String>, (u16, u16)) {
        let own;
        let parser = match &self.parser {
            Some(parser) => parser,
            None => {
                own = parse(tail);
                &own
            }
        };
        let screen = parser.screen();
        let (rows, columns) = screen.size();
        let mut lines: Vec<String> =
            screen.rows(0, columns.get()).take(rows.get().into()).collect();
        lines
            .iter_mut()
            .for_each(|line| *line = pipemux_problems::visible(line.trim_end().as_bytes()));
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        let (row, column) = screen.cursor_position();
        (lines, (row + 1, column + 1))
    }
}

fn parse(bytes: &[u8]) -> Parser {
    let size = |count: u16| NonZero::new(count).unwrap_or(NonZero::<u16>::MIN);
    let mut parser = Parser::new(size(ROWS), size(COLUMNS), 0);
    parser.process(bytes);
    parser
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screen_is_what_a_person_would_see() {
        let mut screen = Screen::default();
        screen.take(b"before\r\n", b"before\r\n");
        assert!(!screen.is_taken());
        assert_eq!(screen.text(b"before\r\nx").0, ["before", "x"]);
        let tail = b"before\r\n\x1b[?1049h\x1b[2J\x1b[3;5Hhello\x1b[H";
        screen.take(&tail[8..12], &tail[..12]);
        screen.take(&tail[12..], tail);
        assert!(screen.is_taken());
        assert_eq!(screen.text(b""), (vec!["".into(), "".into(), "    hello".into()], (1, 1)));
        screen.take(b"\x1b[?1049l", b"");
        assert!(!screen.is_taken());
    }
}
