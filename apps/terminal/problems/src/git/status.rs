//! `git status`, long and `--porcelain=v2`. The short form is like too much else to be told from it.

use crate::collector::Collector;
use crate::git::add_file;
use crate::model::FileState;
use crate::recognise::{Claim, Recogniser};
use crate::transcript::Class;

/// What the files in a part of the output are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Section {
    #[default]
    None,
    Staged,
    Unstaged,
    Untracked,
    Unmerged,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Status {
    section: Section,
    porcelain: bool,
}

impl Recogniser for Status {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if let Some(branch) = text.strip_prefix("# branch.head ") {
            found.git.branch = Some(branch.to_owned());
            self.porcelain = true;
            return Claim::more(Class::Plain);
        }
        if text.starts_with("# branch.") {
            return Claim::more(Class::Plain);
        }
        if let Some(branch) = text.strip_prefix("On branch ") {
            found.git.branch = Some(branch.to_owned());
            (self.porcelain, self.section) = (false, Section::None);
            return Claim::more(Class::Plain);
        }
        let section = match text {
            "Changes to be committed:" => Section::Staged,
            "Changes not staged for commit:" => Section::Unstaged,
            "Untracked files:" => Section::Untracked,
            "Unmerged paths:" => Section::Unmerged,
            _ => Section::None,
        };
        if section != Section::None {
            (self.section, self.porcelain) = (section, false);
            return Claim::more(Class::Plain);
        }
        if !within {
            return None;
        }
        if self.porcelain {
            return porcelain(text, found);
        }
        if let Some(entry) = text.strip_prefix('\t') {
            self.entry(entry, found);
            return Claim::more(Class::Plain);
        }
        let more = text.is_empty() || text.starts_with("  (") || text.starts_with("Your branch");
        if more { Claim::more(Class::Plain) } else { None }
    }
}

impl Status {
    fn entry(&self, entry: &str, found: &mut Collector) {
        let (word, path) = match entry.split_once(':') {
            Some((word, path)) if self.section != Section::Untracked => (word, path.trim()),
            _ => ("", entry),
        };
        let state = match (self.section, word) {
            (Section::Untracked, _) => FileState::Untracked,
            (Section::Unmerged, _) => FileState::Unmerged,
            (_, "new file") => FileState::Added,
            (_, "deleted") => FileState::Deleted,
            (_, "renamed") => FileState::Renamed,
            (_, "copied") => FileState::Copied,
            _ => FileState::Modified,
        };
        let (from, path) = match path.split_once(" -> ") {
            Some((from, to)) if matches!(state, FileState::Renamed | FileState::Copied) => {
                (Some(from.to_owned()), to)
            }
            _ => (None, path),
        };
        if add_file(found, path, state, Some(self.section == Section::Staged))
            && let Some(file) = found.git.files.last_mut()
        {
            file.from = from;
        }
    }
}

/// `1 .M N... 100644 100644 100644 <hash> <hash> path`.
fn porcelain(text: &str, found: &mut Collector) -> Option<Claim> {
    let (kind, rest) = text.split_once(' ')?;
    let fields = match kind {
        "1" => 7,
        "2" => 8,
        "u" => 9,
        "?" => {
            add_file(found, rest, FileState::Untracked, Some(false));
            return Claim::more(Class::Plain);
        }
        _ => return None,
    };
    let mut parts = rest.splitn(fields + 1, ' ');
    let flags = parts.next()?;
    let path = parts.nth(fields - 1)?;
    let (path, from) =
        path.split_once('\t').map_or((path, None), |(path, from)| (path, Some(from)));
    let mut flags = flags.chars();
    let (index, tree) = (flags.next()?, flags.next()?);
    for (flag, staged) in [(index, true), (tree, false)] {
        let state = match flag {
            _ if kind == "u" => FileState::Unmerged,
            'A' => FileState::Added,
            'M' | 'T' => FileState::Modified,
            'D' => FileState::Deleted,
            'R' => FileState::Renamed,
            'C' => FileState::Copied,
            _ => continue,
        };
        if add_file(found, path, state, Some(staged))
            && let Some(file) = found.git.files.last_mut()
        {
            file.from = from.map(str::to_owned);
        }
        if kind == "u" {
            break;
        }
    }
    Claim::more(Class::Plain)
}
