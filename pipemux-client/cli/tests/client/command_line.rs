//! Tests of the command line where no daemon runs and none can be started.

use serde_json::json;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

struct Shell {
    home: TempDir,
}

impl Shell {
    fn new() -> Shell {
        Shell { home: tempfile::tempdir().unwrap() }
    }

    fn pipemux(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pipemux"));
        command
            .args(words)
            .env_clear()
            .env("HOME", self.home.path())
            .env("PIPEMUX_RUNTIME_DIR", self.home.path().join("run"))
            .env("PIPEMUX_DAEMON", self.home.path().join("no-such-daemon"))
            .current_dir(self.home.path())
            .stdin(Stdio::null());
        command
    }

    /// Returns the exit status, standard output and standard error.
    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.pipemux(words).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }

    fn is_untouched(&self) -> bool {
        self.home.path().read_dir().unwrap().next().is_none()
    }
}

#[test]
fn status_and_down_start_no_daemon() {
    let shell = Shell::new();
    let (status, out, err) = shell.run(&["status"]);
    assert_eq!((status, out.as_str(), err.as_str()), (0, "not running · start: pipemux up\n", ""));
    assert_eq!(shell.run(&["down"]), (0, "not running\n".into(), String::new()));
    let (status, out, _) = shell.run(&["--json", "down"]);
    let data: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, data), (0, json!({ "running": false, "stays_down": false })));
    assert!(shell.is_untouched());
}

#[test]
fn unstartable_daemon_exits_with_status_8_and_a_hint() {
    let shell = Shell::new();
    let (status, out, err) = shell.run(&["view"]);
    assert_eq!((status, out.as_str()), (8, ""));
    assert!(err.starts_with("unreachable · can't start "), "{err}");
    assert!(err.contains("PIPEMUX_DAEMON"), "{err}");

    let (status, out, err) = shell.run(&["view", "--json"]);
    assert_eq!((status, err.as_str()), (8, ""));
    let error: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(error["error"]["code"], "unavailable");
    assert_eq!(error["error"]["level"], "hint");
    assert!(error["error"]["hints"][0].is_string());
}

#[test]
fn wrong_command_line_exits_with_status_2_and_starts_nothing() {
    let shell = Shell::new();
    for words in [
        &["open"][..],
        &["open", "../x"],
        &["view", "--lod", "most"],
        &["editor", "save"],
        &["run", "a()", "b()"],
        &["logs", "editor/main", "--lines", "many"],
        &[],
    ] {
        let (status, out, err) = shell.run(words);
        assert_eq!(status, 2, "{words:?}: {out}{err}");
        let json = [&["--json"], words].concat();
        let (status, out, _) = shell.run(&json);
        assert_eq!(status, 2);
        let parsed = serde_json::from_str::<serde_json::Value>(&out);
        assert!(words.is_empty() || parsed.is_ok_and(|data| data["error"]["code"] == "usage"));
    }
    let (_, _, err) = shell.run(&["editor", "replace", "a", "b"]);
    assert!(err.ends_with("\npipemux run 'editor.replace(\"a\", \"b\")'\n"), "{err}");
    assert!(shell.is_untouched());
}

#[test]
fn standard_input_is_read_only_if_the_code_mentions_it() {
    let shell = Shell::new();
    // This input never ends, so reading it to the end would block.
    let (reader, _writer) = std::io::pipe().unwrap();
    let silent = shell.pipemux(&["run", "a('stdin')"]).stdin(reader).output().unwrap();
    assert_eq!(silent.status.code(), Some(8), "the command must get as far as connecting");

    let (reader, _writer) = std::io::pipe().unwrap();
    let words = ["run", "a(stdin)", "--timeout", "0.05"];
    let waited = shell.pipemux(&words).stdin(reader).output().unwrap();
    assert_eq!(waited.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&waited.stderr).contains("did not end within"));
}

#[test]
fn closed_output_causes_no_panic() {
    let shell = Shell::new();
    for words in [&["status"][..], &["--help"], &["--version"], &["help"], &["tour"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = shell.pipemux(words).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
    }
}

#[test]
fn help_and_version_exit_with_status_0() {
    let shell = Shell::new();
    let (status, help, _) = shell.run(&["--help"]);
    assert_eq!((status, shell.run(&["help"]).1), (0, help.clone()));
    assert!(help.contains("\n pipemux run 'call; call; …'"), "{help}");
    assert!(!help.contains("\n\n\n"), "{help}");
    assert_eq!(shell.run(&["--version"]).1, format!("pipemux {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn tour_without_a_daemon_stops_at_its_first_step_and_leaves_nothing() {
    let shell = Shell::new();
    let scratch = shell.home.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let output = shell.pipemux(&["tour"]).env("TMPDIR", &scratch).output().unwrap();
    assert_eq!(output.status.code(), Some(8));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("$ pipemux open editor garden.rs\nunreachable · "), "{text}");
    assert!(text.ends_with("(exit 8)\n"), "{text}");
    assert_eq!(scratch.read_dir().unwrap().count(), 0);
}
