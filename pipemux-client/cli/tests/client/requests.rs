//! Tests which requests the command line sends to the daemon, and when it sends none.

use std::io::Write;
use std::process::{Command, Stdio};

use pipemux_client::proto::client::{
    Answer, Body, Format, HistoryArgs, Verb, VerbRequest, ViewArgs,
};
use pipemux_client::proto::{Kind, Method, Value, decode};

use crate::fake_daemon::TestHome;

/// Exit status, standard output and standard error.
type Output = (i32, String, String);

fn command(home: &TestHome, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pipemux"));
    command
        .args(words)
        .env_clear()
        .env("HOME", home.dir.path())
        .env("PIPEMUX_STATE_DIR", home.dir.path().join("state"))
        .env("PIPEMUX_RUNTIME_DIR", home.dir.path().join("run"))
        .env("PIPEMUX_DAEMON", home.dir.path().join("no-such-daemon"))
        .current_dir(home.dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn pipemux(home: &TestHome, words: &[&str], stdin: &str) -> Output {
    let mut child = command(home, words).spawn().unwrap();
    // A command that reads no input may have ended by now.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Returns the call that a command sends, and its output for the answer `answered` with status 4.
fn sent_call(words: &[&str], stdin: &str) -> (VerbRequest, Output) {
    let home = TestHome::new();
    let daemon = home.listen(1, |mut peer| {
        peer.greet(1);
        let request = peer.receive().unwrap();
        peer.answer(&request.envelope, 4, "answered\n");
        let seen = peer.receive().unwrap();
        assert_eq!(seen.envelope.method, Method::Seen);
        decode::<VerbRequest>(&request.body).unwrap()
    });
    let ended = pipemux(&home, words, stdin);
    (daemon.join().unwrap().remove(0), ended)
}

fn verb(words: &[&str]) -> Verb {
    let (call, ended) = sent_call(words, "");
    assert_eq!(ended, (4, "answered\n".into(), String::new()), "{words:?}");
    assert_eq!((call.at, call.titles), (None, false));
    call.verb
}

/// Runs the command where no daemon runs and none can be started.
fn run_without_daemon(words: &[&str], stdin: &str) -> Output {
    pipemux(&TestHome::new(), words, stdin)
}

#[test]
fn history_and_set_send_their_arguments() {
    let history = |args: &[&str]| match verb(args) {
        // The clock is this machine's.
        Verb::History(args) => HistoryArgs { clock: Vec::new(), ..args },
        other => panic!("{other:?}"),
    };
    assert_eq!(history(&["history"]), HistoryArgs::default());
    let detail = HistoryArgs { detail: true, rounds: Some(3), ..HistoryArgs::default() };
    assert_eq!(history(&["history", "--detail", "--rounds", "3"]), detail);
    let set = |option: Option<&str>, value: Option<&str>| Verb::Set {
        option: option.map(Into::into),
        value: value.map(Into::into),
    };
    assert_eq!(verb(&["set"]), set(None, None));
    assert_eq!(verb(&["set", "epoch"]), set(Some("epoch"), None));
    assert_eq!(verb(&["set", "epoch", "strict"]), set(Some("epoch"), Some("strict")));
    // The daemon checks the value.
    assert_eq!(verb(&["set", "rebase", "maybe"]), set(Some("rebase"), Some("maybe")));
}

#[test]
fn epochs_are_accepted_with_and_without_their_letter() {
    for since in ["17", "e17"] {
        let view = ViewArgs { since: Some(17), ..ViewArgs::default() };
        assert_eq!(verb(&["view", "--since", since]), Verb::View(view));
    }
    for words in [
        &["run", "a()", "--at", "e17", "--titles"][..],
        &["--at", "17", "--titles", "click", "15"],
        &["answer", "yes", "--titles", "--at=e17"],
        &["read", "--titles", "--at", "e17", "[[MT:Node:7]]"],
    ] {
        let (call, (status, ..)) = sent_call(words, "");
        assert_eq!((call.at, call.titles, status), (Some(17), true, 4), "{words:?}");
    }
}

#[test]
fn listen_runs_only_the_blocks_of_a_message() {
    let message = "Never `run()`.\n\n```sh\nrm -rf /\n```\n> ```docui\n> quoted()\n> ```\n\n\
        ```docui\r\nnotebook.add(title='x', text=<<END)\r\n```docui\r\nno()\r\n```\r\nEND\r\n```\r\n\
        and\n~~~docui\nlink:3\n~~~\n";
    let (call, ended) = sent_call(&["listen", "--at", "e2"], message);
    assert_eq!(ended, (4, "answered\n".into(), String::new()));
    assert_eq!(call.at, Some(2));
    let Verb::Run { code, stdin: None, only_queries: false } = call.verb else {
        panic!("{:?}", call.verb)
    };
    let lines: Vec<_> = message.lines().collect();
    let ran: Vec<_> = code.lines().enumerate().filter(|(_, line)| !line.is_empty()).collect();
    let expected = [10, 11, 12, 13, 14].map(|index| (index, lines[index]));
    assert_eq!(ran[..5], expected);
    assert_eq!(ran[5..], [(15, ";"), (18, "link:3")]);
}

#[test]
fn listen_without_blocks_runs_nothing() {
    for message in ["", "`docui`\n", "```\na()\n```\n", "    ```docui\n    a()\n    ```\n"] {
        let nothing = (0, "0 docui blocks: nothing ran\n".to_owned(), String::new());
        assert_eq!(run_without_daemon(&["listen"], message), nothing, "{message:?}");
    }
    let (status, out, _) = run_without_daemon(&["listen", "--json"], "x");
    assert_eq!((status, out.as_str()), (0, "{\n  \"blocks\": 0\n}\n"));
}

#[test]
fn listen_with_an_invalid_block_runs_nothing() {
    let long = format!("```docui\nf('{}')\n```\n", "x".repeat(300_000));
    for (message, part) in [
        ("a\n```docui\nb()\n", "unclosed docui block\n```docui\n^^^^^^^^ begins here, on line 2;"),
        ("```docui\nf(<<END)\n```\n", "the raw block <<END, opened on line 2, has no end"),
        ("```docui\nf(text=stdin)\n```\n", "standard input is the message itself"),
        (&long, "code too long\n```docui\n"),
    ] {
        let (status, out, err) = run_without_daemon(&["listen"], message);
        assert_eq!((status, out.as_str()), (2, ""), "{err}");
        assert!(err.starts_with("refused, nothing ran · ") && err.contains(part), "{err}");
        assert!(err.lines().count() >= 4, "a hint is expected: {err}");

        let (status, out, err) = run_without_daemon(&["listen", "--json"], message);
        let data: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!((status, err.as_str()), (2, ""));
        assert_eq!(data["error"]["code"], "usage");
        assert!(data["error"]["at"]["line"].is_number(), "{data}");
    }
}

#[test]
fn suggestions_use_the_apps_of_a_running_daemon() {
    let suggestion = |words: &[&str]| {
        let home = TestHome::new();
        let daemon = home.listen(1, |mut peer| {
            peer.greet(1);
            let request = peer.receive().unwrap();
            let app = Value::Map(vec![("id".into(), "planner".into())]);
            let body = Body::Data(Value::List(vec![app]));
            let answer = Answer { exit: 0, body, delivery: 0, error: false };
            peer.send(&request.envelope.answer(Kind::Reply), &answer);
            decode::<VerbRequest>(&request.body).unwrap()
        });
        let (status, _, err) = pipemux(&home, words, "");
        let call = daemon.join().unwrap().remove(0);
        assert_eq!((status, call.verb, call.format), (2, Verb::Apps, Format::Json));
        err
    };
    let err = suggestion(&["planner", "add", "x"]);
    assert!(err.ends_with("\npipemux run 'planner.add(\"x\")'\n"), "{err}");
    let err = suggestion(&["monitor", "top"]);
    assert!(err.ends_with("\npipemux --help\n"), "{err}");
}
