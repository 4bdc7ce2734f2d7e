//! A sleep that nobody notices: what is put to sleep and woken goes on like what stayed awake.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use docui::Choice;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const OPENS: &[&[&str]] = &[&["cjk.txt", "crlf.txt"], &["empty.txt", "link.txt", "sealed.txt"]];
const NAMES: &[&str] = &["cjk.txt", "crlf.txt", "empty.txt", "real.txt", "sealed.txt", "new.txt"];
const TEXTS: &[&str] = &["", "x", "漢字", "a\r\nb", "one\ntwo\nthree", "🦀 crab", "line", "\u{1}\t"];

/// What happens to a session.
#[derive(Debug, Clone)]
enum Deed {
    Act(Action, Who),
    /// A click on one of the links under the heading.
    Click(usize),
    /// Lines replaced at one of the things that are shown.
    At(usize, &'static str),
    Answer(Choice),
    Write(&'static str, &'static str),
    Delete(&'static str),
    /// A further `open`.
    Attach(&'static str),
}

/// Who acts, having seen what.
#[derive(Debug, Clone, Copy)]
enum Who {
    /// Who saw the latest.
    Latest,
    /// Another reader, who saw one of the versions before.
    Earlier(usize),
    /// A further step of the run before.
    Run,
}

fn deed() -> impl Strategy<Value = Deed> {
    let who = prop_oneof![
        3 => Just(Who::Latest),
        1 => any::<usize>().prop_map(Who::Earlier),
        1 => Just(Who::Run),
    ];
    let choice = prop_oneof![
        vec(1..4u32, 0..3).prop_map(Choice::Picked),
        vec(1..3u32, 0..2).prop_map(Choice::AllBut),
    ];
    let (name, words) = (|| select(NAMES), || select(TEXTS));
    prop_oneof![
        12 => (action(), who).prop_map(|(action, who)| Deed::Act(action, who)),
        2 => any::<usize>().prop_map(Deed::Click),
        1 => (any::<usize>(), words()).prop_map(|(index, text)| Deed::At(index, text)),
        2 => choice.prop_map(Deed::Answer),
        2 => (name(), words()).prop_map(|(name, text)| Deed::Write(name, text)),
        1 => name().prop_map(Deed::Delete),
        1 => name().prop_map(Deed::Attach),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let line = || (1..7i64).prop_map(at);
    let (words, name) = (|| select(TEXTS), || select(NAMES).prop_map(str::to_owned));
    prop_oneof![
        2 => (words(), words(), any::<bool>()).prop_map(|(old, new, all)| Action::Replace {
            old: old.into(), new: text(new), all,
        }),
        3 => (line(), line(), words()).prop_map(|(first, last, new)| Action::ReplaceLines {
            first, last, text: text(new),
        }),
        2 => (line(), words()).prop_map(|(at, new)| Action::Insert { at, text: text(new) }),
        1 => (line(), line()).prop_map(|(first, last)| Action::DeleteLines { first, last }),
        2 => (line(), line(), line()).prop_map(|(first, last, before)| Action::MoveLines {
            first, last, before,
        }),
        2 => (1..3i64).prop_map(|steps| Action::Undo { steps, change: None }),
        2 => (1..3i64).prop_map(|steps| Action::Redo { steps, change: None }),
        2 => Just(save()),
        1 => name().prop_map(|path| Action::SaveAs { path }),
        2 => name().prop_map(|path| Action::Open { path }),
        1 => Just(Action::Close { file: None }),
        2 => words().prop_map(|text| Action::Find { text: text.into() }),
        2 => (line(), line()).prop_map(|(first, last)| Action::Select { first, last }),
        1 => (line(), line()).prop_map(|(first, last)| Action::Lines { first, last }),
        1 => (name(), 1..5i64).prop_map(|(name, line)| Action::Goto {
            line: place(&format!("{name}:{line}")),
        }),
        1 => Just(Action::Diff {}),
    ]
}

/// A session in directories of its own, and the versions that were seen of it.
struct World {
    host: Host<Editor>,
    files: tempfile::TempDir,
    state: tempfile::TempDir,
    seen: Vec<u64>,
}

impl World {
    fn new() -> Self {
        let (files, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |name: &str, text: &str| fs::write(files.path().join(name), text).unwrap();
        write("cjk.txt", "漢字かな\n\n第二行 line\nline 4\nno newline at the end 終");
        write("crlf.txt", "one\r\ntwo line\r\n\r\nfour\r\nfive\r\n");
        write("empty.txt", "");
        write("real.txt", &numbered(6));
        write("sealed.txt", "\u{feff}sealed\nline\n");
        symlink("real.txt", files.path().join("link.txt")).unwrap();
        fs::set_permissions(files.path().join("sealed.txt"), Permissions::from_mode(0o444)).unwrap();
        let mut host = Host::open(OPENS[0], files.path(), state.path()).unwrap();
        host.attach(OPENS[1]).unwrap();
        Self { host, files, state, seen: Vec::new() }
    }

    /// Does it and tells what came of it, asleep meanwhile or just before if so wanted.
    fn deed(&mut self, deed: &Deed, sleep: bool) -> String {
        let outside = matches!(deed, Deed::Write(..) | Deed::Delete(_));
        let version = sleep.then(|| self.host.sleep().unwrap());
        if outside {
            self.meddle(deed);
        }
        if let Some(version) = version {
            assert_eq!(self.host.wake(version, OPENS), Ok((true, Vec::new())));
        }
        let told = if outside { String::new() } else { self.act(deed) };
        self.plain(&told)
    }

    fn meddle(&self, deed: &Deed) {
        let path = |name: &str| self.files.path().join(name);
        match deed {
            Deed::Write(name, text) => {
                // Another file in its place: another one may not be writable.
                fs::write(path("fresh"), text).unwrap();
                fs::rename(path("fresh"), path(name)).unwrap();
            }
            Deed::Delete(name) => drop(fs::remove_file(path(name))),
            _ => {}
        }
    }

    fn act(&mut self, deed: &Deed) -> String {
        let outcome = match deed {
            Deed::Act(action, Who::Latest) => self.host.invoke(action),
            Deed::Act(action, Who::Earlier(which)) => {
                let seen = self.seen.get(which % self.seen.len().max(1)).copied().unwrap_or(0);
                self.host.invoke_as("other", seen, action)
            }
            Deed::Act(action, Who::Run) => {
                let seen = self.seen.last().copied().unwrap_or(0);
                self.host.step_as("default", seen, action)
            }
            Deed::Click(which) => {
                let nav = self.host.project(Lod::Full, 2_000).unwrap().nav;
                let Some(link) = nav.get(which % nav.len().max(1)) else { return String::new() };
                let action =
                    <Action as docui::Actions>::decode(&link.action, link.args.clone()).unwrap();
                self.host.invoke(&action)
            }
            Deed::At(which, new) => {
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
            Deed::Answer(choice) => self.host.answer(choice.clone()),
            Deed::Attach(name) => return format!("{:?}", self.host.attach(&[name])),
            Deed::Write(..) | Deed::Delete(_) => return String::new(),
        };
        match outcome {
            // What comes back with the answer is the editor's own affair.
            Outcome::Needs(needs) => format!("{:?}", needs.question),
            other => format!("{other:?}"),
        }
    }

    /// All that can be seen of it.
    fn views(&mut self) -> String {
        let mut all = String::new();
        for lod in [Lod::Gist, Lod::Summary, Lod::Full] {
            for budget in [0, 60, 400, 20_000] {
                let projection = self.host.project(lod, budget).unwrap();
                self.seen.push(projection.version);
                all += &format!("{lod:?} {budget}: {projection:?}\n");
            }
        }
        self.seen.dedup();
        self.plain(&all)
    }

    /// Without what differs between any two sessions: directories, and what makes names unique.
    fn plain(&self, text: &str) -> String {
        let directories = [(self.files.path(), "FILES"), (self.state.path(), "STATE")];
        let text = directories.iter().fold(text.to_owned(), |text, (path, name)| {
            let path = path.canonicalize().unwrap();
            text.replace(path.to_str().unwrap(), name)
        });
        let mut plain = String::new();
        let mut rest = text.as_str();
        let kinds = ["change-", "match-", "selection-"];
        while let Some((at, kind)) =
            kinds.iter().filter_map(|kind| Some((rest.find(kind)?, kind))).min()
        {
            let (before, after) = rest.split_at(at + kind.len());
            plain += before;
            let number = after.splitn(3, '-').nth(2);
            rest = number.filter(|number| number.starts_with(|c: char| c.is_ascii_digit()));
            rest = rest.unwrap_or(after);
        }
        plain + rest
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn who_slept_is_not_told_from_who_did_not(
        deeds in vec((deed(), prop::bool::weighted(0.3)), 1..14),
    ) {
        let (mut awake, mut sleeper) = (World::new(), World::new());
        prop_assert_eq!(awake.views(), sleeper.views());
        for (deed, sleep) in &deeds {
            prop_assert_eq!(awake.deed(deed, false), sleeper.deed(deed, *sleep), "{:?}", deed);
            prop_assert_eq!(awake.views(), sleeper.views(), "{:?}", deed);
        }
        let texts = |world: &World| {
            let read = |name: &&str| fs::read(world.files.path().join(name)).ok();
            NAMES.iter().map(read).collect::<Vec<_>>()
        };
        prop_assert_eq!(texts(&awake), texts(&sleeper));
    }
}
