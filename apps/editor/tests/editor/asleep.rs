//! A sleep that nobody notices: what is put to sleep and woken goes on like what stayed awake.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use docui::{App, Choice};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const OPENS: &[&[&str]] =
    &[&["cjk.txt", "empty.txt"], &["link.txt", "sealed.txt", "mixed.txt", "long.txt"]];
const NAMES: &[&str] =
    &["long.txt", "cjk.txt", "mixed.txt", "empty.txt", "real.txt", "sealed.txt", "new.txt"];
const TEXTS: &[&str] =
    &["", "x", "漢字", "a\r\nb", "one\ntwo\nthree", "🦀 crab", "line", "\u{1}\t"];

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
        3 => any::<usize>().prop_map(Who::Earlier),
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
    let line = || prop_oneof![3 => 1..7i64, 1 => 40..58i64].prop_map(at);
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
            let counted = |number: &&str| number.starts_with(|c: char| c.is_ascii_digit());
            rest = number.filter(counted).unwrap_or(after);
        }
        plain + rest
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
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

const STATE: &str = "asleep.json";

/// A session with unsaved edits of two files, one of them with mixed line endings.
fn edited() -> World {
    let mut world = World::new();
    for action in [replace("line 42", "四"), Action::Open { path: "mixed.txt".into() }] {
        done(world.host.invoke(&action));
    }
    world.views();
    done(world.host.invoke(&insert(1, "new")));
    world.views();
    world
}

fn shown(world: &mut World) -> String {
    world.host.text(Lod::Full, 2_000).unwrap()
}

#[test]
fn what_ends_lines_is_remembered_as_it_was_read() {
    let mut world = edited();
    for _ in 0..2 {
        done(world.host.invoke(&delete_lines(1, 2)));
        world.views();
    }
    world.host.sleep_and_wake(OPENS).unwrap();
    done(world.host.invoke(&insert(1, "crlf")));
    let text = world.host.app().unwrap().current().unwrap().buffer().text();
    assert_eq!(text, "crlf\r\nfour\nfive\r\n");
}

#[test]
fn a_file_changed_during_the_sleep_is_an_ordinary_change_from_outside() {
    let mut world = World::new();
    done(world.host.invoke(&Action::Open { path: "real.txt".into() }));
    shown(&mut world);
    let version = world.host.sleep().unwrap();
    world.meddle(&Deed::Write("real.txt", "new\nline 1\nline 2\n"));
    assert_eq!(world.host.wake(version, OPENS), Ok((true, Vec::new())));
    // By the number that was seen before the sleep; the line is still there, one further down.
    done(world.host.invoke(&replace_lines(2, 2, "zwei")));
    assert!(shown(&mut world).contains("3\tzwei\n"));
    done(world.host.invoke(&Action::Undo { steps: 2, change: None }));
    assert!(shown(&mut world).contains("6\tline 6\n"), "what was read before is undone to");
    let version = world.host.sleep().unwrap();
    fs::remove_file(world.files.path().join("real.txt")).unwrap();
    assert_eq!(world.host.wake(version, OPENS), Ok((true, Vec::new())));
    assert!(shown(&mut world).contains("unsaved · deleted on disk"));
}

#[test]
fn a_damaged_or_missing_state_is_a_restart_that_is_told_and_loses_no_edit() {
    let mut world = edited();
    let mut version = world.host.sleep().unwrap();
    let path = world.state.path().join(STATE);
    let whole = fs::read(&path).unwrap();
    let cuts = [0, 1, 17, whole.len() / 2, whole.len() - 1];
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let mut damaged: Vec<_> = cuts.iter().map(|cut| whole[..*cut].to_vec()).collect();
    damaged.extend([10, whole.len() / 3, whole.len() - 4].map(flipped));
    for (number, bytes) in damaged.iter().enumerate() {
        fs::write(&path, bytes).unwrap();
        let (resumed, notes) = world.host.wake(version, OPENS).unwrap();
        assert!(!resumed, "{number}");
        let told = format!("is damaged ({})", path.with_extension("damaged").display());
        assert!(
            notes[0].contains(&told) && notes[1].contains("unsaved edits restored"),
            "{notes:?}"
        );
        assert!(shown(&mut world).contains("1\tnew\n"));
        version = world.host.sleep().unwrap();
        fs::remove_file(path.with_extension("damaged")).unwrap();
    }
    fs::remove_file(&path).unwrap();
    let version = world.host.wake(version, OPENS).map(|_| world.host.sleep().unwrap()).unwrap();
    fs::remove_file(&path).unwrap();
    let (resumed, notes) = world.host.wake(version, OPENS).unwrap();
    assert!(!resumed && notes[0].contains("before hibernation is missing"), "{notes:?}");
    assert!(shown(&mut world).contains("1\tnew\n"));
    // Who is not said to be woken doesn't even look at a state, and lets nobody else.
    fs::write(&path, &whole).unwrap();
    let restart = opening(&[], world.files.path(), world.state.path(), true);
    assert!(!Editor::open(&restart).unwrap().resumed() && !path.exists());
}

#[test]
fn a_crash_after_the_waking_goes_by_what_was_done_since() {
    let mut world = edited();
    let (path, files) = (world.state.path().join(STATE), world.files.path().to_owned());
    // Also when the journals were lost meanwhile: what is unsaved is in the state.
    let version = world.host.sleep().unwrap();
    let journals = || {
        let entries = fs::read_dir(path.parent().unwrap()).unwrap().flatten();
        entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|e| e == "unsaved"))
    };
    journals().for_each(|journal| fs::remove_file(journal).unwrap());
    assert_eq!(world.host.wake(version, OPENS), Ok((true, Vec::new())));
    assert!(path.exists(), "until something changes, it may be killed and woken once more");
    assert_eq!(journals().count(), 2);
    shown(&mut world);
    done(world.host.invoke(&insert(1, "after")));
    assert!(!path.exists(), "an old state must not come back");
    let mut again = Editor::open(&opening(&[], &files, world.state.path(), true)).unwrap();
    assert!(again.notes().iter().all(|note| note.contains("unsaved edits restored")));
    assert!(again.current().unwrap().buffer().text().starts_with("after\r\nnew\r\n"));
}

#[test]
fn a_state_that_cannot_be_written_keeps_the_session_awake() {
    let mut world = edited();
    let before = world.views();
    let away = world.files.path().join("away");
    fs::rename(world.state.path(), &away).unwrap();
    assert!(world.host.sleep().unwrap_err().message.contains("can't be written"));
    fs::rename(&away, world.state.path()).unwrap();
    assert_eq!(world.views(), before);
    world.host.sleep_and_wake(OPENS).unwrap();
    assert_eq!(world.views(), before);
}

#[test]
fn ten_megabytes_with_a_thousand_steps_sleep_and_wake() {
    let mut world = World::new();
    let long = "0123456789 漢字 a line of some length, as there are many\n".repeat(170_000);
    fs::write(world.files.path().join("new.txt"), &long).unwrap();
    done(world.host.invoke(&Action::Open { path: "new.txt".into() }));
    shown(&mut world);
    for step in 0..1_000 {
        let line = step * 3 + 1;
        done(world.host.invoke(&replace_lines(line, line, &format!("step {step}"))));
    }
    let before = world.views();
    let clock = std::time::Instant::now();
    let version = world.host.sleep().unwrap();
    let saved = clock.elapsed();
    assert_eq!(world.host.wake(version, OPENS), Ok((true, Vec::new())));
    println!(
        "{} MB: saved in {saved:?}, woken in {:?}",
        long.len() / 1_000_000,
        clock.elapsed() - saved
    );
    assert_eq!(world.views(), before);
}
