//! What a command changed in files and told other programs to do, as text and as data.

use std::path::Path;

use serde_json::{Value, json};

use super::requester::Requester;

/// The changes, in order.
#[derive(Debug, Default)]
pub struct Changes {
    text: String,
    files: Vec<Value>,
    commands: Vec<String>,
    dry_run: bool,
}

impl Changes {
    /// Makes a report without changes. With `dry_run` they are only shown.
    pub fn new(dry_run: bool) -> Self {
        Self { dry_run, ..Self::default() }
    }

    /// Adds a file, with the difference as a patch.
    pub fn file(&mut self, path: &Path, difference: &str) {
        self.text += difference;
        self.files.push(json!({ "path": path.display().to_string(), "difference": difference }));
    }

    /// Adds a command.
    pub fn command(&mut self, line: String) {
        let did = if self.dry_run { "would run" } else { "ran" };
        self.text += &format!("{did}: {line}\n");
        self.commands.push(line);
    }

    /// Prints them with a last line. Returns the exit status.
    pub fn print(&self, requester: &Requester, summary: &str) -> u8 {
        requester.print_own(&self.text(summary), &self.data(summary))
    }

    /// Returns them as text, with a last line.
    pub fn text(&self, summary: &str) -> String {
        format!("{}{summary}", self.text)
    }

    fn data(&self, summary: &str) -> Value {
        let is_empty = self.files.is_empty() && self.commands.is_empty();
        let is_changed = !(self.dry_run || is_empty);
        json!({
            "changed": is_changed, "files": self.files, "commands": self.commands, "text": summary,
        })
    }
}
