//! Text of apps in sentences of the daemon: errors, notices, briefs of history. Such a sentence is
//! itself made inert where it is shown, since it quotes.

use pipemux_proto::{Code, Fault};

use crate::foreign::inert::Writer;
use crate::foreign::text::{ForeignStr, ForeignText};

/// Returns the text to be a hint of an error.
pub fn in_hint<'a>(text: impl Into<ForeignStr<'a>>) -> String {
    text.into().0.to_owned()
}

/// Returns several texts to be part of a sentence that is made inert as a whole.
pub fn joined(texts: &[ForeignText]) -> String {
    texts.iter().map(in_sentence).collect::<Vec<_>>().join(" · ")
}

/// Returns the text to be part of a sentence that is made inert as a whole.
pub fn in_sentence<'a>(text: impl Into<ForeignStr<'a>>) -> &'a str {
    text.into().0
}

/// An app as the source of a text.
#[derive(Debug, Clone, Copy)]
pub struct Speaker<'a> {
    pub provider: &'a str,
    /// True for an app that comes with PipeMux: its sentences are taken for PipeMux's own.
    pub built_in: bool,
}

impl Speaker<'_> {
    /// Makes an error of the app one that a reader can't take for PipeMux's own: its message is one
    /// line, what follows it is quoted, and a hint names the app that gives it. With `names`, the
    /// message names it, too.
    pub fn mark_fault(self, fault: &mut Fault, names: bool) {
        // Those that come with PipeMux show lines with their numbers, which is mark enough.
        if !self.built_in && fault.message.contains(BREAKS) {
            fault.message = quoted_behind_first(&fault.message);
        }
        // Why a thing is gone is told in the daemon's sentence, and in its line.
        if names || fault.code != Code::NotFound || fault.key.is_none() {
            self.mark_hints(fault);
        }
        // The line of a step names the action, except for these, whose sentence usually names the
        // ref.
        if names || matches!(fault.code, Code::Stale | Code::OutOfView) {
            self.mark(&mut fault.message);
        }
    }

    /// Names the app before each hint of an error.
    pub fn mark_hints(self, fault: &mut Fault) {
        fault.hints.iter_mut().for_each(|hint| self.mark(hint));
    }

    /// Names the app before a sentence that it says.
    pub fn mark_foreign(self, text: &mut ForeignText) {
        self.mark(&mut text.0);
    }

    fn mark(self, text: &mut String) {
        if !self.built_in && !text.is_empty() {
            *text = format!("{} says: {text}", self.provider);
        }
    }
}

/// Returns the lines of a text, each marked as quoted, to be made inert.
pub fn quoted<'a>(text: impl Into<ForeignStr<'a>>) -> String {
    let mut writer = Writer::default();
    for line in text.into().0.trim_end().split(BREAKS) {
        writer.raw(MARK);
        writer.one_line(line.trim_end_matches('\r'));
        writer.raw("\n");
    }
    writer.finish()
}

/// Returns labels as one quoted line.
pub fn quoted_labels<'t>(labels: impl Iterator<Item = &'t ForeignText>) -> String {
    let labels: Vec<&str> = labels.map(|label| &*label.0).collect();
    quoted(ForeignStr(&labels.join(" · ").replace(BREAKS, " ")))
}

/// The mark before each quoted line.
const MARK: &str = "> ";

/// The characters that end a line for a reader or a terminal.
const BREAKS: [char; 4] = ['\n', '\u{85}', '\u{2028}', '\u{2029}'];

fn quoted_behind_first(text: &str) -> String {
    let mut lines = text.trim_end().split(BREAKS);
    let first = lines.next().unwrap_or_default().trim_end_matches('\r').to_owned();
    lines.fold(first, |all, line| all + "\n" + MARK + line.trim_end_matches('\r'))
}
