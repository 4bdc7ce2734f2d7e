//! `git log` in its default format, as `git show` begins, too; and in one line for each commit,
//! where the command is known.

use crate::collector::Collector;
use crate::git::add_commit;
use crate::recogniser::{Claim, Recogniser};
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    kept: bool,
    /// True for an output that is known to have a line for each commit.
    is_oneline: bool,
}

impl Log {
    pub(crate) fn new(is_oneline: bool) -> Self {
        Self { is_oneline, ..Self::default() }
    }
}

impl Recogniser for Log {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if let Some(id) = text.strip_prefix("commit ") {
            let id = id.split(' ').next().unwrap_or(id);
            if (40..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                self.kept = add_commit(found, id, "");
                return Claim::more(Class::Plain);
            }
        }
        if self.is_oneline
            && let Some((id, subject)) = text.split_once(' ')
            && (4..=64).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            add_commit(found, id, subject);
            return Claim::one(Class::Plain);
        }
        if !within {
            return None;
        }
        let kept = self.kept;
        let commit = found.git.commits.last_mut().filter(|_| kept);
        if let Some(author) = text.strip_prefix("Author: ") {
            if let Some(commit) = commit {
                commit.author = Some(author.trim().to_owned());
            }
        } else if let Some(date) = text.strip_prefix("Date: ") {
            if let Some(commit) = commit {
                commit.date = Some(date.trim().to_owned());
            }
        } else if let Some(message) = text.strip_prefix("    ") {
            // Whatever a message has, it is no problem of this command.
            if let Some(commit) = commit.filter(|commit| commit.subject.is_empty()) {
                message.clone_into(&mut commit.subject);
            }
        } else if !(text.is_empty() || text.starts_with("Merge: ")) {
            return None;
        }
        Claim::more(Class::Plain)
    }
}
