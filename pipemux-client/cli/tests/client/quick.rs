//! Tests plain command lines, which are carried out before the C library starts (`pipemux-quick`),
//! beside the same lines with an option that leaves them to the ordinary program. Where `pipemux`
//! isn't linked statically both are ordinary.

use std::io::Write;
use std::process::{Command, Stdio};

use pipemux_client::proto::client::{Answer, Body, VerbRequest};
use pipemux_client::proto::hello::SEEN_EVENT;
use pipemux_client::proto::{
    Envelope, Fault, Frame, Hello, Incarnation, Kind, Method, Role, decode,
};

use crate::fake_daemon::{Peer, TestHome};

/// Changes nothing, but such a line isn't plain.
const ORDINARY: [&str; 2] = ["--timeout", "30"];

/// What the daemon received, and exit status, standard output and standard error.
type Outcome = (Vec<Frame>, (Option<i32>, String, String));

struct Caller<'a> {
    words: &'a [&'a str],
    variables: &'a [(&'a str, &'a str)],
    /// Below the home directory.
    directory: &'a str,
}

impl<'a> Caller<'a> {
    fn new(words: &'a [&'a str]) -> Self {
        Self { words, variables: &[], directory: "" }
    }

    fn command(&self, home: &TestHome, more: &[&str]) -> Command {
        let directory = home.dir.path().join(self.directory);
        std::fs::create_dir_all(&directory).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_pipemux"));
        command
            .args(self.words)
            .args(more)
            .env_clear()
            .env("HOME", home.dir.path())
            .env("PIPEMUX_STATE_DIR", home.dir.path().join("state"))
            .env("PIPEMUX_RUNTIME_DIR", home.dir.path().join("run"))
            .env("PIPEMUX_DAEMON", "/no/such/daemon")
            .envs(self.variables.iter().copied())
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the command against a daemon that greets and then does this, once for each connection.
    fn run_against(
        &self,
        home: &TestHome,
        more: &[&str],
        connections: usize,
        serve: impl Fn(&mut Peer, &Frame) + Send + 'static,
    ) -> Outcome {
        let daemon = home.listen(connections, move |mut peer| {
            let mut received = Vec::new();
            received.extend(peer.receive());
            let features = vec![SEEN_EVENT.to_owned()];
            let hello = Hello { features, ..Hello::new(Role::Daemon, "pipemuxd 9.9.9") };
            peer.send(&Envelope::event(Method::Hello, Incarnation(0)), &hello);
            let request = peer.receive().unwrap();
            serve(&mut peer, &request);
            received.push(request);
            received.extend(std::iter::from_fn(|| peer.receive()));
            received
        });
        let output = self.command(home, more).output().unwrap();
        std::fs::remove_file(&home.options().paths.socket).unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let ended = (output.status.code(), text(output.stdout), text(output.stderr));
        (daemon.join().unwrap().concat(), ended)
    }

    /// Runs it as it is and as the ordinary program, checks that these do the same, and returns it.
    fn run_both(&self, serve: impl Fn(&mut Peer, &Frame) + Copy + Send + 'static) -> Outcome {
        let home = TestHome::new();
        let quick = self.run_against(&home, &[], 1, serve);
        let ordinary = self.run_against(&home, &ORDINARY, 1, serve);
        assert_eq!(quick.1, ordinary.1, "{:?}", self.words);
        let comparable =
            |outcome: &Outcome| -> Vec<Frame> { outcome.0.iter().map(without_id).collect() };
        assert_eq!(comparable(&quick), comparable(&ordinary), "{:?}", self.words);
        quick
    }
}

/// Returns a frame whose request has a known id; all other bytes stay as they are.
fn without_id(frame: &Frame) -> Frame {
    let Ok(request) = decode::<VerbRequest>(&frame.body) else { return frame.clone() };
    let (mut body, id) = (frame.body.to_vec(), request.run_id.as_bytes());
    assert_eq!(id.len(), 36);
    let at = body.windows(id.len()).position(|window| window == id).unwrap();
    body[at..at + id.len()].fill(b'0');
    Frame { envelope: frame.envelope, body: body.into() }
}

fn answer(body: Body, error: bool) -> Answer {
    Answer { exit: 4, body, delivery: 300, error }
}

fn reply(peer: &mut Peer, request: &Frame, answer: &Answer) {
    peer.send(&request.envelope.answer(Kind::Reply), answer);
}

#[test]
fn plain_line_sends_what_the_ordinary_program_sends() {
    let lines: &[&[&str]] = &[
        &["click", "15"],
        &["click", "link:15", "--reader", "a1"],
        &["--workspace", "team/demo", "--reader", "b,@%", "run", "a.b(\"深\")"],
        &["ask", "editor.find('x')"],
        &["answer", "all", "but", "2"],
        &["answer", "1,3"],
        &["view"],
        &["view", "editor/main.b_c-D", "--workspace", "/srv/a"],
        &["read", "obj:3"],
        &["read", ""],
        // These aren't plain.
        &["view", "editor"],
        &["run", "editor.insert(text='stdin')"],
        &["answer", "a=1", "b=2"],
        &["view", "--workspace", "a/", "--reader", "it's"],
    ];
    for words in lines {
        let (received, ended) = Caller::new(words).run_both(|peer, request| {
            reply(peer, request, &answer(Body::Text("深\n".into()), false))
        });
        assert_eq!(ended, (Some(4), "深\n".to_owned(), String::new()), "{words:?}");
        let methods: Vec<Method> = received.iter().map(|frame| frame.envelope.method).collect();
        assert_eq!(methods, [Method::Hello, Method::Verb, Method::Seen]);
    }
}

#[test]
fn environment_counts_as_for_the_ordinary_program() {
    let long = "x".repeat(20_000);
    let variables: &[&[(&str, &str)]] = &[
        &[("PIPEMUX_WORKSPACE", "w"), ("PIPEMUX_READER", "r"), ("PIPEMUX_READER_TOKEN", "t")],
        &[("CODEX_THREAD_ID", "a b"), ("GEMINI_SESSION_ID", "g.1"), ("PIPEMUX_READER", "")],
        &[("PATH", "/bin"), ("LC_ALL", "C"), ("TZ", ""), ("SECRET", "s"), ("LANG", "de_DE")],
        &[("PATH", &long), ("LC_CTYPE", "C")],
    ];
    for variables in variables {
        for words in [&["run", "a()"][..], &["view"], &["view", "editor/main"]] {
            for directory in ["", "project/.git", "project/src/深"] {
                let caller = Caller { words, variables, directory };
                caller.run_both(|peer, request| {
                    reply(peer, request, &answer(Body::Text(String::new()), false))
                });
            }
        }
    }
}

#[test]
fn unusual_answers_are_handled_by_the_ordinary_program() {
    let text = |text: &str| Body::Text(text.to_owned());
    let (_, ended) = Caller::new(&["click", "1"])
        .run_both(move |peer, request| reply(peer, request, &answer(text("no\n"), true)));
    assert_eq!(ended, (Some(4), String::new(), "no\n".to_owned()));
    let (_, ended) = Caller::new(&["read", "obj:1"]).run_both(|peer, request| {
        reply(peer, request, &answer(Body::Raw(b"\0\x01"[..].into()), false))
    });
    assert_eq!(ended, (Some(4), "\0\x01".to_owned(), "2 bytes that are no text\n".to_owned()));
    let (_, ended) = Caller::new(&["click", "1"]).run_both(|peer, request| {
        let fault = Fault::refused("full").hint("pipemux status");
        peer.send(&request.envelope.answer(Kind::Fault), &fault);
    });
    assert_eq!(ended.2, "refused · full\npipemux status\n");
    // Longer than the buffer, and in pieces.
    let (_, ended) = Caller::new(&["view"]).run_both(|peer, request| {
        let body = Body::Text("a line\n".repeat(40_000));
        reply(peer, request, &answer(body, false));
    });
    assert_eq!(ended.1.len(), 280_000);
    let (_, ended) = Caller::new(&["view"]).run_both(|peer, request| {
        let ping = Envelope::request(Method::Ping, 9, Incarnation(0));
        peer.send(&ping, &pipemux_client::proto::app::Empty {});
        assert_eq!(peer.receive().unwrap().envelope, ping.answer(Kind::Reply));
        reply(peer, request, &answer(Body::Text("pong\n".into()), false));
    });
    assert_eq!(ended.1, "pong\n");
    let (_, ended) = Caller::new(&["click", "1"]).run_both(|peer, _| {
        peer.stream.write_all(b"\0\0\0\x01x").unwrap();
    });
    assert_eq!(ended.0, Some(7), "{ended:?}");
}

#[test]
fn request_is_sent_again_under_its_id_only_when_the_daemon_ended_before_it_greeted() {
    let home = TestHome::new();
    let daemon = home.listen(2, {
        let mut served = 0;
        move |mut peer| {
            served += 1;
            let hello = peer.receive().unwrap();
            let request = peer.receive().unwrap();
            if served == 2 {
                let own = Hello::new(Role::Daemon, "pipemuxd 9.9.9");
                peer.send(&hello.envelope, &own);
                peer.answer(&request.envelope, 0, "done\n");
                assert_eq!(peer.receive().unwrap().envelope.method, Method::Seen);
            }
            decode::<VerbRequest>(&request.body).unwrap()
        }
    });
    let output = Caller::new(&["click", "1"]).command(&home, &[]).output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"done\n"[..]));
    let requests = daemon.join().unwrap();
    assert_eq!(requests[0], requests[1]);

    // It may have been carried out, so it isn't sent again.
    let (received, ended) = Caller::new(&["click", "1"]).run_both(|peer, _| {
        let _ = peer.stream.shutdown(std::net::Shutdown::Both);
    });
    assert_eq!((received.len(), ended.0), (2, Some(7)));
    assert!(ended.2.starts_with("unknown · "), "{ended:?}");
}

#[test]
fn what_nobody_reads_is_not_confirmed_and_ends_as_usual() {
    for more in [&[][..], &ORDINARY] {
        let home = TestHome::new();
        let daemon = home.listen(1, |mut peer| {
            let hello = peer.receive().unwrap();
            let features = vec![SEEN_EVENT.to_owned()];
            let own = Hello { features, ..Hello::new(Role::Daemon, "pipemuxd 9.9.9") };
            peer.send(&hello.envelope, &own);
            let request = peer.receive().unwrap();
            reply(&mut peer, &request, &answer(Body::Text("unread\n".into()), false));
            peer.receive()
        });
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = Caller::new(&["view"]).command(&home, more).stdout(writer).status().unwrap();
        assert_eq!(status.code(), Some(4));
        assert_eq!(daemon.join().unwrap(), [None]);
    }
}

#[test]
fn input_that_is_not_used_is_told() {
    for (words, told) in
        [(&["run", "a()"][..], true), (&["answer", "yes"], true), (&["view"], false)]
    {
        for more in [&[][..], &ORDINARY] {
            let home = TestHome::new();
            let daemon = home.listen(1, |mut peer| {
                peer.greet(1);
                let request = peer.receive().unwrap();
                peer.answer(&request.envelope, 0, "done\n");
                peer.receive().map(drop)
            });
            // What a command that has ended left in a pipe.
            let (reader, mut writer) = std::io::pipe().unwrap();
            writer.write_all(b"left").unwrap();
            drop(writer);
            let output = Caller::new(words).command(&home, more).stdin(reader).output().unwrap();
            let note = String::from_utf8(output.stderr).unwrap();
            assert_eq!(
                note.starts_with("note: standard input was not used"),
                told,
                "{words:?} {note}"
            );
            assert_eq!(daemon.join().unwrap().len(), 1);
        }
    }
}
