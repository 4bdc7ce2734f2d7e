//! `git diff`, and the diffs in `git show` and `git log -p`. The lines of a hunk are counted, so
//! that nothing in a changed file is taken for a problem.

use crate::collector::Collector;
use crate::git::add_file;
use crate::limits::HUNKS_MAX;
use crate::model::{FileState, GitFile, Hunk};
use crate::recogniser::{Claim, Recogniser};
use crate::scan::number;
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Diff {
    /// Lines that the hunk still has of the old and of the new file.
    old_left: u32,
    new_left: u32,
    /// Whether the file is among those that are kept.
    kept: bool,
}

impl Recogniser for Diff {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if !within {
            (self.old_left, self.new_left) = (0, 0);
        }
        if self.old_left > 0 || self.new_left > 0 {
            return self.content(text, found);
        }
        if let Some(names) = text.strip_prefix("diff --git ") {
            self.kept = add_file(found, new_name(names), FileState::Modified, None);
            return Claim::more(Class::Plain);
        }
        if let Some(names) =
            text.strip_prefix("diff --cc ").or_else(|| text.strip_prefix("diff --combined "))
        {
            self.kept = add_file(found, names, FileState::Unmerged, None);
            return Claim::one(Class::Plain);
        }
        if !within {
            return None;
        }
        if let Some(hunk) = text.strip_prefix("@@ -").and_then(|rest| hunk(rest, found.number)) {
            (self.old_left, self.new_left) = (hunk.old_count, hunk.new_count);
            if let Some(file) = self.file(found).filter(|file| file.hunks.len() < HUNKS_MAX) {
                file.hunks.push(hunk);
            }
            return Claim::more(Class::Plain);
        }
        if text.starts_with("\\ ") {
            return Claim::more(Class::Plain);
        }
        self.header(text, found)
    }
}

impl Diff {
    fn file<'f>(&self, found: &'f mut Collector) -> Option<&'f mut GitFile> {
        if self.kept { found.git.files.last_mut() } else { None }
    }

    fn content(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        match text.as_bytes().first() {
            Some(b'+') => {
                self.new_left = self.new_left.saturating_sub(1);
                if let Some(file) = self.file(found) {
                    file.added += 1;
                }
            }
            Some(b'-') => {
                self.old_left = self.old_left.saturating_sub(1);
                if let Some(file) = self.file(found) {
                    file.removed += 1;
                }
            }
            Some(b'\\') => {}
            // An empty line of context has lost its space.
            Some(b' ') | None => {
                self.old_left = self.old_left.saturating_sub(1);
                self.new_left = self.new_left.saturating_sub(1);
            }
            // It was cut: this line is none of the hunk's.
            _ => {
                (self.old_left, self.new_left) = (0, 0);
                return None;
            }
        }
        Claim::more(Class::Plain)
    }

    fn header(&self, text: &str, found: &mut Collector) -> Option<Claim> {
        let kept = self.kept;
        let file = found.git.files.last_mut().filter(|_| kept);
        let state = |file: Option<&mut GitFile>, state| {
            if let Some(file) = file {
                file.state = state;
            }
        };
        if text.starts_with("new file mode ") {
            state(file, FileState::Added);
        } else if text.starts_with("deleted file mode ") {
            state(file, FileState::Deleted);
        } else if let Some(from) = text.strip_prefix("rename from ") {
            if let Some(file) = file {
                (file.state, file.from) = (FileState::Renamed, Some(from.to_owned()));
            }
        } else if let Some(from) = text.strip_prefix("copy from ") {
            if let Some(file) = file {
                (file.state, file.from) = (FileState::Copied, Some(from.to_owned()));
            }
        } else if let Some(to) = text.strip_prefix("+++ ") {
            // The only unmistakable name of a path with spaces.
            if let (Some(file), Some(to)) = (file, to.strip_prefix("b/")) {
                to.trim_end_matches('\t').clone_into(&mut file.path);
            }
        } else {
            let known = [
                "--- ",
                "index ",
                "old mode ",
                "new mode ",
                "similarity ",
                "dissimilarity ",
                "rename to ",
                "copy to ",
                "Binary files ",
            ];
            if !known.iter().any(|word| text.starts_with(word)) {
                return None;
            }
        }
        Claim::more(Class::Plain)
    }
}

/// The new path of `a/old b/new`. Both names are alike unless the file was renamed, which another
/// line tells.
fn new_name(names: &str) -> &str {
    let half = names.len() / 2;
    if names.is_char_boundary(half)
        && let Some(old) = names[..half].strip_prefix("a/")
        && let Some(new) = names[half..].strip_prefix(" b/")
        && old == new
    {
        return new;
    }
    names.rsplit_once(" b/").map_or(names, |(_, new)| new)
}

/// `28,3 +28,4 @@ heading`.
fn hunk(text: &str, at: u64) -> Option<Hunk> {
    let (old, rest) = text.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| {
        let (line, rest) = number(text)?;
        let count = match rest.strip_prefix(',') {
            Some(count) => number(count)?.0,
            None => 1,
        };
        Some((line, count))
    };
    let ((old_line, old_count), (new_line, new_count)) = (range(old)?, range(new)?);
    Some(Hunk { old_line, old_count, new_line, new_count, at })
}
