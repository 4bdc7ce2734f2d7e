//! Whatever commands and edits do: a change that is taken back leaves what `git merge-file` gives,
//! or nothing is written.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;

use crate::support::{Sample, all, git};

/// What is at the paths of a project.
type Files = BTreeMap<String, (Vec<u8>, bool)>;

const NAMES: [&str; 5] = ["a.txt", "d/b", "d/e/ü 文.md", "c.bin", "-x"];

#[derive(Debug, Clone)]
enum Act {
    Line(usize, usize, &'static str),
    Write(usize, Vec<u8>),
    Remove(usize),
    Rename(usize, usize),
    Mode(usize, bool),
}

fn act() -> impl Strategy<Value = Act> {
    let name = 0..NAMES.len();
    let line = prop::sample::select(vec!["x\n", "数\r\n", "", "same\nsame\n", "end"]);
    prop_oneof![
        6 => (name.clone(), 0..12usize, line).prop_map(|(at, line, text)| Act::Line(at, line, text)),
        1 => (name.clone(), text()).prop_map(|(at, text)| Act::Write(at, text)),
        1 => name.clone().prop_map(Act::Remove),
        1 => (name.clone(), name.clone()).prop_map(|(from, to)| Act::Rename(from, to)),
        1 => (name, any::<bool>()).prop_map(|(at, on)| Act::Mode(at, on)),
    ]
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(vec!["one\n", "two\n", "三\r\n", "{\n", "}\n", "\n"]);
    prop_oneof![
        6 => prop::collection::vec(line, 4..14).prop_map(|lines| lines.concat().into_bytes()),
        1 => prop::collection::vec(0..4u8, 1..20),
        1 => Just(Vec::new()),
    ]
}

fn carry_out(sample: &Sample, act: &Act) {
    let path = |at: &usize| sample.path(NAMES[*at]);
    match act {
        Act::Line(at, line, new) => {
            let Ok(text) = fs::read(path(at)) else { return };
            let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
            if *line < lines.len() {
                lines[*line] = new.as_bytes();
            }
            fs::write(path(at), lines.concat()).unwrap();
        }
        Act::Write(at, text) => sample.write(NAMES[*at], text),
        Act::Remove(at) => drop(fs::remove_file(path(at))),
        Act::Rename(from, to) => {
            fs::create_dir_all(path(to).parent().unwrap()).unwrap();
            let _ = fs::rename(path(from), path(to));
        }
        Act::Mode(at, on) => {
            let mode = fs::Permissions::from_mode(if *on { 0o755 } else { 0o644 });
            let _ = fs::set_permissions(path(at), mode);
        }
    }
}

fn files(sample: &Sample) -> Files {
    let file = |name: &&str| {
        let bytes = fs::read(sample.path(name)).ok()?;
        let mode = fs::metadata(sample.path(name)).ok()?.permissions().mode();
        Some(((*name).to_owned(), (bytes, mode & 0o100 != 0)))
    };
    NAMES.iter().filter_map(file).collect()
}

/// Returns what `git merge-file` gives; nothing for a conflict or what it takes for binary.
fn merge_file(dir: &Path, now: &[u8], base: &[u8], other: &[u8]) -> Option<Vec<u8>> {
    let paths = ["now", "base", "other"].map(|name| dir.join(name));
    for (path, text) in paths.iter().zip([now, base, other]) {
        fs::write(path, text).unwrap();
    }
    let output = Command::new("git").args(["merge-file", "-p"]).args(&paths).output().unwrap();
    output.status.success().then_some(output.stdout)
}

/// Returns what a file is to be once the change from `before` to `after` is taken back; `Err` for
/// what must be refused.
fn expected(
    dir: &Path,
    now: Option<&(Vec<u8>, bool)>,
    before: Option<&(Vec<u8>, bool)>,
    after: Option<&(Vec<u8>, bool)>,
) -> Result<Option<(Vec<u8>, bool)>, ()> {
    if before == after || now == before {
        return Ok(now.cloned());
    }
    if now == after {
        return Ok(before.cloned());
    }
    let (Some(now), Some(before), Some(after)) = (now, before, after) else { return Err(()) };
    let mode = if now.1 == after.1 { before.1 } else { now.1 };
    let text = match () {
        () if now.0 == after.0 => before.0.clone(),
        () if before.0 == after.0 => now.0.clone(),
        () if now.0 == before.0 => now.0.clone(),
        () => merge_file(dir, &now.0, &after.0, &before.0).ok_or(())?,
    };
    Ok(Some((text, mode)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn taken_back_is_what_git_merges_or_nothing(
        first in prop::collection::vec(text(), NAMES.len()),
        commands in prop::collection::vec(prop::collection::vec(act(), 1..4), 1..4),
        edits in prop::collection::vec(act(), 0..3),
        chosen in any::<prop::sample::Index>(),
    ) {
        let sample = Sample::new();
        for (name, text) in NAMES.iter().zip(&first) {
            sample.write(name, text);
        }
        git(&sample.root(), &["add", "."]);
        git(&sample.root(), &["commit", "-qm", "first"]);
        let repository = all(&sample.path(".git"));
        let changes: Vec<_> = commands
            .iter()
            .map(|acts| {
                let before = files(&sample);
                let change = sample.change(|sample| acts.iter().for_each(|act| carry_out(sample, act)));
                (before, files(&sample), change)
            })
            .collect();
        edits.iter().for_each(|act| carry_out(&sample, act));
        let (before, after, change) = chosen.get(&changes);
        let now = files(&sample);
        let scratch = tempfile::tempdir().unwrap();
        let wanted: Result<Files, ()> = NAMES
            .iter()
            .map(|name| {
                let of = |files: &'_ Files| files.get(*name).cloned();
                let (now, before, after) = (of(&now), of(before), of(after));
                let file = expected(scratch.path(), now.as_ref(), before.as_ref(), after.as_ref())?;
                Ok(file.map(|file| ((*name).to_owned(), file)))
            })
            .filter_map(Result::transpose)
            .collect();
        let told = sample.back(change);
        match wanted {
            Ok(wanted) => {
                prop_assert!(told.is_ok(), "{told:?}");
                prop_assert_eq!(files(&sample), wanted);
            }
            Err(()) => {
                prop_assert!(told.is_err(), "{told:?}");
                prop_assert_eq!(files(&sample), now);
            }
        }
        prop_assert_eq!(all(&sample.path(".git")), repository);
    }
}
