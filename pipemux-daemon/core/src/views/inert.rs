//! Making text inert: what only looks like an anchor, a fence or a heading of ours acts as none.
//!
//! Source: Proposal-0001, "anchor injection": content is escaped, anchors come from the registry only.

use std::borrow::Cow;

use pipemux_proto::text::SharedText;

/// Writes Markdown, keeping track of what stands before the next character, so that nothing becomes an
/// anchor across two pieces.
#[derive(Debug, Default)]
pub struct Writer {
    out: String,
    /// While all that was written is the begin of a known text: that, and how much of it. `out` is empty then.
    known: Option<(SharedText, usize)>,
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

    /// Lets some tokens pass. What is written is likely to be the known text once more: then it is compared
    /// with that, and nothing is copied.
    #[must_use]
    pub fn after(known: Option<SharedText>, tokens: Tokens) -> Self {
        Self { out: String::new(), known: known.map(|known| (known, 0)), tokens }
    }

    /// Bytes written so far.
    pub fn written(&self) -> usize {
        self.so_far().len()
    }

    /// What was written.
    pub fn finish(self) -> String {
        match self.known {
            Some((known, met)) => known[..met].to_owned(),
            None => self.out,
        }
    }

    /// What was written; the known text itself, if it is that once more.
    pub fn finish_shared(self) -> Result<SharedText, String> {
        match self.known {
            Some((known, met)) if met == known.len() => Ok(known),
            _ => Err(self.finish()),
        }
    }

    fn so_far(&self) -> &str {
        match &self.known {
            Some((known, met)) => &known[..*met],
            None => &self.out,
        }
    }

    fn push_str(&mut self, text: &str) {
        if let Some((known, met)) = &mut self.known {
            if known[*met..].starts_with(text) {
                *met += text.len();
                return;
            }
            let mut out = String::with_capacity(known.len().max(*met + text.len()) + ROOM);
            out.push_str(&known[..*met]);
            (self.out, self.known) = (out, None);
        }
        self.out.push_str(text);
    }

    fn push(&mut self, c: char) {
        self.push_str(c.encode_utf8(&mut [0; 4]));
    }

    /// Writes the daemon's own Markdown.
    pub fn raw(&mut self, markdown: &str) {
        self.push_str(markdown);
    }

    /// Writes a number.
    pub fn number(&mut self, number: u64) {
        let (mut digits, mut at, mut left) = ([b'0'; 20], 20, number);
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        self.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
    }

    /// Ends the line, if one is begun.
    pub fn end_line(&mut self) {
        let so_far = self.so_far();
        if !so_far.is_empty() && !so_far.ends_with('\n') {
            self.push('\n');
        }
    }

    /// Writes exact text, letter by letter but for control characters, which are shown as pictures. True when
    /// it has none.
    pub fn exact(&mut self, text: &str) -> bool {
        // What was written once has none: it was written in the same way.
        if let Some((known, met)) = &mut self.known
            && known[*met..].starts_with(text)
        {
            *met += text.len();
            return true;
        }
        let printable = printable(text);
        self.push_str(&printable);
        matches!(printable, Cow::Borrowed(_))
    }

    /// Writes an app's Markdown, made inert.
    pub fn text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = first(rest, TEXT) {
            let (plain, from) = rest.split_at(at);
            self.push_str(plain);
            let Some(c) = from.chars().next() else { break };
            if (self.begins_block(c, from)
                || needs_escape(c, self.so_far(), from)
                || self.forges_token(c, from))
                && !is_escaped(self.so_far())
            {
                self.push('\\');
            }
            self.push(visible(c));
            rest = &from[c.len_utf8()..];
        }
        self.push_str(rest);
    }

    /// Writes a link's or object's label: one line, no brackets that could end it.
    pub fn label(&mut self, label: &str) {
        let mut rest = label;
        while let Some(at) = first(rest, LABEL) {
            let (plain, from) = rest.split_at(at);
            self.push_str(plain);
            let Some(c) = from.chars().next() else { break };
            match c {
                '[' | ']' | '\\' | '`' | '<' => {
                    self.push('\\');
                    self.push(c);
                }
                // Not needed in Markdown, but a reader may know less of it.
                '(' if self.so_far().ends_with(']') => self.push_str("\\("),
                '\n' | '\r' | '\t' => self.push(' '),
                other => self.push(visible(other)),
            }
            rest = &from[c.len_utf8()..];
        }
        self.push_str(rest);
    }

    /// Writes exact text in a fence longer than any run of backticks in it. Returns the fence.
    pub fn fence(&mut self, lang: &str, text: &str) -> String {
        let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
        self.end_line();
        self.push_str(&fence);
        let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '.');
        lang.chars().filter(fits).for_each(|c| self.push(c));
        self.push('\n');
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
        if c != '[' || !self.so_far().ends_with('[') {
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
        let so_far = self.so_far();
        let before = so_far.trim_end_matches(' ');
        let spaces = so_far.len() - before.len();
        (before.is_empty() || before.ends_with('\n')).then_some(spaces)
    }
}

/// Bytes that a text may have more than the one it was before.
const ROOM: usize = 64;

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

/// The length of the longest run of an ASCII character.
pub fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut rest) = (0, text);
    while let Some(at) = rest.find(wanted) {
        let from = &rest[at..];
        rest = from.trim_start_matches(wanted);
        longest = longest.max(from.len() - rest.len());
    }
    longest
}

#[cfg(test)]
mod tests;
