use std::path::Path;
use std::time::{Duration, Instant};

use super::fake_daemon::TestHome;
use crate::blocking::Connection;
use crate::{ClientError, Options};

/// Returns options that start this fixture as the daemon.
pub(super) fn with_daemon(home: &TestHome, fixture: &str) -> Options {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    Options { start: true, daemon: Some(fixtures.join(fixture)), ..home.options() }
}

fn start_error(fixture: &str) -> (String, String) {
    let home = TestHome::new();
    std::fs::remove_dir(home.dir.path().join("state")).unwrap();
    let began = Instant::now();
    let error = Connection::open(&with_daemon(&home, fixture)).unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(8), "it must not wait for the deadline");
    assert!(matches!(error, ClientError::Unreachable(_)), "{error:?}");
    (error.to_string(), error.fault().hints.join("\n"))
}

#[test]
fn reason_why_the_daemon_cannot_serve_is_reported() {
    let (message, hints) = start_error("says-error");
    assert_eq!(message, "the daemon can't serve: the disk is full");
    assert!(hints.contains("daemon.log") && hints.contains("pipemux status"), "{hints}");
}

#[test]
fn log_of_a_daemon_that_dies_at_once_is_quoted() {
    let (message, _) = start_error("dies");
    assert!(message.contains("exit status: 3"), "{message}");
    assert!(message.ends_with("line 5\nlast words, from / with serve"), "{message}");
    assert!(!message.contains("line 1\n"), "{message}");
}

#[test]
fn program_that_is_not_pipemuxd_is_reported() {
    let (message, _) = start_error("says-hello");
    assert!(message.contains("expected `ready`, it said `hello there`"), "{message}");
}

#[test]
fn missing_program_hints_where_to_put_it() {
    let (message, hints) = start_error("not-there");
    assert!(message.contains("can't start"), "{message}");
    assert!(hints.contains("PIPEMUX_DAEMON"), "{hints}");
}

/// Another client has started a daemon: it holds the lock and listens a little later.
#[test]
fn client_waits_for_a_daemon_that_another_client_started() {
    let home = TestHome::new();
    let options = with_daemon(&home, "says-running");
    std::thread::scope(|scope| {
        let client = scope.spawn(|| Connection::open(&options));
        let marker = options.paths.state_dir.join("was-run");
        let deadline = Instant::now() + Duration::from_secs(8);
        while !marker.exists() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        let daemon = home.listen(1, |mut peer| peer.greet(1));
        client.join().unwrap().unwrap();
        daemon.join().unwrap();
    });
}
