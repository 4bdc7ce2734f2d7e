//! Exchanges: bytes between a program and an app, over a real daemon.

use pipemux_proto::client::{Attach, Attached, Workspace};
use pipemux_proto::limits::EXCHANGE_MAX;
use pipemux_proto::{Code, Envelope, Fault, Frame, Incarnation, Kind, Method, decode};
use pipemux_tests::raw::Raw;
use pipemux_tests::{Signal, World, kill};

/// A world with an open rogue, and a connection that is attached to it.
fn attached() -> (World, Raw, Incarnation) {
    let world = World::new();
    world.install_rogue("rogue", "tame");
    world.pipemux(&["open", "rogue"]).ok();
    let mut raw = Raw::greeted(&world);
    let life = attach(&world, &mut raw, "rogue/main").expect("a life");
    (world, raw, life)
}

fn attach(world: &World, raw: &mut Raw, session: &str) -> Result<Incarnation, Fault> {
    let key = world.project().canonicalize().expect("the project").display().to_string();
    let workspace = Workspace { key, name: "proj".into() };
    let session = session.parse().expect("a session");
    let request = Envelope::request(Method::Attach, 900, Incarnation(0));
    raw.send(&request, &Attach { workspace, session });
    let frame = raw.frame().expect("an answer");
    match frame.envelope.kind {
        Kind::Reply => Ok(decode::<Attached>(&frame.body).expect("a life").incarnation),
        _ => Err(decode(&frame.body).expect("a fault")),
    }
}

fn ask(raw: &mut Raw, id: u64, life: Incarnation, body: &[u8]) {
    let envelope = Envelope::request(Method::Exchange, id, life);
    let head = Frame::head(&envelope, body.len()).expect("it fits");
    assert!(raw.write(&[&head[..], body].concat()));
}

#[track_caller]
fn echoed(raw: &mut Raw, id: u64, body: &[u8]) {
    let frame = raw.frame().expect("an answer");
    assert_eq!((frame.envelope.kind, frame.envelope.id), (Kind::Reply, id));
    assert!(frame.body == body, "{} bytes came back for {}", frame.body.len(), body.len());
}

#[track_caller]
fn refused(raw: &mut Raw, id: u64) -> Fault {
    let frame = raw.frame().expect("an answer");
    assert_eq!((frame.envelope.kind, frame.envelope.id), (Kind::Fault, id));
    decode(&frame.body).expect("a fault")
}

fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|at| ((at * 31) ^ (at >> 8) ^ seed) as u8).collect()
}

#[test]
fn bodies_of_every_size_and_content_come_back_whole() {
    let (_world, mut raw, life) = attached();
    let sizes = [0, 1, 63, 4_096, 8_192, 16_384, 16_385, 65_536, 70_000, 300_000, EXCHANGE_MAX];
    for (id, size) in sizes.into_iter().enumerate() {
        let body = pattern(size, id);
        ask(&mut raw, id as u64, life, &body);
        echoed(&mut raw, id as u64, &body);
    }
    // What would be a frame, a message or a fault elsewhere is just bytes here.
    for body in [&[0xc1; 9][..], &[0x00, 0x00, 0x00, 0x05, 0x95], b"\x81\xa4code\xa6failed"] {
        ask(&mut raw, 70, life, body);
        echoed(&mut raw, 70, body);
    }
    // One byte more than fits is refused before the app sees it, and the connection goes on.
    ask(&mut raw, 71, life, &vec![0; EXCHANGE_MAX + 1]);
    assert_eq!(refused(&mut raw, 71).code, Code::Refused);
    ask(&mut raw, 72, life, b"still here");
    echoed(&mut raw, 72, b"still here");
}

#[test]
fn many_are_under_way_at_once_and_each_finds_its_asker() {
    let (world, mut raw, life) = attached();
    let mut other = Raw::greeted(&world);
    let bodies: Vec<Vec<u8>> = (0..60).map(|id| pattern(id * 331, id)).collect();
    for (id, body) in bodies.iter().enumerate() {
        ask(&mut raw, id as u64, life, body);
        ask(&mut other, id as u64, life, &[id as u8]);
    }
    for (id, body) in bodies.iter().enumerate() {
        echoed(&mut raw, id as u64, body);
        echoed(&mut other, id as u64, &[id as u8]);
    }
    // Answers in another order than the questions.
    for id in 1..=3 {
        ask(&mut raw, id, life, b"hold");
    }
    ask(&mut raw, 4, life, b"release");
    for id in [3, 2, 1] {
        echoed(&mut raw, id, b"held");
    }
    echoed(&mut raw, 4, b"released");
}

#[test]
fn a_reader_who_is_slow_gets_all_of_it_and_holds_up_nobody() {
    let (world, mut slow, life) = attached();
    let body = pattern(EXCHANGE_MAX, 5);
    for id in 0..4 {
        ask(&mut slow, id, life, &body);
    }
    let mut other = Raw::greeted(&world);
    for id in 0..50 {
        ask(&mut other, id, life, b"small");
        echoed(&mut other, id, b"small");
    }
    for id in 0..4 {
        echoed(&mut slow, id, &body);
    }
}

#[test]
fn a_crash_in_the_middle_is_unknown_once_and_attaching_anew_goes_on() {
    let (world, mut raw, life) = attached();
    for how in ["die", "half"] {
        let life = attach(&world, &mut raw, "rogue/main").expect("a life");
        ask(&mut raw, 1, life, b"hold");
        ask(&mut raw, 2, life, how.as_bytes());
        assert_eq!(refused(&mut raw, 1).code, Code::Unknown);
        assert_eq!(refused(&mut raw, 2).code, Code::Unknown);
        ask(&mut raw, 3, life, b"too late");
        let gone = refused(&mut raw, 3);
        assert_eq!(gone.code, Code::Unavailable);
        assert!(gone.message.contains("not delivered"), "{gone:?}");
    }
    let next = attach(&world, &mut raw, "rogue/main").expect("a life");
    assert!(next > life);
    ask(&mut raw, 4, next, b"well");
    echoed(&mut raw, 4, b"well");
    kill(world.pid("rogue/main"), Signal::SIGKILL);
    ask(&mut raw, 5, next, b"killed");
    // Before or after the daemon heard of it: one word either way.
    assert!(matches!(refused(&mut raw, 5).code, Code::Unknown | Code::Unavailable));
}

#[test]
fn what_an_app_says_is_passed_on_and_what_it_says_twice_is_not() {
    let (_world, mut raw, life) = attached();
    ask(&mut raw, 1, life, b"refuse");
    let fault = refused(&mut raw, 1);
    assert_eq!((fault.message.as_str(), fault.hints.len()), ("not this one", 1));
    ask(&mut raw, 2, life, b"garbage fault");
    assert_eq!(raw.frame().map(|frame| frame.envelope.kind), Some(Kind::Fault));
    ask(&mut raw, 3, life, b"twice");
    echoed(&mut raw, 3, b"once");
    ask(&mut raw, 4, life, b"next");
    echoed(&mut raw, 4, b"next");
}

#[test]
fn lives_that_are_none_and_apps_that_take_none_are_told() {
    let (world, mut raw, life) = attached();
    for none in [Incarnation(0), Incarnation(life.0 + 1_000), Incarnation(u64::MAX)] {
        ask(&mut raw, 1, none, b"x");
        assert_eq!(refused(&mut raw, 1).code, Code::Unavailable);
    }
    assert_eq!(attach(&world, &mut raw, "rogue/other").map_err(|f| f.code), Err(Code::NotFound));
    assert_eq!(attach(&world, &mut raw, "nobody/main").map_err(|f| f.code), Err(Code::NotFound));
    world.pipemux(&["open", "notebook"]).ok();
    let notebook = attach(&world, &mut raw, "notebook/main").expect("a life");
    ask(&mut raw, 2, notebook, b"x");
    let told = refused(&mut raw, 2);
    assert!(told.message.contains("takes no exchanges"), "{told:?}");
    world.run("notebook.add('a', 'b')").ok();
}
