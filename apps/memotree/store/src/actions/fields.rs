//! The bounds of a node's fields.

use crate::error::StoreError;
use crate::name::is_visible;

/// Characters of a title.
pub const TITLE_CHARS_MAX: usize = 200;

/// Characters of a gist.
pub const GIST_CHARS_MAX: usize = 300;

/// Characters of a summary.
pub const SUMMARY_CHARS_MAX: usize = 4_000;

/// Characters of a tag or of the kind of a relation.
pub const TAG_CHARS_MAX: usize = 64;

/// Tags or relations of one node.
pub const TAGS_MAX: usize = 64;

/// Checks a text that is one line.
pub(crate) fn one_line(what: &str, text: &str, max: usize) -> Result<String, StoreError> {
    let line = optional_line(what, text, max)?;
    match (line.is_empty(), is_visible(&line)) {
        (true, _) => Err(StoreError::Value(format!("{what}: expected a text, not an empty one"))),
        (false, false) => {
            let message = "expected a text, not one of characters that can't be seen";
            Err(StoreError::Value(format!("{what}: {message}")))
        }
        _ => Ok(line),
    }
}

pub(crate) fn optional_line(what: &str, text: &str, max: usize) -> Result<String, StoreError> {
    let text = text.trim();
    let count = text.chars().count();
    if count > max {
        return Err(StoreError::Value(format!("{what}: {count} characters, at most {max}")));
    }
    match text.chars().find(|c| c.is_control() || pipemux_proto::text::is_deceptive_in_prose(*c)) {
        Some('\n') => Err(StoreError::Value(format!("{what}: expected one line"))),
        Some(c) => {
            let shown = pipemux_proto::text::code_point(c);
            Err(StoreError::Value(format!("{what}: the character {shown} isn't allowed")))
        }
        None => Ok(text.to_owned()),
    }
}

pub(crate) fn summary(text: &str) -> Result<String, StoreError> {
    let text = text.trim();
    match text.chars().count() {
        count if count > SUMMARY_CHARS_MAX => {
            let message = format!("summary: {count} characters, at most {SUMMARY_CHARS_MAX}");
            Err(StoreError::Value(message))
        }
        _ => Ok(text.to_owned()),
    }
}

pub(crate) fn tags(tags: &[String]) -> Result<Vec<String>, StoreError> {
    let checked =
        tags.iter().map(|tag| one_line("tag", tag.trim_start_matches('#'), TAG_CHARS_MAX));
    let mut checked = checked.collect::<Result<Vec<String>, _>>()?;
    checked.sort();
    checked.dedup();
    match checked.len() {
        count if count > TAGS_MAX => {
            Err(StoreError::Value(format!("a node has at most {TAGS_MAX} tags, not {count}")))
        }
        _ => Ok(checked),
    }
}
