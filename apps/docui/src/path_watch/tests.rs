use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use tempfile::TempDir;

use super::*;
use crate::handle::HandleReceiver;

const SESSION: Incarnation = Incarnation(1);

struct Watching {
    watch: PathWatch,
    handles: HandleReceiver,
    dir: TempDir,
}

impl Watching {
    fn new() -> Self {
        let (watch, handles) = (PathWatch::new().unwrap(), HandleReceiver::new().unwrap());
        Self { watch, handles, dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Watches these names, and waits until they are watched.
    fn watch(&mut self, names: &[&str]) {
        let paths = names.iter().map(|name| self.path(name)).collect();
        self.watch.set(SESSION, &self.handles.handle(SESSION), paths);
        let end = Instant::now() + Duration::from_secs(60);
        while self.watch.sessions[&SESSION].watched.len() < names.len() {
            assert!(Instant::now() < end, "never watched");
            self.watch.run(Instant::now());
        }
        // What changed before the watch was there is found by a refresh.
        self.watch.run(Instant::now() + WATCH_SETTLE);
    }

    /// Waits for events, and returns whether the session is to be refreshed for them.
    fn is_told(&mut self) -> bool {
        self.watch.rest_until = None;
        poll(&mut [PollFd::new(&self.watch.events().unwrap(), PollFlags::IN)], None).unwrap();
        let now = Instant::now();
        self.watch.run(now);
        // As at the time when what changed has settled.
        self.watch.run(now + WATCH_SETTLE).contains(&SESSION)
    }
}

#[test]
fn write_rename_and_removal_of_a_watched_name_are_told_and_others_are_not() {
    let mut watching = Watching::new();
    watching.watch(&["a"]);
    fs::write(watching.path("other"), "x").unwrap();
    assert!(!watching.is_told());
    fs::write(watching.path("a"), "x").unwrap();
    assert!(watching.is_told());
    fs::write(watching.path("new"), "y").unwrap();
    fs::rename(watching.path("new"), watching.path("a")).unwrap();
    assert!(watching.is_told());
    fs::remove_file(watching.path("a")).unwrap();
    assert!(watching.is_told());
}

#[test]
fn targets_of_symbolic_links_are_watched() {
    let mut watching = Watching::new();
    fs::create_dir(watching.path("far")).unwrap();
    fs::write(watching.path("far/real"), "x").unwrap();
    std::os::unix::fs::symlink(watching.path("far/real"), watching.path("link")).unwrap();
    watching.watch(&["link"]);
    fs::write(watching.path("far/real"), "y").unwrap();
    assert!(watching.is_told());
}

#[test]
fn path_without_directory_is_refreshed_for_until_it_can_be_watched() {
    let mut watching = Watching::new();
    let paths = vec![watching.path("none/a")];
    watching.watch.set(SESSION, &watching.handles.handle(SESSION), paths);
    let retry = watching.watch.next_due().unwrap();
    assert!(watching.watch.run(retry).contains(&SESSION));
    fs::create_dir(watching.path("none")).unwrap();
    watching.watch(&["none/a"]);
    assert_eq!(watching.watch.next_due(), watching.watch.rest_until);
    fs::remove_dir(watching.path("none")).unwrap();
    assert!(watching.is_told());
    assert!(watching.watch.next_due().is_some());
}

#[test]
fn directories_that_nobody_needs_are_not_watched_any_more() {
    let mut watching = Watching::new();
    for name in ["one", "two"] {
        fs::create_dir(watching.path(name)).unwrap();
    }
    watching.watch(&["one/a", "two/a"]);
    watching.watch(&["two/a"]);
    fs::write(watching.path("one/a"), "x").unwrap();
    fs::write(watching.path("two/a"), "x").unwrap();
    // The end of the first watch is an event of its own.
    let end = Instant::now() + Duration::from_secs(60);
    while !watching.is_told() {
        assert!(Instant::now() < end, "never told");
    }
    watching.watch.forget(SESSION);
    assert!(watching.watch.next_due() == watching.watch.rest_until);
}

#[test]
fn everything_in_a_directory_is_told_of_a_path_that_ends_in_a_star() {
    let mut watching = Watching::new();
    fs::create_dir(watching.path("nodes")).unwrap();
    watching.watch(&["nodes/*"]);
    fs::write(watching.path("nodes/a"), "x").unwrap();
    assert!(watching.is_told());
    fs::remove_file(watching.path("nodes/a")).unwrap();
    assert!(watching.is_told());
}

#[test]
fn change_from_before_the_watch_was_there_is_found() {
    let mut watching = Watching::new();
    let paths = vec![watching.path("a")];
    watching.watch.set(SESSION, &watching.handles.handle(SESSION), paths);
    let end = Instant::now() + Duration::from_secs(60);
    while !watching.watch.run(Instant::now() + WATCH_SETTLE).contains(&SESSION) {
        assert!(Instant::now() < end, "never refreshed");
        std::thread::yield_now();
    }
}
