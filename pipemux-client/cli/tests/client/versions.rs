//! Tests this client against daemons of other versions. The bytes that they send are checked in,
//! one file for each version of the protocol. These files never change: each version must be
//! understood or refused for ever.

use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pipemux_proto::paths::Paths;
use tempfile::TempDir;

/// What a daemon of protocol 1.0 sends: its greeting, and the answer to the first request.
const DAEMON_1_0: &str = include_str!("../frames/daemon-1.0.hex");
/// The greeting of a daemon with another major version.
const DAEMON_2_0: &str = include_str!("../frames/daemon-2.0.hex");

/// Much shorter than the client's own deadline, and long enough for a busy machine.
const SOON: Duration = Duration::from_secs(5);

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// Runs `pipemux apps` against a daemon that sends these bytes. Returns status, both outputs, and
/// the duration.
fn run_against(sent: &str) -> (i32, String, String, Duration) {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let get = |name: &str| match name {
        "PIPEMUX_STATE_DIR" => Some(path("state")),
        "PIPEMUX_RUNTIME_DIR" => Some(path("run")),
        _ => None,
    };
    let paths = Paths::from_env(get, 0).unwrap();
    std::fs::DirBuilder::new().mode(0o700).create(path("run")).unwrap();
    let listener = UnixListener::bind(&paths.socket).unwrap();
    let sent = bytes(sent);
    std::thread::spawn(move || {
        // The client may connect again, so every connection is served.
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.write_all(&sent);
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    let began = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_pipemux"))
        .arg("apps")
        .env_clear()
        .env("HOME", home.path())
        .env("PIPEMUX_STATE_DIR", path("state"))
        .env("PIPEMUX_RUNTIME_DIR", path("run"))
        .env("PIPEMUX_DAEMON", path("no-such-daemon"))
        .current_dir(home.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr), began.elapsed())
}

#[test]
fn daemon_of_protocol_1_0_is_understood() {
    let (status, out, err, _) = run_against(DAEMON_1_0);
    assert_eq!((status, out.as_str(), err.as_str()), (5, "done\n", ""));
}

#[test]
fn daemon_of_another_major_is_refused_with_both_versions_and_a_hint() {
    let (status, out, err, took) = run_against(DAEMON_2_0);
    assert_eq!((status, out.as_str()), (8, ""));
    let first = err.lines().next().unwrap();
    assert!(first.starts_with("another version · "), "{err}");
    assert!(first.contains("protocol 2.0") && first.contains("this side 1."), "{err}");
    assert!(err.contains("pipemux down"), "{err}");
    assert!(took < SOON, "the refusal must not wait for the deadline: {took:?}");
}
