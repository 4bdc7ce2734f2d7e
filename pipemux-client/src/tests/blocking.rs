use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use pipemux_proto::app::Empty;
use pipemux_proto::client::{Body, VerbRequest, DeliveryAck, Verb};
use pipemux_proto::hello::SEEN_EVENT;
use pipemux_proto::{Fault, Frame, Hello, Incarnation, Kind, Method, Role, decode};

use super::fake_daemon::{Peer, TestHome, run, view};
use crate::ClientError;
use crate::blocking::Connection;

/// Returns the result of a call to a daemon that runs `then` after the greetings and the first
/// request.
fn call_result(
    verb: Verb,
    mut then: impl FnMut(&mut Peer, Frame) + Send + 'static,
) -> Result<pipemux_proto::client::Answer, ClientError> {
    let home = TestHome::new();
    let daemon = home.listen(1, move |mut peer| {
        peer.greet(1);
        let request = peer.receive().unwrap();
        then(&mut peer, request);
    });
    let options = home.options();
    let answer =
        Connection::open(&options).unwrap().call(&options.call(verb), Duration::from_secs(10));
    daemon.join().unwrap();
    answer
}

#[test]
fn call_returns_the_answer_and_seen_confirms_it() {
    let home = TestHome::new();
    let daemon = home.listen(1, |mut peer| {
        peer.greet(1);
        let request = peer.receive().unwrap();
        let call: VerbRequest = decode(&request.body).unwrap();
        assert_eq!(request.envelope.deadline_ms, 1500);
        peer.answer(&request.envelope, 5, "needs an answer\n");
        let seen = peer.receive().unwrap();
        assert_eq!(seen.envelope.method, Method::Seen);
        peer.send(&seen.envelope.answer(Kind::Reply), &Empty {});
        (call, decode::<DeliveryAck>(&seen.body).unwrap(), peer.receive().is_none())
    });
    let options = home.options();
    let mut connection = Connection::open(&options).unwrap();
    let call = options.call(run("editor.save()"));
    let answer = connection.call(&call, Duration::from_millis(1500)).unwrap();
    assert_eq!((answer.exit, answer.body), (5, Body::Text("needs an answer\n".into())));
    connection.seen(answer.delivery).unwrap();
    drop(connection);
    let served = daemon.join().unwrap().remove(0);
    assert_eq!(served, (call, DeliveryAck { delivery: 7 }, true));
}

#[test]
fn first_request_follows_the_greeting_and_close_seen_needs_no_reply() {
    let home = TestHome::new();
    // The second daemon is of an earlier release, which ignores the event.
    let mut features = vec![SEEN_EVENT.to_owned()];
    let daemon = home.listen(2, move |mut peer| {
        // Both arrive before the daemon has sent anything.
        let hello = peer.receive().unwrap();
        let request = peer.receive().unwrap();
        assert_eq!((hello.envelope.method, request.envelope.method), (Method::Hello, Method::Verb));
        let features = std::mem::take(&mut features);
        peer.send(&hello.envelope, &Hello { features, ..Hello::new(Role::Daemon, "pipemuxd") });
        peer.answer(&request.envelope, 0, "done\n");
        let seen = peer.receive().unwrap();
        if seen.envelope.kind == Kind::Request {
            peer.send(&seen.envelope.answer(Kind::Reply), &Empty {});
        }
        assert_eq!(
            (seen.envelope.method, seen.envelope.incarnation),
            (Method::Seen, Incarnation(0))
        );
        (seen.envelope.kind, decode::<DeliveryAck>(&seen.body).unwrap().delivery)
    });
    let options = home.options();
    for _ in 0..2 {
        let call = options.call(run("a()"));
        let (connection, answer) =
            Connection::open_and_call(&options, &call, options.timeout).unwrap();
        assert_eq!(answer.body, Body::Text("done\n".into()));
        connection.close_seen(answer.delivery);
    }
    assert_eq!(daemon.join().unwrap(), [(Kind::Event, 7), (Kind::Request, 7)]);
}

#[test]
fn request_is_sent_again_under_its_id_when_the_daemon_ends_before_greeting() {
    let home = TestHome::new();
    let mut first = true;
    let daemon = home.listen(2, move |mut peer: Peer| {
        let hello = peer.receive().unwrap();
        let request = peer.receive().unwrap();
        if !std::mem::take(&mut first) {
            peer.send(&hello.envelope, &Hello::new(Role::Daemon, "pipemuxd"));
            peer.answer(&request.envelope, 0, "done\n");
        }
        decode::<VerbRequest>(&request.body).unwrap().run_id
    });
    // The started program reports that another daemon runs, so the client connects to the fake one
    // again.
    let options = super::start::with_daemon(&home, "says-running");
    let call = options.call(run("a()"));
    let (_, answer) = Connection::open_and_call(&options, &call, options.timeout).unwrap();
    assert_eq!(answer.exit, 0);
    let id = call.run_id;
    assert_eq!(daemon.join().unwrap(), [id.clone(), id], "the daemon carries out only one request per id");
}

#[test]
fn first_request_to_another_version_reports_both_versions() {
    // The second request is so long that the daemon closes before it is written whole.
    for code in ["a()".to_owned(), format!("a('{}')", "x".repeat(900_000))] {
        let home = TestHome::new();
        let daemon = home.listen(1, |mut peer| peer.greet(2));
        let options = home.options();
        let outcome =
            Connection::open_and_call(&options, &options.call(run(&code)), options.timeout);
        daemon.join().unwrap();
        let error = outcome.unwrap_err();
        assert!(matches!(error, ClientError::VersionMismatch(_)), "{error:?}");
        assert!(error.to_string().contains("speaks protocol 2."), "{error}");
    }
}

#[test]
fn acting_first_request_is_unknown_when_the_daemon_is_lost_after_greeting() {
    for (verb, status) in [(run("a()"), 7), (view(), 8)] {
        let home = TestHome::new();
        let daemon = home.listen(1, |mut peer| {
            peer.greet(1);
            peer.receive().unwrap();
        });
        let options = home.options();
        let outcome = Connection::open_and_call(&options, &options.call(verb), options.timeout);
        daemon.join().unwrap();
        assert_eq!(outcome.unwrap_err().exit_status(), status);
    }
}

#[test]
fn refusal_keeps_its_message_hints_and_status() {
    let refusal = Fault::refused("too many requests").hint("wait");
    let theirs = refusal.clone();
    let error = call_result(run("a()"), move |peer, request| {
        let bytes = Frame::fault(&request.envelope, &theirs).unwrap();
        peer.stream.write_all(&bytes).unwrap();
    })
    .unwrap_err();
    assert_eq!((error.exit_status(), error.fault()), (9, &refusal));
}

#[test]
fn acting_call_is_unknown_when_the_daemon_is_lost_before_answering() {
    let error = call_result(run("a()"), |_, _| {}).unwrap_err();
    assert!(matches!(error, ClientError::OutcomeUnknown(_)), "{error:?}");
    assert_eq!(error.exit_status(), 7);
    assert!(error.to_string().contains("may or may not have been carried out"), "{error}");

    // A partial answer counts as none.
    let error = call_result(run("a()"), |peer, request| {
        let body = pipemux_proto::client::Answer {
            exit: 0,
            body: Body::Text("x".repeat(500)),
            delivery: 0,
        };
        let envelope = request.envelope.answer(Kind::Reply);
        let bytes = Frame::encode(&envelope, &body).unwrap();
        peer.stream.write_all(&bytes[..bytes.len() / 2]).unwrap();
    })
    .unwrap_err();
    assert_eq!(error.exit_status(), 7);

    // A call that changes nothing can simply be repeated.
    assert_eq!(call_result(view(), |_, _| {}).unwrap_err().exit_status(), 8);
}

#[test]
fn invalid_reply_is_an_error_not_a_panic() {
    for garbage in [&b"\xff\xff\xff\xff"[..], b"\0\0\0\x02\xc1\xc1", b"\0\0\0\0"] {
        let send = |peer: &mut Peer, _| peer.stream.write_all(garbage).unwrap();
        assert_eq!(call_result(run("a()"), send).unwrap_err().exit_status(), 7, "{garbage:?}");
        assert_eq!(call_result(view(), send).unwrap_err().exit_status(), 8, "{garbage:?}");
    }
    let odd = call_result(run("a()"), |peer, request| {
        peer.send(&request.envelope.answer(Kind::Reply), &"not an answer");
    });
    assert_eq!(odd.unwrap_err().exit_status(), 7);
}

#[test]
fn silent_daemon_is_given_up_at_the_deadline() {
    let home = TestHome::new();
    let daemon = home.listen(1, |mut peer| {
        peer.greet(1);
        while peer.receive().is_some() {}
    });
    let mut connection = Connection::open(&home.options()).unwrap();
    // A confirmation has its own deadline of one second.
    let error = connection.seen(3).unwrap_err();
    assert!(error.to_string().contains("in time"), "{error}");
    drop(connection);
    daemon.join().unwrap();
}

#[test]
fn daemon_of_another_version_receives_no_request() {
    let home = TestHome::new();
    let daemon = home.listen(1, |mut peer| {
        peer.greet(2);
        peer.receive().is_none()
    });
    let error = Connection::open(&home.options()).unwrap_err();
    assert!(matches!(error, ClientError::VersionMismatch(_)));
    assert_eq!(error.exit_status(), 8);
    assert!(error.to_string().contains("speaks protocol 2."), "{error}");
    assert!(!error.fault().hints.is_empty());
    assert_eq!(daemon.join().unwrap(), [true]);
}

#[test]
fn missing_daemon_is_reported_with_a_hint() {
    let home = TestHome::new();
    let error = Connection::open(&home.options()).unwrap_err();
    assert_eq!(error.exit_status(), 8);
    assert_eq!(error.fault().hints, ["start it: pipemux up"]);
    assert!(Connection::open_existing(&home.options()).unwrap().is_none());

    // A daemon that ends while the client connects counts as none.
    let daemon = home.listen(1, drop);
    assert!(Connection::open_existing(&home.options()).unwrap().is_none());
    daemon.join().unwrap();
}

#[test]
fn daemon_on_another_socket_is_found_through_its_lock() {
    let home = TestHome::new();
    let daemon = home.listen(1, |mut peer| peer.greet(1));
    let mut options = home.options();
    let socket = std::mem::replace(&mut options.paths.socket, home.dir.path().join("run/other"));
    assert!(Connection::open_existing(&options).unwrap().is_none());
    std::fs::write(&options.paths.lock, format!("{}\nmore\n", socket.display())).unwrap();
    assert!(Connection::open_existing(&options).unwrap().is_some());
    daemon.join().unwrap();
}

#[test]
fn socket_directory_that_others_can_write_to_is_refused() {
    let home = TestHome::new();
    let daemon = home.listen(1, |mut peer| peer.receive().is_none());
    let run = home.dir.path().join("run");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = Connection::open(&home.options()).unwrap_err();
    assert!(error.to_string().contains("somebody else's socket"), "{error}");
    assert_eq!(daemon.join().unwrap(), [true], "the client must send nothing");
}

#[test]
fn request_that_exceeds_a_frame_is_refused_before_sending() {
    let home = TestHome::new();
    let daemon = home.listen(1, |mut peer| {
        peer.greet(1);
        peer.receive().is_none()
    });
    let options = home.options();
    let huge = run(&"x".repeat(pipemux_proto::limits::FRAME_MAX));
    let mut connection = Connection::open(&options).unwrap();
    let error = connection.call(&options.call(huge), Duration::from_secs(1)).unwrap_err();
    assert_eq!(error.exit_status(), 2);
    drop(connection);
    assert_eq!(daemon.join().unwrap(), [true]);
}
