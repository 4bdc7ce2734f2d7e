//! A session with files of many kinds, and everything that can happen to it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use docui::Choice;

use crate::support::*;

pub const OPENS: &[&[&str]] =
    &[&["cjk.txt", "empty.txt"], &["link.txt", "sealed.txt", "mixed.txt", "long.txt"]];
pub const FILE_NAMES: &[&str] =
    &["long.txt", "cjk.txt", "mixed.txt", "empty.txt", "real.txt", "sealed.txt", "new.txt"];
pub const TEXTS: &[&str] =
    &["", "x", "漢字", "a\r\nb", "one\ntwo\nthree", "🦀 crab", "line", "\u{1}\t"];

/// What happens to a session.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "there are few of them")]
pub enum Step {
    /// An action.
    Act(Action, Caller),
    /// The action of one of the links under the heading.
    FollowLink(usize),
    /// Replacing the lines of one of the objects that are shown.
    ReplaceAtObject(usize, &'static str),
    /// An answer to the open question.
    Answer(Choice),
    /// Another program writes a file.
    Write(&'static str, &'static str),
    /// Another program deletes a file.
    Delete(&'static str),
    /// A further `open`.
    Attach(&'static str),
}

/// Who acts, and what they last saw.
#[derive(Debug, Clone, Copy)]
pub enum Caller {
    /// The reader who saw the latest version.
    Latest,
    /// Another reader, who saw one of the earlier versions.
    Earlier(usize),
    /// A further step of the previous run.
    SameRun,
}

/// A session with directories of its own, and the versions that its readers saw.
pub struct Scenario {
    pub host: Host<Editor>,
    pub files: tempfile::TempDir,
    pub state: tempfile::TempDir,
    seen: Vec<u64>,
}

impl Scenario {
    pub fn new() -> Self {
        let (files, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |name: &str, text: &str| fs::write(files.path().join(name), text).unwrap();
        write("cjk.txt", "漢字かな\n\n第二行 line\nline 4\nno newline at the end 終");
        write("mixed.txt", "one\r\ntwo line\n\r\nfour\nfive\r\n");
        let wide = format!("{} line {}\n", "wide ".repeat(60), "after ".repeat(60));
        write("long.txt", &(numbered(45) + &wide.repeat(10)));
        write("empty.txt", "");
        write("real.txt", &numbered(6));
        write("sealed.txt", "\u{feff}sealed\nline\n");
        symlink("real.txt", files.path().join("link.txt")).unwrap();
        fs::set_permissions(files.path().join("sealed.txt"), Permissions::from_mode(0o444))
            .unwrap();
        let mut host = Host::open_as("editor/main", OPENS[0], files.path(), state.path()).unwrap();
        host.attach(OPENS[1]).unwrap();
        Self { host, files, state, seen: Vec::new() }
    }

    /// Takes a step and returns what came of it. With `hibernate`, the session hibernates before an
    /// action and during a change on disk.
    pub fn take(&mut self, step: &Step, hibernate: bool) -> String {
        let outside = matches!(step, Step::Write(..) | Step::Delete(_));
        let version = hibernate.then(|| self.host.hibernate().unwrap());
        if outside {
            self.change_on_disk(step);
        }
        if let Some(version) = version {
            assert_eq!(self.host.wake(version, OPENS), Ok((true, Vec::new())));
        }
        let result = if outside { String::new() } else { self.act(step) };
        self.normalized(&result)
    }

    pub fn change_on_disk(&self, step: &Step) {
        let path = |name: &str| self.files.path().join(name);
        match step {
            Step::Write(name, text) => {
                // The file is replaced, because it may not be writable.
                fs::write(path("fresh"), text).unwrap();
                fs::rename(path("fresh"), path(name)).unwrap();
            }
            Step::Delete(name) => drop(fs::remove_file(path(name))),
            _ => {}
        }
    }

    pub fn act(&mut self, step: &Step) -> String {
        let outcome = match step {
            Step::Act(action, Caller::Latest) => self.host.invoke(action),
            Step::Act(action, Caller::Earlier(which)) => {
                let seen = self.seen.get(which % self.seen.len().max(1)).copied().unwrap_or(0);
                self.host.invoke_as("other", seen, action)
            }
            Step::Act(action, Caller::SameRun) => {
                let seen = self.seen.last().copied().unwrap_or(0);
                self.host.step_as("default", seen, action)
            }
            Step::FollowLink(which) => {
                let nav = self.host.project(Lod::Full, 2_000).unwrap().nav;
                let Some(link) = nav.get(which % nav.len().max(1)) else { return String::new() };
                let action =
                    <Action as docui::Actions>::decode(&link.action, link.args.clone()).unwrap();
                self.host.invoke(&action)
            }
            Step::ReplaceAtObject(which, new) => {
                let content = self.host.project(Lod::Full, 2_000).unwrap().content;
                let objects = content.into_iter().filter_map(|piece| match piece {
                    Piece::Object(object) => Some(object),
                    _ => None,
                });
                let objects: Vec<_> = objects.collect();
                let Some(object) = objects.get(which % objects.len().max(1)) else {
                    return String::new();
                };
                let (first, last) = (to(object), to(object));
                self.host.invoke(&Action::ReplaceLines { first, last, text: text(new) })
            }
            Step::Answer(choice) => self.host.answer(choice.clone()),
            Step::Attach(name) => return format!("{:?}", self.host.attach(&[name])),
            Step::Write(..) | Step::Delete(_) => return String::new(),
        };
        match outcome {
            // The token is not shown to readers.
            Outcome::Needs(needs) => format!("{:?}", needs.question),
            other => format!("{other:?}"),
        }
    }

    /// Returns everything that readers can see of the session.
    pub fn views(&mut self) -> String {
        let mut all = String::new();
        for lod in [Lod::Gist, Lod::Summary, Lod::Full] {
            for budget in [0, 60, 400, 20_000] {
                let projection = self.host.project(lod, budget).unwrap();
                self.seen.push(projection.version);
                all += &format!("{lod:?} {budget}: {projection:?}\n");
            }
        }
        self.seen.dedup();
        self.normalized(&all)
    }

    /// Removes what differs between any two sessions: directories, and the part of ids that makes
    /// them unique.
    pub fn normalized(&self, text: &str) -> String {
        let directories = [(self.files.path(), "FILES"), (self.state.path(), "STATE")];
        let text = directories.iter().fold(text.to_owned(), |text, (path, name)| {
            let path = path.canonicalize().unwrap();
            text.replace(path.to_str().unwrap(), name)
        });
        let mut normalized = String::new();
        let mut rest = text.as_str();
        let kinds = ["change-", "match-", "selection-"];
        while let Some((at, kind)) =
            kinds.iter().filter_map(|kind| Some((rest.find(kind)?, kind))).min()
        {
            let (before, after) = rest.split_at(at + kind.len());
            normalized += before;
            let number = after.splitn(3, '-').nth(2);
            let counted = |number: &&str| number.starts_with(|c: char| c.is_ascii_digit());
            rest = number.filter(counted).unwrap_or(after);
        }
        normalized + rest
    }
}
