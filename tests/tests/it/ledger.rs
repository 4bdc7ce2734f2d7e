//! Kills at any moment, under clients that edit sets of files and write notes and programs that
//! write to the same files: a ledger outside of PipeMux says what was acknowledged, and what others
//! wrote.
//!
//! `PIPEMUX_KILLS=300 cargo test --test it ledger -- --nocapture` kills more often, and prints what
//! happened.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pipemux_tests::{SeededRandom, Signal, TestEnv, kill};

/// How many processes are killed when `PIPEMUX_KILLS` doesn't say.
const KILLS: usize = 10;
const CLIENTS: usize = 4;
const FILES: usize = 20;

/// What happened, for those who watch.
#[derive(Debug, Default)]
struct Tally {
    acknowledged: AtomicUsize,
    refused: AtomicUsize,
    unknown: AtomicUsize,
    halves: AtomicUsize,
    /// Those of which nothing was said.
    untold: AtomicUsize,
    /// Notes that were sent.
    sent: AtomicUsize,
    notes: Mutex<Vec<String>>,
    problems: Mutex<Vec<String>>,
}

fn file(env: &TestEnv, set: usize, file: usize) -> PathBuf {
    env.path(&format!("s{set}/f{file:02}.txt"))
}

/// The version of a file: the number in its line `version 7.`
fn version(path: &Path) -> Option<usize> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("version "))?;
    line.trim_end_matches('.').parse().ok()
}

fn versions(env: &TestEnv, set: usize) -> BTreeMap<Option<usize>, usize> {
    let mut found = BTreeMap::new();
    // The program that renames writes the versions that it found, too.
    for number in (0..FILES).filter(|number| *number != FILES - 2) {
        *found.entry(version(&file(env, set, number))).or_default() += 1;
    }
    found
}

/// Raises the version of all files of its set, again and again.
fn edit_sets(env: &TestEnv, set: usize, tally: &Tally, stop: &AtomicBool) {
    let reader = format!("editor{set}");
    let problem = |what: String| tally.problems.lock().expect("a tally").push(what);
    let mut next = 1;
    while !stop.load(Ordering::Relaxed) {
        let last = versions(env, set);
        let call = format!(
            "editor.replace('version [0-9]+\\.', 'version {next}.', in='s{set}/*.txt', regex=true, all=true)"
        );
        let done = env.as_reader(&reader, &["run", &call]);
        let found = versions(env, set);
        if done.exit == 0 {
            tally.acknowledged.fetch_add(1, Ordering::Relaxed);
            if found.keys().ne([&Some(next)]) {
                problem(format!("{call} was acknowledged: {found:?}\n{}", done.text()));
            }
            next += 1;
            continue;
        }
        // Nothing but this client writes versions: they are those from before, or the new one.
        if found.keys().any(|found| *found != Some(next) && !last.contains_key(found)) {
            problem(format!("{call}: {last:?}, then {found:?}\n{}", done.text()));
        }
        match done.exit {
            1 | 2 | 4 | 5 | 6 | 8 => tally.refused.fetch_add(1, Ordering::Relaxed),
            _ => tally.unknown.fetch_add(1, Ordering::Relaxed),
        };
        if done.exit == 5 {
            // Somebody else wrote to a file meanwhile: theirs stays.
            let _ = env.as_reader(&reader, &["answer", "none"]);
        }
        let settled = settle(env, &reader);
        let found = versions(env, set);
        if found.len() > 1 && found.keys().ne(last.keys()) {
            tally.halves.fetch_add(1, Ordering::Relaxed);
            let told =
                done.text().contains("was interrupted") || settled.contains("was interrupted");
            // An editor that was killed too often within a minute says nothing before somebody
            // restarts it.
            if !told && !settled.ends_with(UNAVAILABLE) {
                tally.untold.fetch_add(1, Ordering::Relaxed);
            }
        }
        next += 1;
    }
}

/// What is said of an editor that doesn't come up.
const UNAVAILABLE: &str = "(unavailable)";

/// Looks until there is an answer; returns all that was said.
fn settle(env: &TestEnv, reader: &str) -> String {
    let mut said = String::new();
    for _ in 0..100 {
        let answer = env.as_reader(reader, &["view"]);
        said += &answer.text();
        if answer.exit == 0 && !answer.text().contains("unavailable ·") {
            return said;
        }
        thread::sleep(Duration::from_millis(50));
    }
    said + UNAVAILABLE
}

fn write_notes(env: &TestEnv, tally: &Tally, stop: &AtomicBool) {
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let title = format!("note-{number:05}");
        tally.sent.fetch_add(1, Ordering::Relaxed);
        let call = format!("notebook.add('{title}', 'text of {number}')");
        if env.as_reader("notes", &["run", &call]).exit == 0 {
            tally.notes.lock().expect("a tally").push(title);
        }
    }
}

/// Appends lines to the last file of each set, each with a descriptor of its own. Returns how many
/// of each.
fn append(env: &TestEnv, stop: &AtomicBool) -> usize {
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        for set in 0..CLIENTS {
            let opened = OpenOptions::new().append(true).open(file(env, set, FILES - 1));
            // One write, as a program does that appends to a log.
            let line = format!("appended {count}\n");
            opened.expect("the file").write_all(line.as_bytes()).expect("a line");
        }
        count += 1;
        thread::sleep(Duration::from_millis(60));
    }
    count
}

/// Renames texts of its own over a file of each set that it alone writes lines to. Returns how
/// many.
fn rename(env: &TestEnv, stop: &AtomicBool) -> usize {
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        for set in 0..CLIENTS {
            let path = file(env, set, FILES - 2);
            let version = version(&path).unwrap_or_default();
            let fresh = path.with_extension("fresh");
            let lines: String = (0..=count).map(|number| format!("renamed {number}\n")).collect();
            fs::write(&fresh, format!("version {version}.\n{lines}")).expect("a file");
            fs::rename(&fresh, &path).expect("a name");
        }
        count += 1;
        thread::sleep(Duration::from_millis(150));
    }
    count
}

#[test]
fn ledger_outside_says_that_nothing_is_lost_and_nothing_done_twice() {
    let kills = std::env::var("PIPEMUX_KILLS").ok().and_then(|count| count.parse().ok());
    let kills = kills.unwrap_or(KILLS);
    let env = TestEnv::new();
    for set in 0..CLIENTS {
        fs::create_dir(env.path(&format!("s{set}"))).expect("a folder");
        for number in 0..FILES {
            fs::write(file(&env, set, number), "version 0.\n").expect("a file");
        }
    }
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(env.project()).args(["-c", "user.name=a", "-c", "user.email=a@a"]);
        let output = command.args(arguments).output().expect("git");
        String::from_utf8(output.stdout).expect("text")
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "x"]);
    env.pipemux(&["open", "editor"]).ok();
    env.pipemux(&["open", "notebook"]).ok();
    let (tally, stop) = (Tally::default(), AtomicBool::new(false));
    let (appended, renamed) = thread::scope(|scope| {
        for set in 0..CLIENTS {
            let (env, tally, stop) = (&env, &tally, &stop);
            scope.spawn(move || edit_sets(env, set, tally, stop));
        }
        scope.spawn(|| write_notes(&env, &tally, &stop));
        let appender = scope.spawn(|| append(&env, &stop));
        let renamer = scope.spawn(|| rename(&env, &stop));
        let mut random = SeededRandom::new(7, 0);
        for _ in 0..kills {
            thread::sleep(Duration::from_millis(200 + random.below(700) as u64));
            let whom = ["pipemuxd serve", "pipemux-editor", "pipemux-editor", "pipemux-notebook"];
            let whom = whom[random.below(whom.len())];
            let found = env.processes().into_iter().find(|process| process.command.contains(whom));
            if let Some(process) = found {
                kill(process.pid, Signal::SIGKILL);
            }
        }
        stop.store(true, Ordering::Relaxed);
        (appender.join().expect("lines"), renamer.join().expect("texts"))
    });
    settle(&env, "end");
    let problems = tally.problems.lock().expect("a tally");
    println!(
        "{kills} kills: {} edits acknowledged, {} refused, {} unknown, {} half sets; {appended} lines appended, {renamed} texts renamed, {} notes",
        tally.acknowledged.load(Ordering::Relaxed),
        tally.refused.load(Ordering::Relaxed),
        tally.unknown.load(Ordering::Relaxed),
        tally.halves.load(Ordering::Relaxed),
        tally.notes.lock().expect("a tally").len(),
    );
    // Known gap: what an editor has found out is lost if it is killed again before its first
    // answer.
    let (halves, untold) =
        (tally.halves.load(Ordering::Relaxed), tally.untold.load(Ordering::Relaxed));
    assert!(untold * 10 <= halves + 10, "{untold} of {halves} half sets were not told");
    assert!(problems.is_empty(), "{} problems: {}", problems.len(), problems[0]);
    for set in 0..CLIENTS {
        let text = fs::read_to_string(file(&env, set, FILES - 1)).expect("the file");
        let found: Vec<&str> = text.lines().filter(|line| line.starts_with("appended ")).collect();
        let wanted: Vec<String> =
            (0..appended).map(|number| format!("appended {number}")).collect();
        assert_eq!(found, wanted, "set {set}: what was appended is there, once and in order");
        let text = fs::read_to_string(file(&env, set, FILES - 2)).expect("the file");
        let found = text.lines().filter(|line| line.starts_with("renamed ")).count();
        assert_eq!(found, renamed, "set {set}: the newest text that was renamed is there");
    }
    // `2988 of 2988 notes`, with those whose answers were lost.
    let notes = env.run("notebook.filter([])").text();
    let count = |line: &str| line.strip_suffix(" notes")?.rsplit(' ').next()?.parse().ok();
    let found: usize = notes.lines().find_map(count).unwrap_or(0);
    let (acknowledged, sent) =
        (tally.notes.lock().expect("a tally").len(), tally.sent.load(Ordering::Relaxed));
    assert!(
        (acknowledged..=sent).contains(&found),
        "{found} notes, {acknowledged} acknowledged of {sent}"
    );
    let strays: Vec<String> = git(&["status", "--porcelain", "--untracked-files=all"])
        .lines()
        .filter(|line| line.starts_with("??") && !line.contains(".pipemux/"))
        .map(str::to_owned)
        .collect();
    assert!(strays.is_empty(), "git sees what nobody wrote: {strays:?}");
}
