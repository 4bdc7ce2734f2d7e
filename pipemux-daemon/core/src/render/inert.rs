//! Making text inert: what only looks like an anchor, a fence or a heading of ours acts as none.
//!
//! Source: Proposal-0001, "anchor injection": content is escaped, anchors come from the registry only.

use std::borrow::Cow;

/// Writes Markdown, keeping track of what stands before the next character, so that nothing becomes an
/// anchor across two pieces.
#[derive(Debug, Default)]
pub struct Writer {
    out: String,
    tokens: Tokens,
}

/// Which tokens (`[[MT:Node:7]]`) in a text may pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Tokens {
    /// None.
    #[default]
    Inert,
    /// Those of this prefix: the app declared it and mints them itself.
    Of(String),
    /// All: the text is the daemon's own sentence.
    Live,
}

impl Writer {
    /// Lets some tokens pass.
    #[must_use]
    pub fn with(tokens: Tokens) -> Self {
        Self { tokens, ..Self::default() }
    }

    /// Lets some tokens pass; with room for so many bytes.
    #[must_use]
    pub fn with_room(tokens: Tokens, room: usize) -> Self {
        Self { out: String::with_capacity(room), tokens }
    }

    /// Bytes written so far.
    pub fn written(&self) -> usize {
        self.out.len()
    }

    /// What was written.
    pub fn finish(self) -> String {
        self.out
    }

    /// Writes the daemon's own Markdown.
    pub fn raw(&mut self, markdown: &str) {
        self.out.push_str(markdown);
    }

    /// Writes a number.
    pub fn number(&mut self, number: u64) {
        let (mut digits, mut at, mut left) = (['0'; 20], 20, number);
        loop {
            at -= 1;
            digits[at] = char::from(b'0' + (left % 10) as u8);
            left /= 10;
            if left == 0 {
                break;
            }
        }
        self.out.extend(&digits[at..]);
    }

    /// Ends the line, if one is begun.
    pub fn end_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Writes an app's Markdown, made inert.
    pub fn text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = first(rest, TEXT) {
            let (plain, from) = rest.split_at(at);
            self.out.push_str(plain);
            let Some(c) = from.chars().next() else { break };
            if (self.begins_block(c, from)
                || needs_escape(c, &self.out, from)
                || self.forges_token(c, from))
                && !is_escaped(&self.out)
            {
                self.out.push('\\');
            }
            self.out.push(visible(c));
            rest = &from[c.len_utf8()..];
        }
        self.out.push_str(rest);
    }

    /// Writes a link's or object's label: one line, no brackets that could end it.
    pub fn label(&mut self, label: &str) {
        let mut rest = label;
        while let Some(at) = first(rest, LABEL) {
            let (plain, from) = rest.split_at(at);
            self.out.push_str(plain);
            let Some(c) = from.chars().next() else { break };
            match c {
                '[' | ']' | '\\' | '`' | '<' => self.out.extend(['\\', c]),
                // Not needed in Markdown, but a reader may know less of it.
                '(' if self.out.ends_with(']') => self.out.push_str("\\("),
                '\n' | '\r' | '\t' => self.out.push(' '),
                other => self.out.push(visible(other)),
            }
            rest = &from[c.len_utf8()..];
        }
        self.out.push_str(rest);
    }

    /// Writes exact text in a fence longer than any run of backticks in it. Returns the fence.
    pub fn fence(&mut self, lang: &str, text: &str) -> String {
        let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
        self.end_line();
        self.out.push_str(&fence);
        self.out.extend(
            lang.chars()
                .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '.')),
        );
        self.out.push('\n');
        fence
    }

    /// True for a sign that begins a fence or a window's heading where the line stands.
    fn begins_block(&self, c: char, from: &str) -> bool {
        matches!(c, '#' | '`' | '~')
            && self.indent().is_some_and(|spaces| spaces <= 3)
            && starts_block(from)
    }

    /// True for the second bracket of what would pass for a token: `[[MT:Node:7]]`.
    fn forges_token(&self, c: char, rest: &str) -> bool {
        if c != '[' || !self.out.ends_with('[') {
            return false;
        }
        let after = &rest[1..];
        match (&self.tokens, token_prefix(after)) {
            (Tokens::Live, _) => false,
            (Tokens::Of(own), Some(prefix)) => own != prefix,
            (Tokens::Inert, Some(_)) => true,
            // It may go on in the next piece.
            (_, None) => after.is_empty(),
        }
    }

    /// How many spaces the line has so far; none once it has anything else.
    fn indent(&self) -> Option<usize> {
        let spaces = self.out.len() - self.out.trim_end_matches(' ').len();
        let before = &self.out[..self.out.len() - spaces];
        (before.is_empty() || before.ends_with('\n')).then_some(spaces)
    }
}

/// Bits of [`SIGNAL`]: what [`Writer::text`], [`Writer::label`] and [`printable`] have to look at.
const TEXT: u8 = 1;
const LABEL: u8 = 2;
const EXACT: u8 = 4;

/// The bytes that may begin something which isn't written as it is; most bytes of a window don't.
static SIGNAL: [u8; 256] = {
    let mut signal = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        signal[byte] = match byte as u8 {
            b'\n' | b'\t' => LABEL,
            // What begins U+0080 to U+009F, too.
            0..0x20 | 0x7f | 0xc2 => TEXT | LABEL | EXACT,
            b'#' | b'~' | b':' => TEXT,
            b'(' | b'[' | b'`' | b'<' => TEXT | LABEL,
            b']' | b'\\' => LABEL,
            _ => 0,
        };
        byte += 1;
    }
    signal
};

/// Where the first byte stands that has a look to be taken at.
fn first(text: &str, wanted: u8) -> Option<usize> {
    let (eights, _) = text.as_bytes().as_chunks::<8>();
    let has = |eight: &[u8; 8]| {
        eight.iter().fold(0, |all, byte| all | SIGNAL[usize::from(*byte)]) & wanted != 0
    };
    let skipped = eights.iter().position(has).unwrap_or(eights.len()) * 8;
    let rest = &text.as_bytes()[skipped..];
    let at = rest.iter().position(|byte| SIGNAL[usize::from(*byte)] & wanted != 0)?;
    Some(skipped + at)
}

/// True for what begins a fence or a window's heading.
fn starts_block(rest: &str) -> bool {
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let heading = (1..=2).contains(&hashes)
        && rest[hashes..].chars().next().is_none_or(|c| c.is_whitespace());
    // A run that reaches the end may go on in the next piece.
    let fence = |c: char| {
        let run = rest.len() - rest.trim_start_matches(c).len();
        run >= 3 || (run > 0 && run == rest.len())
    };
    heading || fence('`') || fence('~')
}

/// True when what comes next is escaped already: another backslash would undo that.
fn is_escaped(before: &str) -> bool {
    (before.len() - before.trim_end_matches('\\').len()) % 2 == 1
}

/// One line of an app's text that stands behind something else: nothing in it begins a line.
pub fn line(text: &str) -> String {
    // Something before it, so that it isn't taken for a line's start.
    let mut writer = Writer { out: ".".into(), ..Writer::default() };
    writer.text(&text.replace(['\n', '\r'], " "));
    writer.finish().split_off(1)
}

/// One line of an app's text that begins a line.
pub fn whole_line(text: &str) -> String {
    lines(text.replace(['\n', '\r'], " ").trim_start())
}

/// Lines of an app's text.
pub fn lines(text: &str) -> String {
    let mut writer = Writer::default();
    writer.text(text.trim_end());
    writer.finish()
}

/// Lines of a sentence about refs: tokens in it are what the reader wrote.
pub fn sentence(text: &str) -> String {
    let mut writer = Writer::with(Tokens::Live);
    writer.text(text.trim_end());
    writer.finish()
}

/// True when `c` would make an anchor of what stands around it.
fn needs_escape(c: char, before: &str, rest: &str) -> bool {
    let anchor = |text: &str| text.starts_with("obj:") || text.starts_with("link:");
    let after = &rest[c.len_utf8()..];
    match c {
        // A destination behind a label: only the usual schemes pass, for the next piece may go on.
        '(' if before.ends_with(']') => {
            !["http:", "https:", "mailto:", "#", "/", "./"].iter().any(|s| after.starts_with(s))
        }
        ':' if before.ends_with(']') => true,
        '<' => anchor(after) || after.is_empty(),
        _ => false,
    }
}

/// The prefix of a token behind its brackets: `MT` of `MT:Node:7]]`.
fn token_prefix(after: &str) -> Option<&str> {
    let (prefix, _) = after.split_once(':')?;
    let upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let fits = (1..=8).contains(&prefix.len()) && prefix.bytes().all(upper);
    (fits && prefix.starts_with(|c: char| c.is_ascii_uppercase())).then_some(prefix)
}

/// Control characters are shown as their pictures: they may not reach a terminal.
fn visible(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' => '\u{fffd}',
        other => other,
    }
}

/// A line of exact text as it may reach a terminal: letter by letter, but for control characters. `read`
/// gives them as they are.
pub fn printable(text: &str) -> Cow<'_, str> {
    if first(text, EXACT).is_some() {
        Cow::Owned(text.chars().map(visible).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// The length of the longest run of a character.
pub fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests;
