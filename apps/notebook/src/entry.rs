//! An entry's parts: their bounds, its key, its levels.

use docui::Fault;
use serde::{Deserialize, Serialize};

/// Longest text of an entry, in bytes; also what can be passed on to another app.
pub const TEXT_MAX: usize = 512 * 1024;
/// Longest title or gist, in characters.
pub const LINE_MAX: usize = 200;
/// Longest summary, in characters.
pub const SUMMARY_MAX: usize = 2000;
/// Longest tag, in characters.
pub const TAG_MAX: usize = 64;
/// Most tags of an entry.
pub const TAGS_MAX: usize = 32;
/// Longest query, in characters.
pub const QUERY_MAX: usize = 1000;

/// How much of an entry is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// One line.
    Gist,
    /// Title and summary.
    #[default]
    Summary,
    /// The text.
    Full,
}

impl Level {
    /// The next level up; the highest stays.
    pub fn up(self) -> Self {
        match self {
            Level::Gist => Level::Summary,
            Level::Summary | Level::Full => Level::Full,
        }
    }

    /// The next level down; the lowest stays.
    pub fn down(self) -> Self {
        match self {
            Level::Full => Level::Summary,
            Level::Summary | Level::Gist => Level::Gist,
        }
    }

    /// Its name, as the reader is told.
    pub fn name(self) -> &'static str {
        match self {
            Level::Gist => "gist",
            Level::Summary => "summary",
            Level::Full => "full",
        }
    }
}

/// What an entry says: all that actions change and undo brings back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    /// One line.
    pub title: String,
    /// The text.
    pub text: String,
    /// The author's summary; empty: none.
    pub summary: String,
    /// The author's gist, one line; empty: none.
    pub gist: String,
    /// Sorted, each once.
    pub tags: Vec<String>,
    /// Where the text came from: `editor/main src/parse.rs:101-300`; empty: typed in.
    pub origin: String,
    /// True when the text changed after summary and gist were written.
    pub outdated: bool,
}

impl Content {
    /// How many lines the text has.
    pub fn lines(&self) -> u64 {
        self.text.lines().count() as u64
    }

    /// Holds every part to its bounds.
    ///
    /// # Errors
    /// Names the parameter, what was expected and the bound.
    pub fn check(&self) -> Result<(), Fault> {
        if self.title.is_empty() {
            return Err(Fault::usage("title: expected one line of text, got nothing"));
        }
        one_line("title", &self.title)?;
        one_line("gist", &self.gist)?;
        let long = self.summary.chars().count();
        if long > SUMMARY_MAX {
            let message = format!("summary: {long} characters, at most {SUMMARY_MAX} are kept");
            return Err(Fault::usage(message).hint("put the long form into text"));
        }
        if self.text.len() > TEXT_MAX {
            let message =
                format!("text: {} KiB, at most {} KiB", self.text.len() / 1024, TEXT_MAX / 1024);
            return Err(Fault::refused(message).hint("split it into several entries"));
        }
        Ok(())
    }
}

/// Cleans tags: trimmed, sorted, each once.
///
/// # Errors
/// An empty or overlong tag, one with a comma or a line break, too many.
pub fn clean_tags(tags: &[String]) -> Result<Vec<String>, Fault> {
    let mut clean = tags.iter().map(|tag| clean_tag(tag)).collect::<Result<Vec<_>, _>>()?;
    clean.sort();
    clean.dedup();
    if clean.len() > TAGS_MAX {
        let message = format!("tags: {} of them, at most {TAGS_MAX}", clean.len());
        return Err(Fault::usage(message));
    }
    Ok(clean)
}

fn clean_tag(tag: &str) -> Result<String, Fault> {
    let clean = tag.trim();
    if clean.is_empty() {
        return Err(Fault::usage("tags: an empty tag").hint("no tags at all: tags=[]"));
    }
    if clean.contains(',') || clean.chars().any(is_break) {
        return Err(Fault::usage(format!("tags: {clean:?} has a comma or a line break"))
            .hint("several tags are a list: tags=['a', 'b']"));
    }
    if clean.chars().count() > TAG_MAX {
        return Err(Fault::usage(format!("tags: a tag has at most {TAG_MAX} characters")));
    }
    Ok(clean.to_owned())
}

fn one_line(name: &str, text: &str) -> Result<(), Fault> {
    if text.chars().any(is_break) {
        return Err(Fault::usage(format!("{name}: expected one line, got a line break in it"))
            .hint("the rest belongs into text"));
    }
    let long = text.chars().count();
    if long > LINE_MAX {
        return Err(Fault::usage(format!("{name}: {long} characters, at most {LINE_MAX}")));
    }
    Ok(())
}

fn is_break(c: char) -> bool {
    (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}')
}

/// The key of an entry: `n7`. Not a bare number, which would read as a display id.
pub fn key(id: i64) -> String {
    format!("n{id}")
}

/// The id in a key, if it is one of ours.
pub fn id(key: &str) -> Option<i64> {
    let digits = key.strip_prefix('n')?;
    let id = digits.parse().ok()?;
    // `n07` and `n+7` are not keys: one entry has one key.
    (id > 0 && self::key(id) == key).then_some(id)
}

/// A number with its noun: `1 line`, `14 entries`.
pub fn count(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_one_key() {
        assert_eq!(id(&key(7)), Some(7));
        for wrong in ["", "n", "7", "n0", "n07", "n+7", "n-1", "m7", "n7 ", "n99999999999999999999"]
        {
            assert_eq!(id(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn tags_are_clean() {
        let tags = |tags: &[&str]| {
            clean_tags(&tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(tags(&[" b", "a ", "b"]).unwrap(), ["a", "b"]);
        for wrong in ["", " ", "a,b", "a\nb"] {
            assert!(tags(&[wrong]).is_err(), "{wrong:?}");
        }
        assert!(tags(&["x".repeat(TAG_MAX + 1).as_str()]).is_err());
    }

    #[test]
    fn numbers_agree_with_their_noun() {
        assert_eq!(count(1, "entry"), "1 entry");
        assert_eq!(count(0, "entry"), "0 entries");
        assert_eq!(count(2, "line"), "2 lines");
    }
}
