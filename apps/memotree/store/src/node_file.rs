//! The file of a node: front matter, then the content.
//!
//! # Grammar
//! ```text
//! file    = [BOM] [ "---" EOL  { entry | other }  "---" EOL ] content
//! entry   = key ":" [ " " value ] EOL { more }
//! key     = a lower-case ASCII letter, then lower-case letters, digits, "_" and "-"
//! value   = plain text to the end of the line, or a string in "" (as in JSON) or in '' ('' for one '),
//!           or "[" items separated by "," "]", or "|": then the text is in the lines that follow, each indented
//! more    = a line that begins with a space, or "- item", or is blank between such lines
//! other   = a comment ("#…") or a blank line
//! ```
//! This is a subset of YAML that other tools read, too. It merges well in git: one entry a line, in
//! a fixed order, so that a move (`parent`, `order`) and an edit (content, `modified`) change lines
//! that aren't neighbours. Dates are written to the day, so that two edits on one day don't
//! conflict in `modified`. All entries are optional. Entries that nobody knows, comments, the
//! order, the spelling, a BOM and line ends are kept byte by byte: only the entry that is set is
//! written.

mod conflict;
mod take_back;
mod value;

pub use conflict::conflict_line;
pub(crate) use conflict::first_side;

use crate::name::is_visible;

/// Bytes of a file that are read as a node; a longer one is a problem of that node.
pub const FILE_BYTES_MAX: usize = 8 << 20;

const BOM: &str = "\u{feff}";
const FENCE: &str = "---";

/// The file of a node, parsed without loss of any byte.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeFile {
    bom: bool,
    /// The opening and closing lines of the front matter; `None` if the file has none.
    fences: Option<(String, String)>,
    entries: Vec<FrontMatterEntry>,
    content: String,
    crlf: bool,
}

/// An entry of the front matter with all its lines, or lines that aren't an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FrontMatterEntry {
    key: Option<String>,
    raw: String,
}

/// The reason why a file can't be read as a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeFileError {
    /// The file isn't UTF-8.
    #[error("it isn't UTF-8 (byte {0})")]
    Encoding(usize),
    #[error("it has {0} bytes, at most {FILE_BYTES_MAX}")]
    TooLong(u64),
    /// The front matter isn't closed.
    #[error("its front matter has no closing line ---")]
    Unclosed,
    /// A line of the front matter isn't `key: value`.
    #[error("line {line}: expected `key: value`, found `{found}`")]
    Entry {
        line: usize,
        /// The beginning of the line.
        found: String,
    },
    /// The front matter has an entry twice.
    #[error("line {line}: `{key}` is there twice")]
    Twice { line: usize, key: String },
}

/// The known entries in the order of writing.
const KEYS: &[&str] =
    &["title", "parent", "order", "gist", "summary", "tags", "relations", "created", "modified"];

impl NodeFile {
    /// Reads a file.
    ///
    /// # Errors
    /// It isn't UTF-8, or its front matter is broken; the error says where.
    pub fn parse(bytes: &[u8]) -> Result<Self, NodeFileError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| NodeFileError::Encoding(error.valid_up_to()))?;
        let (bom, text) = match text.strip_prefix(BOM) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let first = text.split_inclusive('\n').next().unwrap_or_default();
        let crlf = first.ends_with("\r\n");
        if first.trim_end() != FENCE || !first.ends_with('\n') {
            let content = text.to_owned();
            return Ok(Self { bom, crlf, content, ..Self::default() });
        }
        let mut entries: Vec<FrontMatterEntry> = Vec::new();
        let mut at = first.len();
        for (index, raw) in text[at..].split_inclusive('\n').enumerate() {
            let line = raw.trim_end();
            at += raw.len();
            if line == FENCE {
                let fences = Some((first.to_owned(), raw.to_owned()));
                let content = text[at..].to_owned();
                return Ok(Self { bom, fences, entries, content, crlf });
            }
            let number = index + 2;
            let belongs = raw.starts_with([' ', '\t']) || line.starts_with("- ") || line == "-";
            match (line, entries.last_mut()) {
                (_, Some(last)) if belongs && last.key.is_some() => last.raw += raw,
                ("", Some(last)) if last.key.is_some() => last.raw += raw,
                ("", _) => entries.push(FrontMatterEntry { key: None, raw: raw.to_owned() }),
                _ if line.starts_with('#') => {
                    entries.push(FrontMatterEntry { key: None, raw: raw.to_owned() })
                }
                _ => {
                    let key = line.split_once(':').map(|(key, _)| key).filter(|key| is_key(key));
                    let Some(key) = key else {
                        let found = line.chars().take(40).collect();
                        return Err(NodeFileError::Entry { line: number, found });
                    };
                    if entries.iter().any(|entry| entry.key.as_deref() == Some(key)) {
                        return Err(NodeFileError::Twice { line: number, key: key.to_owned() });
                    }
                    entries
                        .push(FrontMatterEntry { key: Some(key.to_owned()), raw: raw.to_owned() });
                }
            }
        }
        Err(NodeFileError::Unclosed)
    }

    /// Writes the file.
    pub fn print(&self) -> Vec<u8> {
        let mut out = String::with_capacity(self.content.len() + 256);
        if self.bom {
            out += BOM;
        }
        if let Some((open, close)) = &self.fences {
            out += open;
            self.entries.iter().for_each(|entry| out += &entry.raw);
            out += close;
        }
        out += &self.content;
        out.into_bytes()
    }

    /// Returns the value of an entry as text; `None` without the entry.
    pub fn get(&self, key: &str) -> Option<String> {
        let entry = self.entries.iter().find(|entry| entry.key.as_deref() == Some(key))?;
        Some(value::read(&entry.raw[key.len() + 1..]))
    }

    /// Returns the value of an entry as a list: items of `[a, b]`, of lines `- a`, or of a text `a,
    /// b`.
    pub fn list(&self, key: &str) -> Vec<String> {
        let entry = self.entries.iter().find(|entry| entry.key.as_deref() == Some(key));
        entry.map(|entry| value::read_list(&entry.raw[key.len() + 1..])).unwrap_or_default()
    }

    /// Sets an entry; an empty value removes it. No other byte changes.
    pub fn set(&mut self, key: &str, text: &str) {
        let text = text.trim_end();
        let raw = (!text.is_empty()).then(|| format!("{key}:{}", value::write(text)));
        self.set_raw(key, raw);
    }

    /// Sets an entry to a list, one item a line; an empty list removes it.
    pub fn set_list(&mut self, key: &str, items: &[String]) {
        let raw = (!items.is_empty()).then(|| {
            let lines: String =
                items.iter().map(|item| format!("\n  -{}", value::write_item(item))).collect();
            format!("{key}:{lines}")
        });
        self.set_raw(key, raw);
    }

    fn set_raw(&mut self, key: &str, raw: Option<String>) {
        let eol = self.eol();
        let at = self.entries.iter().position(|entry| entry.key.as_deref() == Some(key));
        let Some(raw) = raw else {
            at.map(|at| self.entries.remove(at));
            return;
        };
        let raw = format!("{}{eol}", raw.replace('\n', eol));
        if self.fences.is_none() {
            let fence = format!("{FENCE}{eol}");
            self.fences = Some((fence.clone(), fence));
            if !self.content.is_empty() {
                self.content.insert_str(0, eol);
            }
        }
        match at {
            Some(at) => self.entries[at].raw = raw,
            None => {
                let rank = |key: &str| KEYS.iter().position(|known| *known == key);
                let before = |entry: &FrontMatterEntry| {
                    entry.key.as_deref().is_none_or(|other| match (rank(other), rank(key)) {
                        (Some(other), Some(own)) => other < own,
                        (None, _) => true,
                        (Some(_), None) => true,
                    })
                };
                let at = self.entries.iter().rposition(before).map_or(0, |at| at + 1);
                self.entries.insert(at, FrontMatterEntry { key: Some(key.to_owned()), raw });
            }
        }
    }

    fn eol(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    /// Returns the content, with `\n` at the end of lines.
    pub fn content(&self) -> String {
        // A front matter that this crate wrote is followed by a blank line.
        let text = match self.fences {
            Some(_) => self
                .content
                .strip_prefix("\r\n")
                .or(self.content.strip_prefix('\n'))
                .unwrap_or(&self.content),
            None => &self.content,
        };
        if self.crlf { text.replace("\r\n", "\n") } else { text.to_owned() }
    }

    /// Sets the content. Lines end as in the rest of the file.
    pub fn set_content(&mut self, text: &str) {
        if self.content() == text {
            return;
        }
        let eol = self.eol();
        let mut text =
            if self.crlf { text.replace("\r\n", "\n").replace('\n', eol) } else { text.to_owned() };
        if !text.is_empty() && !text.ends_with('\n') {
            text += eol;
        }
        // A content that begins like a front matter needs one before it.
        if self.fences.is_none() && text.starts_with(FENCE) {
            let fence = format!("{FENCE}{eol}");
            self.fences = Some((fence.clone(), fence));
        }
        if let Some((_, close)) = &mut self.fences
            && !close.ends_with('\n')
        {
            close.push_str(eol);
        }
        let blank = if self.fences.is_some() && !text.is_empty() { eol } else { "" };
        self.content = format!("{blank}{text}");
    }

    /// Adds lines to the end of the content. What is there keeps its bytes, also where its line
    /// ends differ.
    pub fn append_content(&mut self, text: &str) {
        if self.content().is_empty() {
            return self.set_content(text);
        }
        let eol = self.eol();
        if !self.content.ends_with('\n') {
            self.content.push_str(eol);
        }
        let text =
            if self.crlf { text.replace("\r\n", "\n").replace('\n', eol) } else { text.to_owned() };
        self.content += &text;
        if !self.content.ends_with('\n') {
            self.content.push_str(eol);
        }
    }

    /// Returns the title: that of the front matter, else the first heading of the content, if any.
    pub fn title(&self) -> Option<String> {
        let own = self.get("title").filter(|title| is_visible(title));
        own.or_else(|| {
            let first = self.content.lines().find(|line| !line.trim().is_empty())?;
            let heading = first.strip_prefix("# ")?.trim();
            (!heading.is_empty()).then(|| heading.to_owned())
        })
    }
}

fn is_key(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_lowercase())
        && key
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
}

#[cfg(test)]
mod tests;
