//! What a command printed, and finding ids in it.

use serde_json::Value;

/// The end of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The command as it would be typed.
    pub command: String,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// The exit status; 128 and more for a signal.
    pub exit: i32,
}

impl Output {
    /// All that was printed, output before errors.
    pub fn text(&self) -> String {
        let out = String::from_utf8_lossy(&self.stdout);
        format!("{out}{}", String::from_utf8_lossy(&self.stderr))
    }

    /// Demands an exit status.
    ///
    /// # Panics
    /// It is another.
    #[track_caller]
    pub fn exits(&self, wanted: i32) -> &Self {
        assert_eq!(self.exit, wanted, "the exit status of: {self}");
        self
    }

    /// Demands success.
    ///
    /// # Panics
    /// The exit status isn't 0.
    #[track_caller]
    pub fn ok(&self) -> &Self {
        self.exits(0)
    }

    /// Demands that a text was printed.
    ///
    /// # Panics
    /// It was not.
    #[track_caller]
    pub fn has(&self, wanted: &str) -> &Self {
        assert!(self.text().contains(wanted), "no `{wanted}` in: {self}");
        self
    }

    /// Demands that a text was not printed.
    ///
    /// # Panics
    /// It was.
    #[track_caller]
    pub fn lacks(&self, unwanted: &str) -> &Self {
        assert!(!self.text().contains(unwanted), "`{unwanted}` in: {self}");
        self
    }

    /// The number of the first link with that label.
    ///
    /// # Panics
    /// There is none.
    #[track_caller]
    pub fn link(&self, label: &str) -> u64 {
        self.find("link", label).unwrap_or_else(|| panic!("no link `{label}` in: {self}"))
    }

    /// The number of the first thing with that label.
    ///
    /// # Panics
    /// There is none.
    #[track_caller]
    pub fn obj(&self, label: &str) -> u64 {
        self.find("obj", label).unwrap_or_else(|| panic!("no thing `{label}` in: {self}"))
    }

    /// All ids of things, in the order they were printed.
    pub fn objects(&self) -> Vec<u64> {
        let text = self.text();
        text.split("](obj:").skip(1).filter_map(leading_number).collect()
    }

    /// Standard output as JSON.
    ///
    /// # Panics
    /// It is none.
    #[track_caller]
    pub fn json(&self) -> Value {
        let parsed = serde_json::from_slice(&self.stdout);
        parsed.unwrap_or_else(|error| panic!("no JSON, {error}: {self}"))
    }

    /// The newest epoch that was named.
    ///
    /// # Panics
    /// None was.
    #[track_caller]
    pub fn epoch(&self) -> u64 {
        let text = self.text();
        let last = text.lines().last().unwrap_or_default();
        let named = last.split(" · ").find_map(|part| part.strip_prefix('e')?.parse().ok());
        named.unwrap_or_else(|| panic!("no epoch in: {self}"))
    }

    /// Lines of standard output.
    pub fn lines(&self) -> usize {
        String::from_utf8_lossy(&self.stdout).lines().count()
    }

    fn find(&self, kind: &str, label: &str) -> Option<u64> {
        let text = self.text();
        let mark = format!("[{label}]({kind}:");
        let at = text.find(&mark)?;
        leading_number(&text[at + mark.len()..])
    }
}

impl std::fmt::Display for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "$ {}\n{}(exit {})", self.command, self.text(), self.exit)
    }
}

/// The number that a text begins with.
pub(crate) fn leading_number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}
