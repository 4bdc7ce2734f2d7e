//! What a command printed, and finding ids in it.

use serde_json::Value;

/// What a command printed, and its exit status.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a story asserts how each command ended"]
pub struct Output {
    /// The command as a user would type it.
    pub command: String,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// The exit status; 128 plus the number of the signal that ended it.
    pub exit: i32,
}

impl Output {
    /// Standard output followed by standard error.
    pub fn text(&self) -> String {
        let out = String::from_utf8_lossy(&self.stdout);
        format!("{out}{}", String::from_utf8_lossy(&self.stderr))
    }

    /// Asserts the exit status.
    ///
    /// # Panics
    /// The command exited with another status.
    #[track_caller]
    pub fn exits(&self, wanted: i32) -> &Self {
        assert_eq!(self.exit, wanted, "unexpected exit status: {self}");
        self
    }

    /// Asserts that the exit status is 0.
    ///
    /// # Panics
    /// The command failed.
    #[track_caller]
    pub fn ok(&self) -> &Self {
        self.exits(0)
    }

    /// Asserts that the text was printed.
    ///
    /// # Panics
    /// It was not printed.
    #[track_caller]
    pub fn has(&self, wanted: &str) -> &Self {
        assert!(self.text().contains(wanted), "no `{wanted}` in: {self}");
        self
    }

    /// Asserts that the text was not printed.
    ///
    /// # Panics
    /// It was printed.
    #[track_caller]
    pub fn lacks(&self, unwanted: &str) -> &Self {
        assert!(!self.text().contains(unwanted), "`{unwanted}` in: {self}");
        self
    }

    /// Returns the id of the first link with that label.
    ///
    /// # Panics
    /// No link has it.
    #[track_caller]
    pub fn link(&self, label: &str) -> u64 {
        self.find("link", label).unwrap_or_else(|| panic!("no link `{label}` in: {self}"))
    }

    /// Returns the id of the first object with that label.
    ///
    /// # Panics
    /// No object has it.
    #[track_caller]
    pub fn obj(&self, label: &str) -> u64 {
        self.find("obj", label).unwrap_or_else(|| panic!("no object `{label}` in: {self}"))
    }

    /// Returns the ids of all objects, in the order they were printed.
    pub fn objects(&self) -> Vec<u64> {
        let text = self.text();
        text.split("](obj:").skip(1).filter_map(leading_id).collect()
    }

    /// Parses standard output as JSON.
    ///
    /// # Panics
    /// It is not JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        let parsed = serde_json::from_slice(&self.stdout);
        parsed.unwrap_or_else(|error| panic!("invalid JSON, {error}: {self}"))
    }

    /// Returns the epoch in the last line.
    ///
    /// # Panics
    /// The last line names none.
    #[track_caller]
    pub fn epoch(&self) -> u64 {
        let text = self.text();
        let last = text.lines().last().unwrap_or_default();
        let named = last.split(" · ").find_map(|part| part.strip_prefix('e')?.parse().ok());
        named.unwrap_or_else(|| panic!("no epoch in: {self}"))
    }

    /// Returns the number of lines of standard output.
    pub fn lines(&self) -> usize {
        String::from_utf8_lossy(&self.stdout).lines().count()
    }

    fn find(&self, kind: &str, label: &str) -> Option<u64> {
        let text = self.text();
        let mark = format!("[{label}]({kind}:");
        let at = text.find(&mark)?;
        leading_id(&text[at + mark.len()..])
    }
}

impl std::fmt::Display for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "$ {}\n{}(exit {})", self.command, self.text(), self.exit)
    }
}

/// Returns the id of the ref whose text after `obj:` or `link:` this is: `enemy:23)`.
#[must_use]
pub fn leading_id(text: &str) -> Option<u64> {
    let typed = text
        .find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-'));
    match typed.map(|end| text.split_at(end)) {
        Some((_, rest)) if rest.starts_with(':') => leading_number(&rest[1..]),
        _ => leading_number(text),
    }
}

/// Returns the number that a text begins with.
pub(crate) fn leading_number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}
