//! Writes Markdown in which a text of an app can't form an anchor, a fence or a window's heading.

use std::borrow::Cow;

use pipemux_proto::text::{SharedText, code_point, is_deceptive, is_deceptive_in_prose};
use pipemux_tokens::work::{position_within, spend};

use crate::foreign::text::ForeignStr;
use crate::limits::TOKEN_PREFIX_MAX;

use crate::foreign::inert::blocks::{LineStart, is_marker, language, starts_block};

/// Writes Markdown. It knows the text before the next character, so that two pieces can't form an
/// anchor together.
#[derive(Debug, Default)]
pub struct Writer<'a> {
    out: String,
    /// The expected text and how much of it was written, as long as nothing else was: `out` is
    /// empty then.
    expected: Option<(SharedText, usize)>,
    pub(super) tokens: RefTokens<'a>,
}

/// The ref tokens (`[[MT:Node:7]]`) that may pass unescaped in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RefTokens<'a> {
    /// No ref token passes; each is escaped.
    #[default]
    None,
    /// Tokens of this prefix: the app declared it, and mints the tokens itself.
    WithPrefix(&'a str),
    /// All ref tokens pass, since the reader wrote them.
    All,
}

impl<'a> RefTokens<'a> {
    /// Returns the ref tokens that may pass in the text of an app that declared this prefix, if
    /// any.
    pub fn of_app(prefix: Option<&'a str>) -> Self {
        prefix.map_or(RefTokens::None, RefTokens::WithPrefix)
    }
}

impl<'a> Writer<'a> {
    /// Makes a writer that lets some ref tokens pass, for a text that is likely to be the expected
    /// one: as long as it is, the text is compared and not copied.
    #[must_use]
    pub fn expecting(expected: Option<SharedText>, tokens: RefTokens<'a>) -> Self {
        Self { out: String::new(), expected: expected.map(|expected| (expected, 0)), tokens }
    }

    /// Returns the number of bytes written so far.
    pub fn written(&self) -> usize {
        self.so_far().len()
    }

    /// Returns what was written.
    pub fn finish(self) -> String {
        match self.expected {
            Some((expected, matched)) => expected[..matched].to_owned(),
            None => self.out,
        }
    }

    /// Returns what was written: the expected text itself as `Ok` if it is the same.
    pub fn finish_shared(self) -> Result<SharedText, String> {
        match self.expected {
            Some((expected, matched)) if matched == expected.len() => Ok(expected),
            _ => Err(self.finish()),
        }
    }

    fn so_far(&self) -> &str {
        match &self.expected {
            Some((expected, matched)) => &expected[..*matched],
            None => &self.out,
        }
    }

    fn push_str(&mut self, text: &str) {
        if let Some((expected, matched)) = &mut self.expected {
            if expected[*matched..].starts_with(text) {
                *matched += text.len();
                return;
            }
            let mut out = String::with_capacity(expected.len().max(*matched + text.len()) + ROOM);
            out.push_str(&expected[..*matched]);
            (self.out, self.expected) = (out, None);
        }
        self.out.push_str(text);
    }

    fn push(&mut self, c: char) {
        self.push_str(c.encode_utf8(&mut [0; 4]));
    }

    /// Writes a character, or its code point if it would change how other text is shown.
    fn push_visible(&mut self, c: char) {
        match is_deceptive_in_prose(c) {
            true => self.push_str(&code_point(c)),
            false => self.push(c),
        }
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

    /// Ends the line, unless nothing was written in it.
    pub fn end_line(&mut self) {
        let so_far = self.so_far();
        if !so_far.is_empty() && !so_far.ends_with('\n') {
            self.push('\n');
        }
    }

    /// Writes exact text; only characters that would change how other text is shown are replaced by
    /// their code points. Returns true when the text has none.
    pub fn exact<'t>(&mut self, text: impl Into<ForeignStr<'t>>) -> bool {
        let text = text.into().0;
        spend(text.len());
        // The expected text has none: it was written in the same way.
        if let Some((expected, matched)) = &mut self.expected
            && expected[*matched..].starts_with(text)
        {
            *matched += text.len();
            return true;
        }
        let printable = printable(text);
        self.push_str(&printable);
        matches!(printable, Cow::Borrowed(_))
    }

    /// Writes an app's Markdown, made inert.
    pub fn text<'t>(&mut self, text: impl Into<ForeignStr<'t>>) {
        let text = text.into().0;
        spend(text.len());
        let mut rest = text;
        while let Some(at) = first_special(rest, TEXT) {
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
            self.push_visible(c);
            rest = &from[c.len_utf8()..];
        }
        self.push_str(rest);
    }

    /// Writes an app's Markdown as part of one line, made inert.
    pub fn one_line<'t>(&mut self, text: impl Into<ForeignStr<'t>>) {
        let text = text.into().0;
        match text.contains(['\n', '\r']) {
            true => self.text(&text.replace(['\n', '\r'], " ")),
            false => self.text(text),
        }
    }

    /// Writes a link's or object's label as one line, with brackets escaped that could end it.
    pub fn label<'t>(&mut self, label: impl Into<ForeignStr<'t>>) {
        let label = label.into().0;
        spend(label.len());
        let mut rest = label;
        while let Some(at) = first_special(rest, LABEL) {
            let (plain, from) = rest.split_at(at);
            self.push_str(plain);
            let Some(c) = from.chars().next() else { break };
            match c {
                '[' | ']' | '\\' | '`' | '<' => {
                    self.push('\\');
                    self.push(c);
                }
                // Markdown doesn't require this, but a simple parser might see a link.
                '(' if self.so_far().ends_with(']') => self.push_str("\\("),
                '\n' | '\r' | '\t' => self.push(' '),
                other => self.push_visible(other),
            }
            rest = &from[c.len_utf8()..];
        }
        self.push_str(rest);
    }

    /// Begins a fence for exact text, longer than any run of backticks in it. Returns the closing
    /// fence.
    pub fn fence<'t, 'l>(
        &mut self,
        lang: impl Into<ForeignStr<'l>>,
        text: impl Into<ForeignStr<'t>>,
    ) -> String {
        let (lang, text) = (lang.into().0, text.into().0);
        let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
        self.end_line();
        self.push_str(&fence);
        self.push_str(language(lang));
        self.push('\n');
        fence
    }

    /// Returns true for a character that begins a fence or a window's heading at this place of the
    /// line.
    fn begins_block(&self, c: char, from: &str) -> bool {
        matches!(c, '#' | '`' | '~')
            && self.line_start().is_some_and(|start| starts_block(from, start))
    }

    /// Returns true for the second bracket of a ref token that may not pass: `[[MT:Node:7]]`.
    fn forges_token(&self, c: char, rest: &str) -> bool {
        if c != '[' || !self.so_far().ends_with('[') {
            return false;
        }
        let after = &rest[1..];
        match (&self.tokens, token_prefix(after)) {
            (RefTokens::All, _) => false,
            (RefTokens::WithPrefix(own), Some(prefix)) => *own != prefix,
            (RefTokens::None, Some(_)) => true,
            // The token may continue in the next piece.
            (_, None) => after.is_empty(),
        }
    }

    /// Returns what stands before a block that begins here, or none if the line has begun with
    /// something else.
    fn line_start(&self) -> Option<LineStart> {
        let so_far = self.so_far();
        let line = |before: &str| before.is_empty() || before.ends_with('\n');
        let before = so_far.trim_end_matches(' ');
        spend(so_far.len() - before.len() + 1);
        if line(before) {
            let spaces = so_far.len() - before.len();
            return Some(if spaces <= 3 { LineStart::Outermost } else { LineStart::Inside });
        }
        let marked = so_far.trim_end_matches(is_marker);
        spend(so_far.len() - marked.len());
        line(marked).then_some(LineStart::Inside)
    }
}

/// Spare capacity, in bytes, for a text that is longer than the expected one.
const ROOM: usize = 64;

/// Bits of [`SPECIAL`]: the bytes that [`Writer::text`], [`Writer::label`] and [`printable`] may
/// have to change.
const TEXT: u8 = 1;
const LABEL: u8 = 2;
const EXACT: u8 = 4;

/// The bytes that may begin something that is escaped or replaced; most bytes of a window are
/// others.
static SPECIAL: [u8; 256] = {
    let mut special = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        special[byte] = match byte as u8 {
            b'\n' | b'\t' => LABEL,
            // Includes the first bytes of U+0080 to U+009F, of the marks that reorder text, and of
            // tag characters.
            0..0x20 | 0x7f | 0xc2 | 0xe2 | 0xf3 => TEXT | LABEL | EXACT,
            // The first byte of U+FEFF.
            0xef => TEXT | LABEL,
            b'#' | b'~' | b':' => TEXT,
            b'(' | b'[' | b'`' | b'<' => TEXT | LABEL,
            b']' | b'\\' => LABEL,
            _ => 0,
        };
        byte += 1;
    }
    special
};

/// Returns the place of the first special byte of a class.
fn first_special(text: &str, class: u8) -> Option<usize> {
    let (eights, _) = text.as_bytes().as_chunks::<8>();
    let has = |eight: &[u8; 8]| {
        eight.iter().fold(0, |all, byte| all | SPECIAL[usize::from(*byte)]) & class != 0
    };
    let skipped = eights.iter().position(has).unwrap_or(eights.len()) * 8;
    let rest = &text.as_bytes()[skipped..];
    let at = rest.iter().position(|byte| SPECIAL[usize::from(*byte)] & class != 0)?;
    Some(skipped + at)
}

/// Returns true for a text in which nothing is escaped or replaced when it follows other text in
/// its line.
pub(super) fn is_plain_line(text: &str) -> bool {
    spend(text.len());
    !text.contains('\n') && first_special(text, TEXT).is_none()
}

/// Returns true when the next character is escaped already: another backslash would undo that.
fn is_escaped(before: &str) -> bool {
    let backslashes = before.len() - before.trim_end_matches('\\').len();
    spend(backslashes + 1);
    backslashes % 2 == 1
}

/// Returns true when `c` would form an anchor with the text around it.
fn needs_escape(c: char, before: &str, rest: &str) -> bool {
    let anchor = |text: &str| text.starts_with("obj:") || text.starts_with("link:");
    let after = &rest[c.len_utf8()..];
    match c {
        // A destination after a label: only the usual schemes pass, since the next piece may
        // complete others.
        '(' if before.ends_with(']') => {
            !["http:", "https:", "mailto:", "#", "/", "./"].iter().any(|s| after.starts_with(s))
        }
        ':' if before.ends_with(']') => true,
        '<' => anchor(after) || after.is_empty(),
        _ => false,
    }
}

/// Returns the prefix of a ref token from the text after its brackets: `MT` of `MT:Node:7]]`. No
/// more of the text is looked at than a prefix may be long.
fn token_prefix(after: &str) -> Option<&str> {
    let end = position_within(after, TOKEN_PREFIX_MAX + 1, |byte| byte == b':')?;
    let prefix = &after[..end];
    let upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let fits = (1..=TOKEN_PREFIX_MAX).contains(&prefix.len()) && prefix.bytes().all(upper);
    (fits && prefix.starts_with(|c: char| c.is_ascii_uppercase())).then_some(prefix)
}

/// Replaces what would change how exact text is shown by code points, so that it may reach a
/// terminal. `read` returns the text unchanged.
pub fn printable<'t>(text: impl Into<ForeignStr<'t>>) -> Cow<'t, str> {
    let text = text.into().0;
    spend(text.len());
    let Some(at) = first_special(text, EXACT) else { return Cow::Borrowed(text) };
    if !text[at..].contains(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + ROOM);
    for c in text.chars() {
        match is_deceptive(c) {
            true => out.push_str(&code_point(c)),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Returns the length of the longest run of an ASCII character.
pub fn longest_run(text: &str, repeated: char) -> usize {
    spend(text.len());
    let (mut longest, mut rest) = (0, text);
    while let Some(at) = rest.find(repeated) {
        let from = &rest[at..];
        rest = from.trim_start_matches(repeated);
        longest = longest.max(from.len() - rest.len());
    }
    longest
}

#[cfg(test)]
mod tests;
