//! The parts of an entry, their bounds, its key and its levels of detail.

use docui::Fault;
use serde::{Deserialize, Serialize};

/// Longest text of an entry, in bytes. It is also the most that can be passed to another app.
pub const TEXT_MAX: usize = 512 * 1024;
/// Most bytes that an entry holds besides its text.
pub const BLOB_MAX: usize = 8 * 1024 * 1024;
/// Longest title or gist, in characters.
pub const LINE_MAX: usize = 200;
/// Longest summary, in characters.
pub const SUMMARY_MAX: usize = 2000;
/// Longest tag, in characters.
pub const TAG_MAX: usize = 64;
/// Most tags of an entry.
pub const TAGS_MAX: usize = 32;
/// Most entries that one action adds.
pub const ADDED_MAX: usize = 5000;
/// Longest query, in characters.
pub const QUERY_MAX: usize = 1000;

/// The level of detail of an entry. The serialized names are part of a file format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// One line: the title, and the gist if there is one.
    Gist,
    /// The title and the summary.
    #[default]
    Summary,
    Full,
}

impl Level {
    /// Returns the next level up, or the same if it is the highest.
    pub fn up(self) -> Self {
        match self {
            Level::Gist => Level::Summary,
            Level::Summary | Level::Full => Level::Full,
        }
    }

    /// Returns the next level down, or the same if it is the lowest.
    pub fn down(self) -> Self {
        match self {
            Level::Full => Level::Summary,
            Level::Summary | Level::Gist => Level::Gist,
        }
    }

    /// Returns the name that readers see.
    pub fn name(self) -> &'static str {
        match self {
            Level::Gist => "gist",
            Level::Summary => "summary",
            Level::Full => "full",
        }
    }
}

/// The content of an entry: everything that actions change and undo restores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Content {
    /// The title, in one line.
    pub title: String,
    pub text: String,
    /// The author's summary; empty if there is none.
    pub summary: String,
    /// The author's gist, in one line; empty if there is none.
    pub gist: String,
    /// The tags, sorted and without duplicates.
    pub tags: Vec<String>,
    /// Where the text was copied from, separated by `, `: `editor/main src/parse.rs:101-300`. Empty
    /// if it was written.
    pub origin: String,
    /// The short forms that were written before the last change of the text.
    pub outdated: Outdated,
    /// The id in the store of the binary content besides the text, if any.
    pub blob: Option<i64>,
}

/// The author's short forms that are older than the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Outdated {
    pub gist: bool,
    pub summary: bool,
}

impl Outdated {
    /// Both are.
    pub const BOTH: Self = Self { gist: true, summary: true };

    /// Reads it from the number that the store has.
    pub(crate) fn from_bits(bits: i64) -> Self {
        Self { gist: bits & 1 != 0, summary: bits & 2 != 0 }
    }

    /// Returns the number for the store.
    pub(crate) fn bits(self) -> i64 {
        i64::from(self.gist) | i64::from(self.summary) << 1
    }
}

impl Content {
    /// Returns how many lines the text has.
    pub fn lines(&self) -> u64 {
        self.text.lines().count() as u64
    }

    /// Adds an origin of the text, unless it is already listed or the list would exceed
    /// `bytes_max`.
    pub fn add_origin(&mut self, origin: &str, bytes_max: usize) {
        const SEPARATOR: &str = ", ";
        // Labels may contain the separator, so the list can't be split at it to search it.
        let is_listed = format!("{SEPARATOR}{}{SEPARATOR}", self.origin)
            .contains(&format!("{SEPARATOR}{origin}{SEPARATOR}"));
        if origin.is_empty() || is_listed || self.origin.len() + origin.len() > bytes_max {
            return;
        }
        if !self.origin.is_empty() {
            self.origin += SEPARATOR;
        }
        self.origin += origin;
    }

    /// Checks every part against its bounds.
    ///
    /// # Errors
    /// A part exceeds its bounds. The fault names the parameter and the bound.
    pub fn check(&self) -> Result<(), Fault> {
        if self.title.is_empty() {
            return Err(Fault::usage("title: expected one line of text, got nothing"));
        }
        one_line("title", &self.title)?;
        one_line("gist", &self.gist)?;
        let length = self.summary.chars().count();
        if length > SUMMARY_MAX {
            let message = format!("summary: {length} characters, at most {SUMMARY_MAX}");
            return Err(Fault::usage(message).hint("put the long version into text"));
        }
        if self.text.len() > TEXT_MAX {
            let message =
                format!("text: {} KiB, at most {} KiB", self.text.len() / 1024, TEXT_MAX / 1024);
            return Err(Fault::refused(message).hint("split it into several entries"));
        }
        Ok(())
    }
}

/// Trims and sorts tags, and removes duplicates.
///
/// # Errors
/// A tag is empty, too long, or has a comma or line break in it, or there are too many tags.
pub fn clean_tags(tags: &[String]) -> Result<Vec<String>, Fault> {
    let mut clean = tags.iter().map(|tag| clean_tag(tag)).collect::<Result<Vec<_>, _>>()?;
    clean.sort();
    clean.dedup();
    if clean.len() > TAGS_MAX {
        let message = format!("tags: {} given, at most {TAGS_MAX}", clean.len());
        return Err(Fault::usage(message));
    }
    Ok(clean)
}

fn clean_tag(tag: &str) -> Result<String, Fault> {
    let clean = tag.trim();
    if clean.is_empty() {
        return Err(Fault::usage("tags: an empty tag").hint("for no tags at all, write tags=[]"));
    }
    if clean.contains(',') || clean.chars().any(is_break) {
        return Err(Fault::usage(format!("tags: {clean:?} has a comma or a line break"))
            .hint("write several tags as a list: tags=['a', 'b']"));
    }
    if clean.chars().count() > TAG_MAX {
        return Err(Fault::usage(format!("tags: a tag has at most {TAG_MAX} characters")));
    }
    Ok(clean.to_owned())
}

fn one_line(name: &str, text: &str) -> Result<(), Fault> {
    if text.chars().any(is_break) {
        return Err(Fault::usage(format!("{name}: expected one line, but it has a line break"))
            .hint("put the other lines into text"));
    }
    let length = text.chars().count();
    if length > LINE_MAX {
        return Err(Fault::usage(format!("{name}: {length} characters, at most {LINE_MAX}")));
    }
    Ok(())
}

fn is_break(c: char) -> bool {
    (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns the key of an entry: `n7`. A bare number could be taken for an anchor's id.
pub fn key(id: i64) -> String {
    format!("n{id}")
}

/// Returns the id in an entry's key, or `None` if the key is not an entry's.
pub fn id(key: &str) -> Option<i64> {
    let digits = key.strip_prefix('n')?;
    let id = digits.parse().ok()?;
    // `n07` and `n+7` are refused, so that an entry has only one key.
    (id > 0 && self::key(id) == key).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_has_exactly_one_key() {
        assert_eq!(id(&key(7)), Some(7));
        for wrong in ["", "n", "7", "n0", "n07", "n+7", "n-1", "m7", "n7 ", "n99999999999999999999"]
        {
            assert_eq!(id(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn origin_is_listed_once_and_within_its_bound() {
        let mut content = Content::default();
        let origins = ["a/b f(x, y)", "a/b g", "a/b f(x, y)", "a/b", "", "a/b too long"];
        for origin in origins {
            content.add_origin(origin, 22);
        }
        assert_eq!(content.origin, "a/b f(x, y), a/b g, a/b");
    }

    #[test]
    fn tags_are_trimmed_sorted_and_checked() {
        let tags = |tags: &[&str]| {
            clean_tags(&tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(tags(&[" b", "a ", "b"]).unwrap(), ["a", "b"]);
        for wrong in ["", " ", "a,b", "a\nb"] {
            assert!(tags(&[wrong]).is_err(), "{wrong:?}");
        }
        assert!(tags(&["x".repeat(TAG_MAX + 1).as_str()]).is_err());
    }
}
