//! Exceptions of node that nothing caught, and those that a program prints with their stack.

use crate::collector::Collector;
use crate::model::{Place, Severity};
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{is_foreign, number, place, place_start};
use crate::transcript::Class;

/// The state of reading an exception.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Reading {
    #[default]
    Nothing,
    /// The place of the throw: `/p/a.js:3`. The source line and a caret follow.
    Header(Option<Place>),
    /// The source line.
    Source(Option<Place>),
    /// The caret, which makes it certain that this is an exception.
    Caret(Option<Place>),
    /// A line that is an exception if a stack follows, and its number.
    Candidate(String, u64),
    /// The lines between the exception and its stack.
    Message,
    Stack,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    reading: Reading,
}

impl Recogniser for Node {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if text.starts_with("Node.js v") {
            return Claim::one(Class::Progress);
        }
        let reading = std::mem::take(&mut self.reading);
        let next = if within { self.next(reading, text, found) } else { None };
        next.or_else(|| self.begin(text, found))
    }
}

impl Node {
    fn begin(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        if let Some(at) = header(text) {
            self.reading = Reading::Header(at);
            return Claim::more(Class::Plain);
        }
        exception(text)?;
        self.reading = Reading::Candidate(text.to_owned(), found.number);
        Claim::more(Class::Suspect)
    }

    fn next(&mut self, reading: Reading, text: &str, found: &mut Collector) -> Option<Claim> {
        let claim = |class| Claim::more(class);
        match reading {
            Reading::Nothing => None,
            Reading::Header(at) => {
                self.reading = Reading::Source(at);
                claim(Class::Plain)
            }
            Reading::Source(at) => {
                let carets = text.trim();
                if carets.is_empty() || !carets.chars().all(|c| matches!(c, '^' | '~')) {
                    return None;
                }
                self.reading = Reading::Caret(at);
                claim(Class::Plain)
            }
            Reading::Caret(at) if text.is_empty() => {
                self.reading = Reading::Caret(at);
                claim(Class::Plain)
            }
            Reading::Caret(at) => {
                open(text, at, found.number, found);
                self.reading = Reading::Message;
                claim(Class::Problem)
            }
            Reading::Candidate(line, number) => {
                // Those of other languages look alike, but for their files.
                let own = frame(text).filter(|_| is_script_frame(text))?;
                open(&line, None, number, found);
                found.earlier_problem = Some(number);
                self.take_frame(own, found)
            }
            Reading::Message => match frame(text) {
                Some(own) => self.take_frame(own, found),
                // Of a value that is no error, nothing else is told.
                None if text.is_empty() => None,
                None => {
                    found.detail(text);
                    self.reading = Reading::Message;
                    claim(Class::Detail)
                }
            },
            Reading::Stack => {
                if let Some(own) = frame(text) {
                    return self.take_frame(own, found);
                }
                let is_property = text.starts_with(' ') || text.trim_end() == "}";
                if !is_property {
                    return None;
                }
                // Its cause, and what else it has.
                if text.trim_end() != "}" && !text.trim_start().starts_with("... ") {
                    found.detail(text);
                }
                self.reading = Reading::Stack;
                claim(Class::Detail)
            }
        }
    }

    fn take_frame(&mut self, own: Option<Place>, found: &mut Collector) -> Option<Claim> {
        if let (Some(problem), Some(own)) = (found.open_problem(), own)
            && problem.place.is_none()
        {
            problem.place = Some(own);
        }
        self.reading = Reading::Stack;
        Claim::more(Class::Detail)
    }
}

fn open(line: &str, at: Option<Place>, number: u64, found: &mut Collector) {
    let (name, message) = exception(line).unwrap_or(("", line));
    let code = Some(name).filter(|name| !name.is_empty());
    found.problem(Severity::Error, code, at, message);
    if let Some(problem) = found.open_problem() {
        problem.at = number;
    }
}

/// `/p/a.js:3` or `file:///p/a.mjs:3` alone in a line, and nothing for a place inside of node.
fn header(text: &str) -> Option<Option<Place>> {
    let (path, line) = text.rsplit_once(':')?;
    let line = number(line).filter(|(_, rest)| rest.is_empty()).map(|(line, _)| line)?;
    if path.starts_with("node:") {
        return Some(None);
    }
    let file = path.strip_prefix("file://").unwrap_or(path);
    let is_script = ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"]
        .iter()
        .any(|extension| file.strip_suffix(extension).is_some_and(|stem| stem.ends_with('.')));
    let is_absolute = file.starts_with('/') || file.get(1..3) == Some(":\\");
    (is_script && is_absolute)
        .then(|| Some(place(file, Some(line), None)).filter(|_| !is_foreign(file)))
}

/// `TypeError: message`, `AssertionError [ERR_ASSERTION]: message` and `Uncaught Error: message` as
/// the name and the message.
pub(super) fn exception(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix("Uncaught ").unwrap_or(text);
    let (name, message) = text.split_once(": ").or_else(|| Some((text.strip_suffix(':')?, "")))?;
    let bare = name.split(" [").next().unwrap_or(name);
    let is_name = ["Error", "Exception", "Rejection"].iter().any(|end| bare.ends_with(end))
        && bare.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.'));
    is_name.then_some((bare, message))
}

/// A frame of a stack, `    at total (/p/total.js:4:17)`, and its place unless that is node's or a
/// library's.
pub(super) fn frame(text: &str) -> Option<Option<Place>> {
    let trimmed = text.trim();
    let frame = trimmed.strip_prefix("at ").filter(|_| text.starts_with([' ', '\t']))?;
    Some(own_place(frame.strip_suffix(" {").unwrap_or(frame)))
}

fn is_script_frame(text: &str) -> bool {
    let is_script = |part: &&str| text.contains(*part);
    [".js:", ".mjs:", ".cjs:", ".jsx:", ".ts:", ".mts:", ".cts:", ".tsx:", "node:", "<anonymous>"]
        .iter()
        .any(is_script)
}

/// The place in a frame: `total (/p/total.js:4:17)` or `async file:///p/total.js:4:17`.
pub(super) fn own_place(frame: &str) -> Option<Place> {
    let inner = match frame.strip_suffix(')').and_then(|frame| frame.rsplit_once('(')) {
        Some((_, inner)) => inner,
        None => frame.strip_prefix("async ").unwrap_or(frame),
    };
    let inner = inner.strip_prefix("file://").unwrap_or(inner);
    let (at, rest) = place_start(inner)?;
    (rest.is_empty() && !is_foreign(&at.file)).then_some(at)
}
