//! Splits a script into steps, each as code of its own.

use super::error::CallError;
use super::lexer::{Lexer, TokenKind};
use super::parser::parse_undecided;
use super::span::Span;
use super::syntax_tree::{Script, Step};
use crate::value::Value;

/// Returns the code of each step, on a line of its own with its raw blocks behind it, so that any
/// of them can be carried out without the others.
///
/// # Errors
/// The code has a syntax error, or names standard input that isn't given.
pub fn split(code: &str, stdin: Option<&str>) -> Result<Vec<String>, CallError> {
    let script = parse_undecided(code, stdin)?;
    Ok(alone(code, &script))
}

/// Returns the code of each step of a script that was parsed from this code.
pub fn alone(code: &str, script: &Script) -> Vec<String> {
    let spans = script.steps.iter().map(|step| match step {
        Step::Call(call) => call.span,
        Step::Ref(_, span) => *span,
    });
    let mut lexer = Lexer::new(code);
    let mut steps: Vec<String> = Vec::new();
    for span in spans {
        let mut writer = StepWriter::default();
        // The parser has read the same tokens, so that there is no error among them.
        while lexer.at < span.end
            && let Ok(token) = lexer.token()
        {
            if token.span.start >= span.start {
                writer.push(&token.kind, written(code, token.span));
            }
        }
        steps.push(writer.line + &writer.blocks);
    }
    steps
}

/// Writes a step's own code on one line, with texts as they were written. A raw block and standard
/// input, of which the length is given, are named by their size:
/// `notes.add("t", text=stdin (4,600 bytes))`.
pub fn shown(step: &str, stdin: Option<usize>) -> String {
    let mut lexer = Lexer::new(step);
    let mut line = String::new();
    let mut gap = "";
    let mut held: Option<&str> = None;
    while let Ok(token) = lexer.token() {
        let text = written(step, token.span);
        // A word in front of these signs is a name.
        if let Some(word) = held.take() {
            line.push_str(word);
            if !matches!(token.kind, TokenKind::Sign('=' | ':' | '(')) {
                line.push_str(&stdin.map(size).unwrap_or_default());
            }
        }
        if matches!(token.kind, TokenKind::End) {
            break;
        }
        if !matches!(token.kind, TokenKind::Newline | TokenKind::Sign(')' | ']' | '}')) {
            line.push_str(gap);
        }
        gap = "";
        match &token.kind {
            TokenKind::Newline => {}
            TokenKind::Word("stdin") => held = Some(text),
            TokenKind::Text(block) if text.starts_with('<') => {
                line.push_str(text);
                line.push_str(&size(block.len()));
            }
            TokenKind::Text(content) if text.contains(char::is_control) => {
                line.push_str(&Value::Str(content.clone()).to_string());
            }
            TokenKind::Quoted(quoted) if text.contains(char::is_control) => {
                line.push_str(&Value::Str(quoted.raw.clone()).to_string());
            }
            kind => push_token(&mut line, &mut gap, kind, text),
        }
    }
    line
}

/// Returns the number of bytes as it is shown behind what has them.
pub fn size(bytes: usize) -> String {
    let digits = bytes.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!(" ({grouped} byte{})", if bytes == 1 { "" } else { "s" })
}

#[derive(Default)]
struct StepWriter {
    line: String,
    /// The text after the line: the bodies of its raw blocks.
    blocks: String,
    gap: &'static str,
}

impl StepWriter {
    fn push(&mut self, kind: &TokenKind<'_>, text: &str) {
        if matches!(kind, TokenKind::Newline | TokenKind::End) {
            return;
        }
        if !matches!(kind, TokenKind::Sign(')' | ']' | '}')) {
            self.line.push_str(self.gap);
        }
        self.gap = "";
        if let (TokenKind::Text(body), true) = (kind, text.starts_with('<')) {
            let word = text.trim_start_matches('<').trim_matches(['\'', '"']);
            self.line.push_str(text);
            self.blocks.push_str(&format!("\n{body}\n{word}"));
            return;
        }
        if text.contains('\n') && !self.blocks.is_empty() {
            // The body of a block begins on the line after its word, so it has to come before this
            // text.
            self.line.push_str(&std::mem::take(&mut self.blocks));
            self.line.push('\n');
        }
        push_token(&mut self.line, &mut self.gap, kind, text);
    }
}

/// Writes a token that is no raw block, as it was written.
fn push_token(line: &mut String, gap: &mut &str, kind: &TokenKind<'_>, text: &str) {
    match kind {
        TokenKind::Sign(sign @ (',' | ';')) => {
            line.push(*sign);
            *gap = " ";
        }
        _ => line.push_str(text),
    }
}

fn written(code: &str, span: Span) -> &str {
    code.get(span.start..span.end).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    #[test]
    fn each_step_stands_alone_and_means_the_same() {
        for code in [
            "a(1); b(x = [1,2] , y='it''s')",
            "a(text=<<X); b(text=<<'Y', n=2)\nbody x\nX\nbody; y\n\nY\nc()",
            "a(t=<<X); b(\nbody\nX\n  c=1, // a comment\n  d='''two\nlines''')",
            "f(<<X,\nbody\nX\n '''a\nb''')\nlink:5",
            r"find(regex='\bfn\s', text='a\'b'); f(<<X,
body
X
  text='''a\d
b''')",
        ]
        .map(|code| code.replace("it''s", "it\\'s"))
        {
            let script = parse_undecided(&code, Some("input")).unwrap();
            let steps = alone(&code, &script);
            assert_eq!(steps.len(), script.steps.len(), "{code}");
            for (step, written) in script.steps.iter().zip(&steps) {
                let again = parse_undecided(written, Some("input")).unwrap();
                assert_eq!(plain(&again.steps), plain(std::slice::from_ref(step)), "{written}");
            }
        }
    }

    /// Writes steps without their positions.
    fn plain(steps: &[Step]) -> String {
        let text = format!("{steps:?}");
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find("Span {") {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            rest = &rest[rest.find('}').unwrap() + 1..];
        }
        out + rest
    }

    #[test]
    fn long_input_is_shown_by_its_size_and_texts_as_they_are() {
        let code = "notes.add(\"t\",text=stdin, stdin=<<END)\nabc\nEND\n";
        let steps = split(code, Some("x")).unwrap();
        let line = shown(&steps[0], Some(4_600));
        assert_eq!(line, "notes.add(\"t\", text=stdin (4,600 bytes), stdin=<<END (3 bytes))");
        assert_eq!(size(1_234_567), " (1,234,567 bytes)");
    }
}
