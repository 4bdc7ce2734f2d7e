//! Attacks by clients, over the real socket.

use std::time::{Duration, Instant};

use pipemux_proto::client::Verb;
use pipemux_proto::hello::ProtocolVersion;
use pipemux_proto::{Envelope, Hello, Incarnation, Kind, Method, Role};
use serde_json::{Value, json};

use super::AttackContext;
use super::report::AnswerTally;
use crate::raw_connection::fault_message;
use crate::{RawConnection, Received};

/// How long an answer may take that may never come.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Connections at once: more than the daemon accepts.
const CONNECTIONS: usize = 2_000;
/// Requests at once: more than one client may have.
const REQUESTS: u64 = 500;

/// Requests long answers and reads none of them.
pub fn unread_answers(context: &AttackContext<'_>) -> AnswerTally {
    let mut tally = AnswerTally::default();
    let mut client = context.client();
    client.open("notebook", &[], TIMEOUT);
    let add = Verb::Run {
        code: "notebook.add('long', text=stdin)".into(),
        stdin: Some("a line of some length\n".repeat(20_000).into()),
        only_queries: false,
    };
    let added = client.request(add, TIMEOUT);
    let mark = "[long](obj:";
    let id = added.text.find(mark).map(|at| &added.text[at + mark.len()..]);
    let Some(id) = id.and_then(crate::output::leading_id) else {
        return AnswerTally::of(&format!("could not add an entry: {}", added.text));
    };
    repeat(context, |context| {
        let mut raw = RawConnection::greeted(context.env);
        let _ = raw.stream.set_write_timeout(Some(Duration::from_millis(300)));
        let read = verb_call(context, json!({ "read": { "target": format!("obj:{id}") } }), "r");
        let sent = (1..=REQUESTS).take_while(|id| raw.send_verb(*id, &read)).count();
        let mut answers = 0;
        let ended = loop {
            match raw.receive(Duration::from_millis(500)) {
                Received::Frame(_) => answers += 1,
                Received::Closed => break "disconnected",
                Received::Timeout => break "kept connected",
            }
        };
        tally.count(&format!("{ended} after {answers} answers to {sent} requests"));
    });
    client.end("notebook/main", TIMEOUT);
    tally
}

/// Begins frames and never completes them.
pub fn half_a_frame(context: &AttackContext<'_>) -> AnswerTally {
    let mut open = Vec::new();
    let mut tally = AnswerTally::default();
    repeat(context, |context| {
        if open.len() >= 100 {
            open.clear();
        }
        let mut raw = RawConnection::greeted(context.env);
        raw.write(&[0, 0, 1, 0, 0x95]);
        open.push(raw);
        tally.count("kept connected");
    });
    tally
}

/// Sends bytes that are not a frame.
pub fn garbage(context: &AttackContext<'_>) -> AnswerTally {
    let mut tally = AnswerTally::default();
    repeat(context, |context| {
        for bytes in [&[0, 0, 0, 5, 1, 2, 3, 4, 5][..], b"GET / HTTP/1.1\r\n\r\n", &[0xa5; 4096]] {
            let mut raw = RawConnection::connect(context.env);
            raw.write(bytes);
            tally.count_ending(&mut raw);
        }
    });
    tally
}

/// Announces a frame of 4 GiB.
pub fn oversized_length(context: &AttackContext<'_>) -> AnswerTally {
    let mut tally = AnswerTally::default();
    repeat(context, |context| {
        let mut raw = RawConnection::greeted(context.env);
        raw.write(&[0xff; 4]);
        raw.write(&[0x95; 64 * 1024]);
        tally.count_ending(&mut raw);
    });
    tally
}

/// Connects and sends nothing.
pub fn silent_connections(context: &AttackContext<'_>) -> AnswerTally {
    let mut open: Vec<RawConnection> =
        (0..200).map(|_| RawConnection::connect(context.env)).collect();
    let mut closed = 0;
    while context.is_running() {
        let before = open.len();
        open.retain_mut(|raw| !matches!(raw.receive(Duration::from_millis(1)), Received::Closed));
        closed += before - open.len();
    }
    AnswerTally::of(&format!("{closed} of 200 were closed meanwhile"))
}

/// Greets with other major versions.
pub fn other_versions(context: &AttackContext<'_>) -> AnswerTally {
    let mut tally = AnswerTally::default();
    repeat(context, |context| {
        for major in [0, 2, u16::MAX] {
            let mut raw = RawConnection::connect(context.env);
            let protocol = ProtocolVersion { major, minor: 0 };
            let hello = Hello { protocol, ..Hello::new(Role::Client, "another pipemux") };
            raw.send(&Envelope::event(Method::Hello, Incarnation(0)), &hello);
            tally.count_ending(&mut raw);
        }
    });
    tally
}

/// Opens thousands of connections.
pub fn many_connections(context: &AttackContext<'_>) -> AnswerTally {
    let mut tally = AnswerTally::default();
    repeat(context, |context| {
        let mut open: Vec<RawConnection> =
            (0..CONNECTIONS).map_while(|_| RawConnection::try_connect(context.env).ok()).collect();
        open.iter_mut().for_each(RawConnection::send_hello);
        let end = Instant::now() + TIMEOUT;
        for mut raw in open {
            match raw.receive(end.saturating_duration_since(Instant::now())) {
                Received::Frame(frame) if frame.envelope.kind == Kind::Fault => {
                    tally.count(&fault_message(&frame));
                }
                Received::Frame(_) => tally.count("greeted"),
                Received::Closed => tally.count("closed without a message"),
                Received::Timeout => tally.count("received nothing"),
            }
        }
    });
    tally
}

/// Sends requests to an app that waits, and disconnects.
pub fn killed_mid_request(context: &AttackContext<'_>) -> AnswerTally {
    let mut tally = AnswerTally::default();
    let mut client = context.client();
    let provider = &context.provider;
    client.open(provider, &[], TIMEOUT);
    let gate = context.env.path("gate");
    let code = format!("{provider}.misbehave('wait for {}')", gate.display());
    let mut number = 0;
    repeat(context, |context| {
        let mut raw = RawConnection::greeted(context.env);
        for id in 1..=20 {
            number += 1;
            let run = json!({ "run": { "code": code, "stdin": null } });
            raw.send_verb(id, &verb_call(context, run, &format!("d{number}")));
        }
        drop(raw);
        tally.count("disconnected with 20 requests open");
    });
    context.env.write("gate", "");
    let call = format!("{provider}.misbehave('nothing')");
    tally.count_reply(&client.run(&call, Duration::from_secs(20)));
    tally.count_reply(&client.end(&format!("{}/main", context.provider), TIMEOUT));
    tally
}

/// Sends far more requests than one client may have open.
pub fn request_flood(context: &AttackContext<'_>) -> AnswerTally {
    let mut tally = AnswerTally::default();
    let mut client = context.client();
    client.open(&context.provider, &[], TIMEOUT);
    let code = format!("{}.misbehave('nothing')", context.provider);
    let mut number = 0;
    repeat(context, |context| {
        let mut raw = RawConnection::greeted(context.env);
        let run = json!({ "run": { "code": code } });
        number += 1;
        for id in 1..=REQUESTS {
            raw.send_verb(id, &verb_call(context, run.clone(), &format!("f{number}-{id}")));
        }
        for _ in 0..REQUESTS {
            match raw.receive(TIMEOUT) {
                Received::Frame(frame) if frame.envelope.kind == Kind::Fault => {
                    tally.count(&fault_message(&frame));
                }
                Received::Frame(_) => tally.count("answered"),
                Received::Closed => return tally.count("disconnected"),
                Received::Timeout => return tally.count("received no further answer"),
            }
        }
    });
    client.end(&format!("{}/main", context.provider), TIMEOUT);
    tally
}

fn repeat(context: &AttackContext<'_>, mut attack: impl FnMut(&AttackContext<'_>)) {
    attack(context);
    while context.is_running() {
        attack(context);
    }
}

/// A verb's call in the attackers' workspace.
fn verb_call(context: &AttackContext<'_>, verb: Value, run_id: &str) -> Value {
    let mut call = crate::raw_connection::verb_call(context.env, verb, run_id);
    call["workspace"] =
        json!({ "key": super::ATTACKER_WORKSPACE, "name": super::ATTACKER_WORKSPACE });
    call
}
