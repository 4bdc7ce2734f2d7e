//! The flaws of one message.

use pipemux_proto::limits::KEY_MAX;

/// A flaw in a message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lint {
    /// The position in the message, as a path: `content[17].object.key`.
    pub path: String,
    /// The name of the rule.
    pub rule: &'static str,
    /// The description of the problem, and the remedy.
    pub text: String,
}

/// The flaws that were found so far.
#[derive(Debug, Default)]
pub(super) struct Lints(pub Vec<Lint>);

impl Lints {
    pub fn add(&mut self, rule: &'static str, path: impl Into<String>, text: impl Into<String>) {
        self.0.push(Lint { path: path.into(), rule, text: text.into() });
    }

    /// Checks a text of one line.
    pub fn line(&mut self, path: &str, text: &str, chars: usize) {
        if text.contains(['\n', '\r']) {
            self.add(
                "one-line",
                path,
                "has a line break, which becomes a space; keep it to one line",
            );
        }
        self.text(path, text, chars);
    }

    /// Checks a text of several lines.
    pub fn text(&mut self, path: &str, text: &str, chars: usize) {
        // No character is shorter than a byte, so most texts aren't counted.
        if text.len() > chars {
            let count = text.chars().count();
            if count > chars {
                self.add("too-long", path, format!("has {count} characters and is cut to {chars}"));
            }
        }
    }

    /// Checks how many items there are.
    pub fn count(&mut self, path: &str, count: usize, most: usize) {
        if count > most {
            self.add("too-many", path, format!("has {count} items, of which {most} are used"));
        }
    }

    /// Checks the key of a job; one that can't be kept isn't followed.
    pub fn job_key(&mut self, path: &str, key: &str) {
        if !(1..=KEY_MAX).contains(&key.len()) {
            let text =
                format!("has {} bytes, expected 1 to {KEY_MAX}: the job isn't followed", key.len());
            self.add("key", path, text);
        }
    }
}
