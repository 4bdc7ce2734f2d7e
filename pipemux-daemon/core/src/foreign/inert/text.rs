//! Texts that are made inert as a whole: a line, several lines, a sentence.

use crate::foreign::inert::writer::{RefTokens, Writer, is_plain_line};
use crate::foreign::text::{ForeignStr, ForeignText};

/// Makes an app's text inert as one line that follows other text.
pub fn line<'t>(text: impl Into<ForeignStr<'t>>) -> String {
    let text = text.into();
    if is_plain_line(text.0) {
        return text.0.to_owned();
    }
    // Another character comes first, so that nothing is escaped as the start of a line.
    let mut writer = Writer::default();
    writer.raw(".");
    writer.one_line(text);
    writer.finish().split_off(1)
}

/// Makes a label and the text behind it inert as one line that follows other text.
pub fn labelled_line(label: &ForeignText, text: &ForeignText) -> String {
    let colon = if text.is_empty() || label.is_empty() { "" } else { ": " };
    // Escaped as one text: a colon after the label may complete a link reference.
    line(&[&label.0, colon, &text.0].concat())
}

/// Makes an app's text inert as one whole line.
pub fn whole_line<'t>(text: impl Into<ForeignStr<'t>>) -> String {
    lines(text.into().0.replace(['\n', '\r'], " ").trim_start())
}

/// Makes an app's text inert as whole lines.
pub fn lines<'t>(text: impl Into<ForeignStr<'t>>) -> String {
    let mut writer = Writer::default();
    writer.text(text.into().0.trim_end());
    writer.finish()
}

/// Makes a sentence inert that names a ref between two parts; the ref is kept as the reader wrote
/// it.
pub fn sentence_with_ref(before: &str, written_ref: &str, after: &str) -> String {
    let mut writer = Writer::default();
    writer.text(before);
    writer.tokens = RefTokens::All;
    writer.text(written_ref);
    writer.tokens = RefTokens::None;
    writer.text(after.trim_end());
    writer.finish()
}
