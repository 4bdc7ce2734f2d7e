//! `git status`: long, `--porcelain=v2`, and short, which is like too much else to be told from it:
//! it has a header, or the command is known.

use crate::collector::Collector;
use crate::git::add_file;
use crate::model::FileState;
use crate::recogniser::{Claim, Recogniser};
use crate::transcript::Class;

/// The state of the files in a part of the output.
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
    /// True for an output that is known to be the short form.
    is_short: bool,
    /// True behind the header of the short form.
    has_header: bool,
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
        if let Some(branch) = text.strip_prefix("## ").filter(|_| self.is_short || is_header(text))
        {
            let branch = branch.strip_prefix("No commits yet on ").unwrap_or(branch);
            let end = branch.find("...").or_else(|| branch.find(' ')).unwrap_or(branch.len());
            found.git.branch = Some(branch[..end].to_owned());
            (self.has_header, self.porcelain) = (true, false);
            return Claim::more(Class::Plain);
        }
        if self.is_short || (within && self.has_header) {
            if let Some(claim) = short(text, found) {
                return Some(claim);
            }
            self.has_header = false;
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
    pub(crate) fn new(is_short: bool) -> Self {
        Self { is_short, ..Self::default() }
    }

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

/// Returns true for a header that only the short form has: `## main...origin/main [ahead 1]`.
fn is_header(text: &str) -> bool {
    text.starts_with("## ") && !text[3..].starts_with(' ') && text.contains("...")
}

/// ` M path`, `R  old -> new`, `?? path`.
fn short(text: &str, found: &mut Collector) -> Option<Claim> {
    let flags = text.get(..2).filter(|_| text.as_bytes().get(2) == Some(&b' '))?;
    let path = unquoted(&text[3..]);
    if flags == "??" || flags == "!!" {
        if flags == "??" {
            add_file(found, &path, FileState::Untracked, Some(false));
        }
        return Claim::more(Class::Plain);
    }
    if !flags.chars().all(|flag| " MTADRCU".contains(flag)) || flags == "  " {
        return None;
    }
    if flags.contains('U') || flags == "AA" || flags == "DD" {
        add_file(found, &path, FileState::Unmerged, Some(false));
        return Claim::more(Class::Plain);
    }
    for (flag, staged) in flags.chars().zip([true, false]) {
        let state = match flag {
            'A' => FileState::Added,
            'M' | 'T' => FileState::Modified,
            'D' => FileState::Deleted,
            'R' => FileState::Renamed,
            'C' => FileState::Copied,
            _ => continue,
        };
        let (from, to) = match text[3..].split_once(" -> ") {
            Some((from, to)) if matches!(flag, 'R' | 'C') => (Some(unquoted(from)), unquoted(to)),
            _ => (None, path.clone()),
        };
        if add_file(found, &to, state, Some(staged))
            && let Some(file) = found.git.files.last_mut()
        {
            file.from = from;
        }
    }
    Claim::more(Class::Plain)
}

/// Returns a path without the quotes that git writes around one with spaces or other bytes than
/// ASCII.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')) else {
        return path.to_owned();
    };
    let (mut bytes, mut rest) = (Vec::new(), inner.bytes());
    while let Some(byte) = rest.next() {
        match (byte, byte == b'\\') {
            (_, true) => match rest.next() {
                Some(b'n') => bytes.push(b'\n'),
                Some(b't') => bytes.push(b'\t'),
                Some(digit @ b'0'..=b'7') => {
                    let next = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                    let value = next.iter().fold(u32::from(digit - b'0'), |value, digit| {
                        value * 8 + u32::from(digit.wrapping_sub(b'0') & 7)
                    });
                    bytes.push(value as u8);
                }
                Some(other) => bytes.push(other),
                None => {}
            },
            (byte, false) => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
