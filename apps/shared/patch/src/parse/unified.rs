//! Unified diffs, with git's headers or without.

use std::ops::Range;

use crate::model::{Attributes, Format, Hunk, Move, Name, Patch, SectionChange, Tag};

use super::error::{ParseError, ParseErrorKind, fail};
use super::sections::Sections;
use super::{body, names};

const NAME_FIX: &str = "put `--- a/path` and `+++ b/path` before the hunk";

/// Returns true if a unified diff begins at this line.
pub(super) fn is_start(lines: &[&str], at: usize) -> bool {
    let line = lines[at];
    line.starts_with("diff --git ") || is_pair(lines, at) || is_hunk(line)
}

fn is_pair(lines: &[&str], at: usize) -> bool {
    lines[at].starts_with("--- ") && lines.get(at + 1).is_some_and(|next| next.starts_with("+++ "))
}

fn is_hunk(line: &str) -> bool {
    line.starts_with("@@") && body::head(line).is_some()
}

/// The header lines before the hunks of a file.
#[derive(Default)]
struct Header {
    at: usize,
    git: bool,
    git_names: Option<(Name, Name)>,
    /// The names of `---` and `+++`; the inner `None` is `/dev/null`.
    old: Option<Option<Name>>,
    new: Option<Option<Name>>,
    renamed_from: Option<Name>,
    renamed_to: Option<Name>,
    copied: bool,
    created: bool,
    deleted: bool,
    attributes: Attributes,
}

pub(super) fn parse<'p>(
    lines: &[&'p str],
    ranges: &[Range<usize>],
) -> Result<Patch<'p>, ParseError> {
    let mut reader = Reader { sections: Sections::new(), header: None, hunks: Vec::new() };
    for range in ranges {
        reader.read(&lines[..range.end], range.start)?;
        reader.finish()?;
    }
    Ok(Patch { format: Format::Unified, sections: reader.sections.list })
}

struct Reader<'p> {
    sections: Sections<'p>,
    header: Option<Header>,
    hunks: Vec<Hunk<'p>>,
}

impl<'p> Reader<'p> {
    fn read(&mut self, lines: &[&'p str], start: usize) -> Result<(), ParseError> {
        let mut at = start;
        while at < lines.len() {
            let line = lines[at];
            if let Some(rest) = line.strip_prefix("diff --git ") {
                self.finish()?;
                self.header = Some(Header {
                    at: at + 1,
                    git: true,
                    git_names: names::of_git(rest),
                    ..Header::default()
                });
            } else if is_pair(lines, at) {
                self.names(at, Some(&line[4..]), Some(&lines[at + 1][4..]))?;
                at += 1;
            } else if let Some(rest) = line.strip_prefix("+++ ") {
                self.names(at, None, Some(rest))?;
            } else if let Some(rest) = line.strip_prefix("--- ")
                && lines.get(at + 1).is_some_and(|next| is_hunk(next))
            {
                self.names(at, Some(rest), None)?;
            } else if is_hunk(line) {
                at = self.hunk(lines, at)?;
                continue;
            } else if line.starts_with("@@@ ") {
                return fail(at + 1, ParseErrorKind::Unsupported("a combined diff of a merge"));
            } else if line.starts_with("***************") {
                return fail(at + 1, ParseErrorKind::Unsupported("a context diff (use diff -u)"));
            } else {
                self.extended(line, at)?;
            }
            at += 1;
        }
        Ok(())
    }

    fn names(&mut self, at: usize, old: Option<&str>, new: Option<&str>) -> Result<(), ParseError> {
        if !self.hunks.is_empty()
            || self
                .header
                .as_ref()
                .is_some_and(|header| header.old.is_some() || header.new.is_some())
        {
            self.finish()?;
        }
        let header = self.header.get_or_insert_with(|| Header { at: at + 1, ..Header::default() });
        header.old = old.map(|raw| names::of_diff(raw, header.git));
        header.new = new.map(|raw| names::of_diff(raw, header.git));
        Ok(())
    }

    fn hunk(&mut self, lines: &[&'p str], at: usize) -> Result<usize, ParseError> {
        self.sections.count_hunk(at + 1)?;
        let head = body::head(lines[at]).unwrap_or_default();
        let mut hunk = head.describe(at + 1);
        let end = body::read(lines, at + 1, &head, &mut hunk, |next| {
            let line = lines[next];
            line.starts_with("@@")
                || line.starts_with("diff --git ")
                || line.starts_with("Index: ")
                || is_pair(lines, next)
                || line == "-- "
        });
        if hunk.context().is_some() {
            self.hunks.push(hunk);
        }
        Ok(end)
    }

    /// Parses a line between `diff --git` and `---`.
    fn extended(&mut self, line: &str, at: usize) -> Result<(), ParseError> {
        let Some(header) = self.header.as_mut().filter(|header| header.git) else { return Ok(()) };
        let name = |rest: &str| {
            Some(Name { readings: vec![names::unquote(rest.trim())], from_root: true })
        };
        if let Some(rest) = line.strip_prefix("rename from ") {
            header.renamed_from = name(rest);
        } else if let Some(rest) = line.strip_prefix("rename to ") {
            header.renamed_to = name(rest);
        } else if let Some(rest) = line.strip_prefix("copy from ") {
            (header.renamed_from, header.copied) = (name(rest), true);
        } else if let Some(rest) = line.strip_prefix("copy to ") {
            header.renamed_to = name(rest);
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            header.created = true;
            header.mode(mode, at)?;
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            header.deleted = true;
            header.mode(mode, at)?;
            header.attributes.executable = None;
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            header.mode(mode, at)?;
        } else if let Some((_, mode)) =
            line.strip_prefix("index ").and_then(|rest| rest.trim_end().split_once(' '))
        {
            let executable = header.attributes.executable;
            header.mode(mode, at)?;
            header.attributes.executable = executable;
        } else if line.starts_with("dissimilarity index ") {
            header.attributes.rewrites = true;
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return fail(at + 1, ParseErrorKind::Unsupported("a binary change"));
        }
        Ok(())
    }

    /// Makes a section of what was read of one file.
    fn finish(&mut self) -> Result<(), ParseError> {
        let mut hunks = std::mem::take(&mut self.hunks);
        let Some(header) = self.header.take() else {
            return match hunks.first() {
                Some(hunk) => fail(hunk.at, ParseErrorKind::NoFile(NAME_FIX)),
                None => Ok(()),
            };
        };
        let created = header.created || header.old == Some(None);
        let deleted = header.deleted || header.new == Some(None);
        let (git_old, git_new) =
            header.git_names.map_or((None, None), |(old, new)| (Some(old), Some(new)));
        let old = header.old.flatten().or(git_old);
        let new = header.new.flatten().or(git_new);
        let renamed = header.renamed_from.zip(header.renamed_to);
        let at = header.at;
        let Some(path) =
            (if deleted { old.clone().or(new.clone()) } else { new.clone().or(old.clone()) })
        else {
            return fail(at, ParseErrorKind::NoFile(NAME_FIX));
        };
        let mut attributes = header.attributes;
        if let Some((from, to)) = renamed {
            let moved = Some(Move { to, copy: header.copied });
            attributes.from_original = true;
            return self.sections.push_with(
                at,
                attributes,
                SectionChange::Update { path: from, moved, hunks },
            );
        }
        let only_adds = hunks.iter().all(|hunk| !hunk.has(Tag::Keep) && !hunk.has(Tag::Remove));
        if created && only_adds {
            let final_newline = !hunks.iter().any(|hunk| hunk.new_no_newline);
            let lines = hunks.iter().flat_map(Hunk::added).collect();
            return self.sections.push_with(
                at,
                attributes,
                SectionChange::Create { path, lines, final_newline },
            );
        }
        if deleted {
            let content = if hunks.len() == 1 { hunks.pop() } else { None };
            return self.sections.push_with(
                at,
                attributes,
                SectionChange::Delete { path, content },
            );
        }
        if hunks.is_empty() && attributes.executable.is_none() {
            return Ok(());
        }
        // `--- x.rs.orig` and `+++ x.rs`: the second is the file, unless only the first exists.
        let mut path = path;
        for reading in old.into_iter().flat_map(|name| name.readings) {
            if !path.readings.contains(&reading) {
                path.readings.push(reading);
            }
        }
        self.sections.push_with(at, attributes, SectionChange::Update { path, moved: None, hunks })
    }
}

impl Header {
    /// Takes a mode as git writes it, in octal digits.
    fn mode(&mut self, mode: &str, at: usize) -> Result<(), ParseError> {
        match mode.trim() {
            "120000" => self.attributes.link = true,
            "100755" => self.attributes.executable = Some(true),
            mode if mode.starts_with("100") => self.attributes.executable = Some(false),
            _ => return fail(at + 1, ParseErrorKind::Unsupported("a submodule")),
        }
        Ok(())
    }
}
