use std::path::Path;
use std::time::{Duration, Instant};

use super::fake_daemon::Place;
use crate::blocking::Connection;
use crate::{ClientError, Options};

/// Options that start the fixture of that name as the daemon.
pub(super) fn starting(place: &Place, fixture: &str) -> Options {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    Options { start: true, daemon: Some(fixtures.join(fixture)), ..place.options() }
}

fn refused(fixture: &str) -> (String, String) {
    let place = Place::new();
    std::fs::remove_dir(place.dir.path().join("state")).unwrap();
    let began = Instant::now();
    let error = Connection::open(&starting(&place, fixture)).unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(8), "it must not wait for the deadline");
    assert!(matches!(error, ClientError::Unreachable(_)), "{error:?}");
    (error.to_string(), error.fault().hints.join("\n"))
}

#[test]
fn why_a_daemon_cannot_serve_is_repeated() {
    let (message, hints) = refused("says-error");
    assert_eq!(message, "the daemon can't serve: the disk is full");
    assert!(hints.contains("daemon.log") && hints.contains("pipemux status"), "{hints}");
}

#[test]
fn a_daemon_that_dies_at_once_is_quoted() {
    let (message, _) = refused("dies");
    assert!(message.contains("exit status: 3"), "{message}");
    assert!(message.ends_with("line 5\nlast words, from / with serve"), "{message}");
    assert!(!message.contains("line 1\n"), "{message}");
}

#[test]
fn another_program_is_no_daemon() {
    let (message, _) = refused("says-hello");
    assert!(message.contains("expected `ready`, it said `hello there`"), "{message}");
}

#[test]
fn a_missing_program_says_where_to_put_it() {
    let (message, hints) = refused("not-there");
    assert!(message.contains("can't start"), "{message}");
    assert!(hints.contains("PIPEMUX_DAEMON"), "{hints}");
}

/// Another client's daemon holds the lock and comes to listen a little later.
#[test]
fn a_daemon_that_runs_elsewhere_is_waited_for() {
    let place = Place::new();
    let options = starting(&place, "says-running");
    std::thread::scope(|scope| {
        let client = scope.spawn(|| Connection::open(&options));
        let marker = options.paths.state_dir.join("was-run");
        let deadline = Instant::now() + Duration::from_secs(8);
        while !marker.exists() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        let daemon = place.listen(1, |mut peer| peer.greet(1));
        client.join().unwrap().unwrap();
        daemon.join().unwrap();
    });
}
