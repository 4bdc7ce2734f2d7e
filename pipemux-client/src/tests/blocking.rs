use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use pipemux_proto::app::Empty;
use pipemux_proto::client::{Body, Call, Seen, Verb};
use pipemux_proto::hello::SEEN_EVENT;
use pipemux_proto::{Fault, Frame, Hello, Incarnation, Kind, Method, Role, decode};

use super::fake_daemon::{Peer, Place, run, view};
use crate::ClientError;
use crate::blocking::Connection;

/// What the client makes of a daemon that does this after the greetings and the first request.
fn outcome(
    verb: Verb,
    mut then: impl FnMut(&mut Peer, Frame) + Send + 'static,
) -> Result<pipemux_proto::client::Answer, ClientError> {
    let place = Place::new();
    let daemon = place.listen(1, move |mut peer| {
        peer.greet(1);
        let request = peer.receive().unwrap();
        then(&mut peer, request);
    });
    let options = place.options();
    let answer =
        Connection::open(&options).unwrap().call(&options.call(verb), Duration::from_secs(10));
    daemon.join().unwrap();
    answer
}

#[test]
fn a_call_is_answered_and_the_answer_confirmed() {
    let place = Place::new();
    let daemon = place.listen(1, |mut peer| {
        peer.greet(1);
        let request = peer.receive().unwrap();
        let call: Call = decode(&request.body).unwrap();
        assert_eq!(request.envelope.deadline_ms, 1500);
        peer.answer(&request.envelope, 5, "needs an answer\n");
        let seen = peer.receive().unwrap();
        assert_eq!(seen.envelope.method, Method::Seen);
        peer.send(&seen.envelope.answer(Kind::Reply), &Empty {});
        (call, decode::<Seen>(&seen.body).unwrap(), peer.receive().is_none())
    });
    let options = place.options();
    let mut connection = Connection::open(&options).unwrap();
    let call = options.call(run("editor.save()"));
    let answer = connection.call(&call, Duration::from_millis(1500)).unwrap();
    assert_eq!((answer.exit, answer.body), (5, Body::Text("needs an answer\n".into())));
    connection.seen(answer.delivery).unwrap();
    drop(connection);
    let served = daemon.join().unwrap().remove(0);
    assert_eq!(served, (call, Seen { delivery: 7 }, true));
}

#[test]
fn a_first_request_goes_out_with_the_greeting_and_its_confirmation_is_the_last_word() {
    let place = Place::new();
    // The second daemon is of an earlier release, which passes the event over.
    let mut features = vec![SEEN_EVENT.to_owned()];
    let daemon = place.listen(2, move |mut peer| {
        // Both are here before this side has said anything.
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
        (seen.envelope.kind, decode::<Seen>(&seen.body).unwrap().delivery)
    });
    let options = place.options();
    for _ in 0..2 {
        let call = options.call(run("a()"));
        let (connection, answer) =
            Connection::open_and_call(&options, &call, options.timeout).unwrap();
        assert_eq!(answer.body, Body::Text("done\n".into()));
        connection.end(answer.delivery);
    }
    assert_eq!(daemon.join().unwrap(), [(Kind::Event, 7), (Kind::Request, 7)]);
}

#[test]
fn a_daemon_lost_before_it_greets_is_followed_by_another_with_the_same_request() {
    let place = Place::new();
    let mut first = true;
    let daemon = place.listen(2, move |mut peer: Peer| {
        let hello = peer.receive().unwrap();
        let request = peer.receive().unwrap();
        if !std::mem::take(&mut first) {
            peer.send(&hello.envelope, &Hello::new(Role::Daemon, "pipemuxd"));
            peer.answer(&request.envelope, 0, "done\n");
        }
        decode::<Call>(&request.body).unwrap().run_id
    });
    // What is started says that another one runs, so that the fake one is asked again.
    let options = super::start::starting(&place, "says-running");
    let call = options.call(run("a()"));
    let (_, answer) = Connection::open_and_call(&options, &call, options.timeout).unwrap();
    assert_eq!(answer.exit, 0);
    let id = call.run_id;
    assert_eq!(daemon.join().unwrap(), [id.clone(), id], "the same id, so it is carried out once");
}

#[test]
fn a_first_request_to_another_version_is_refused_with_both_versions() {
    // The second is so long that it isn't written whole before the daemon has closed.
    for code in ["a()".to_owned(), format!("a('{}')", "x".repeat(900_000))] {
        let place = Place::new();
        let daemon = place.listen(1, |mut peer| peer.greet(2));
        let options = place.options();
        let outcome =
            Connection::open_and_call(&options, &options.call(run(&code)), options.timeout);
        daemon.join().unwrap();
        let error = outcome.unwrap_err();
        assert!(matches!(error, ClientError::Version(_)), "{error:?}");
        assert!(error.to_string().contains("speaks protocol 2."), "{error}");
    }
}

#[test]
fn a_first_request_that_acts_is_unknown_once_the_daemon_greeted_and_was_lost() {
    for (verb, status) in [(run("a()"), 7), (view(), 8)] {
        let place = Place::new();
        let daemon = place.listen(1, |mut peer| {
            peer.greet(1);
            peer.receive().unwrap();
        });
        let options = place.options();
        let outcome = Connection::open_and_call(&options, &options.call(verb), options.timeout);
        daemon.join().unwrap();
        assert_eq!(outcome.unwrap_err().exit_status(), status);
    }
}

#[test]
fn a_refusal_keeps_its_words_and_status() {
    let refusal = Fault::refused("too many requests").hint("wait");
    let theirs = refusal.clone();
    let error = outcome(run("a()"), move |peer, request| {
        let bytes = Frame::fault(&request.envelope, &theirs).unwrap();
        peer.stream.write_all(&bytes).unwrap();
    })
    .unwrap_err();
    assert_eq!((error.exit_status(), error.fault()), (9, &refusal));
}

#[test]
fn a_daemon_lost_in_the_middle_leaves_an_acting_call_unknown() {
    let error = outcome(run("a()"), |_, _| {}).unwrap_err();
    assert!(matches!(error, ClientError::Unknown(_)), "{error:?}");
    assert_eq!(error.exit_status(), 7);
    assert!(error.to_string().contains("may or may not have been done"), "{error}");

    // Half an answer is none.
    let error = outcome(run("a()"), |peer, request| {
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

    // Nothing is lost when nothing was to change.
    assert_eq!(outcome(view(), |_, _| {}).unwrap_err().exit_status(), 8);
}

#[test]
fn garbage_instead_of_an_answer_is_no_panic_and_no_answer() {
    for garbage in [&b"\xff\xff\xff\xff"[..], b"\0\0\0\x02\xc1\xc1", b"\0\0\0\0"] {
        let send = |peer: &mut Peer, _| peer.stream.write_all(garbage).unwrap();
        assert_eq!(outcome(run("a()"), send).unwrap_err().exit_status(), 7, "{garbage:?}");
        assert_eq!(outcome(view(), send).unwrap_err().exit_status(), 8, "{garbage:?}");
    }
    let odd = outcome(run("a()"), |peer, request| {
        peer.send(&request.envelope.answer(Kind::Reply), &"not an answer");
    });
    assert_eq!(odd.unwrap_err().exit_status(), 7);
}

#[test]
fn a_silent_daemon_is_given_up_at_the_deadline() {
    let place = Place::new();
    let daemon = place.listen(1, |mut peer| {
        peer.greet(1);
        while peer.receive().is_some() {}
    });
    let mut connection = Connection::open(&place.options()).unwrap();
    // A confirmation has a deadline of its own, of one second.
    let error = connection.seen(3).unwrap_err();
    assert!(error.to_string().contains("in time"), "{error}");
    drop(connection);
    daemon.join().unwrap();
}

#[test]
fn another_version_is_asked_nothing() {
    let place = Place::new();
    let daemon = place.listen(1, |mut peer| {
        peer.greet(2);
        peer.receive().is_none()
    });
    let error = Connection::open(&place.options()).unwrap_err();
    assert!(matches!(error, ClientError::Version(_)));
    assert_eq!(error.exit_status(), 8);
    assert!(error.to_string().contains("speaks protocol 2."), "{error}");
    assert!(!error.fault().hints.is_empty());
    assert_eq!(daemon.join().unwrap(), [true]);
}

#[test]
fn nobody_there_is_said_with_the_way_out() {
    let place = Place::new();
    let error = Connection::open(&place.options()).unwrap_err();
    assert_eq!(error.exit_status(), 8);
    assert_eq!(error.fault().hints, ["start it: pipemux up"]);
    assert!(Connection::find(&place.options()).unwrap().is_none());

    // A daemon that ends as we come is as good as none.
    let daemon = place.listen(1, drop);
    assert!(Connection::find(&place.options()).unwrap().is_none());
    daemon.join().unwrap();
}

#[test]
fn a_daemon_that_listens_elsewhere_is_found_by_its_lock() {
    let place = Place::new();
    let daemon = place.listen(1, |mut peer| peer.greet(1));
    let mut options = place.options();
    let socket = std::mem::replace(&mut options.paths.socket, place.dir.path().join("run/other"));
    assert!(Connection::find(&options).unwrap().is_none());
    std::fs::write(&options.paths.lock, format!("{}\nmore\n", socket.display())).unwrap();
    assert!(Connection::find(&options).unwrap().is_some());
    daemon.join().unwrap();
}

#[test]
fn a_directory_that_others_can_write_to_is_not_trusted() {
    let place = Place::new();
    let daemon = place.listen(1, |mut peer| peer.receive().is_none());
    let run = place.dir.path().join("run");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = Connection::open(&place.options()).unwrap_err();
    assert!(error.to_string().contains("somebody else's socket"), "{error}");
    assert_eq!(daemon.join().unwrap(), [true], "nothing may be sent");
}

#[test]
fn what_does_not_fit_a_frame_is_refused_before_it_is_sent() {
    let place = Place::new();
    let daemon = place.listen(1, |mut peer| {
        peer.greet(1);
        peer.receive().is_none()
    });
    let options = place.options();
    let huge = run(&"x".repeat(pipemux_proto::limits::FRAME_MAX));
    let mut connection = Connection::open(&options).unwrap();
    let error = connection.call(&options.call(huge), Duration::from_secs(1)).unwrap_err();
    assert_eq!(error.exit_status(), 2);
    drop(connection);
    assert_eq!(daemon.join().unwrap(), [true]);
}
