//! A block of code: a dim bar before each row, and numbers of lines in a column of their own.

use super::look::{Line, Look, Span, Theme};

/// Returns the lines of a block, without its fences.
pub fn lines(code: &str, theme: Theme) -> Vec<Line> {
    let texts: Vec<&str> = code.split_terminator('\n').collect();
    let numbers: Option<Vec<&str>> = texts.iter().map(|line| number(line)).collect();
    let widest = numbers.iter().flatten().map(|number| number.len()).max();
    let bar = || Span::new(theme.bar(), Look::DIM);
    let line = |(at, text): (usize, &&str)| {
        let number = numbers.as_ref().and_then(|numbers| numbers.get(at)).copied();
        let gutter = widest.zip(number).map(|(widest, number)| format!("{number:>widest$} "));
        let gutter = gutter.unwrap_or_default();
        // Behind the number and its tab.
        let code = text.get(number.map_or(0, |number| number.len() + 1)..).unwrap_or_default();
        let below = " ".repeat(gutter.len());
        Line {
            first: vec![bar(), Span::new(gutter, Look::DIM)],
            rest: vec![bar(), Span::new(below, Look::DIM)],
            body: vec![Span::new(code, Look::PLAIN)],
            things: Vec::new(),
        }
    };
    texts.iter().enumerate().map(line).collect()
}

/// Returns the number that the daemon wrote before a line, with a tab behind it.
fn number(line: &str) -> Option<&str> {
    let (number, _) = line.split_once('\t')?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}
