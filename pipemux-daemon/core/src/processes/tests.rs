//! The component by itself: no workspace, no client, no core.

use std::rc::Rc;

use pipemux_proto::app::{Empty, OpenRequest, Opened};
use pipemux_proto::envelope::{Envelope, Method};
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Frame, Hello, Kind, Role, decode};

use super::exits::handle_exit;
use super::frames::handle_frame;
use super::reply::{AppReply, ReplyTo};
use super::requests::{drop_request, redirect};
use super::session::ProcessState;
use super::starting::wake;
use super::{ProcessEnd, ProcessEvent, Processes};
use crate::event::{Effect, Exit, Now};
use crate::keys::{RequestId, SessionKey};
use crate::manifest::{Isolation, Manifest};
use crate::persist::records::SavedOpen;
use crate::turn::Turn;

/// Sessions, and what was asked of the outside so far.
struct Harness {
    processes: Processes,
    turn: Turn,
}

impl Harness {
    fn new() -> Self {
        let mut turn = Turn::default();
        turn.now = Now { mono_ms: 1_000, unix_ms: 1_000 };
        Self { processes: Processes::new("daemon".into(), "/state".into()), turn }
    }

    /// Makes a session that can be started.
    fn session(&mut self, name: &str, isolation: Isolation) -> SessionKey {
        let addr: pipemux_proto::SessionAddr = name.parse().unwrap();
        let manifest = Manifest { isolation, ..Manifest::new(addr.provider.clone(), "app") };
        let key = SessionKey { workspace: None, addr };
        self.processes.create(key.clone(), Rc::new(manifest));
        self.processes.get_mut(&key).unwrap().opens.push(SavedOpen::default());
        self.events();
        key
    }

    /// Makes a session and has its process become ready; returns its incarnation.
    fn ready(&mut self, name: &str) -> (SessionKey, Incarnation) {
        let key = self.session(name, Isolation::Session);
        wake(&mut self.turn, &mut self.processes, &key).unwrap();
        let app = self.processes.get(&key).and_then(|session| session.app()).unwrap();
        self.greet(app);
        self.answer_open(app);
        self.events();
        (key, app)
    }

    fn greet(&mut self, app: Incarnation) {
        let hello = Hello::new(Role::App, "app");
        let bytes = Frame::encode(&Envelope::event(Method::Hello, app), &hello).unwrap();
        self.receive(app, bytes);
    }

    /// Answers the newest `OpenRequest` that was sent.
    fn answer_open(&mut self, app: Incarnation) {
        let open = self.sent(Method::AppOpen).pop().expect("an Open was sent");
        assert!(decode::<OpenRequest>(&open.body).is_ok());
        let answer = open.envelope.answer(Kind::Reply);
        self.receive(app, Frame::encode(&answer, &Opened::default()).unwrap());
    }

    fn receive(&mut self, app: Incarnation, bytes: bytes::Bytes) {
        let frame = parse(&bytes);
        handle_frame(&mut self.turn, &mut self.processes, app, frame);
    }

    /// The frames with this method that were sent, oldest first.
    fn sent(&self, method: Method) -> Vec<Frame> {
        let frames = self.turn.effects.iter().filter_map(|effect| match effect {
            Effect::ToApp { bytes, .. } => Some(parse(bytes)),
            _ => None,
        });
        frames.filter(|frame| frame.envelope.method == method).collect()
    }

    fn ask(&mut self, key: &SessionKey, request: u64) -> Option<u64> {
        let to = ReplyTo::Invoke(RequestId(request));
        self.processes.request(&mut self.turn, key, Method::Invoke, &Empty {}, 60_000, to)
    }

    fn exit(&mut self, app: Incarnation, exit: Exit) {
        let last_lines = vec!["last words".into()];
        handle_exit(&mut self.turn, &mut self.processes, app, Ok(exit), last_lines);
    }

    fn events(&mut self) -> Vec<ProcessEvent> {
        std::iter::from_fn(|| self.processes.poll_event()).collect()
    }
}

fn parse(bytes: &bytes::Bytes) -> Frame {
    // Four bytes of length stand before the payload.
    Frame::from_payload(bytes.slice(4..)).unwrap()
}

#[test]
fn requests_to_a_session_without_a_process_start_it_and_are_sent_once_it_is_ready() {
    let mut harness = Harness::new();
    let key = harness.session("notes/main", Isolation::Session);
    assert!(harness.ask(&key, 1).is_some());
    assert!(harness.sent(Method::Invoke).is_empty(), "nobody can take it yet");
    let app = harness.processes.get(&key).and_then(|session| session.app()).unwrap();
    harness.greet(app);
    harness.answer_open(app);
    assert_eq!(harness.sent(Method::Invoke).len(), 1);
    let events = harness.events();
    assert!(
        matches!(
            &events[..],
            [
                ProcessEvent::Starting { .. },
                ProcessEvent::ActionsChanged { .. },
                ProcessEvent::Ready(ready)
            ] if ready.app == app
        ),
        "{events:?}"
    );
}

#[test]
fn a_crash_is_told_first_then_each_lost_request_once_then_what_waits_goes_on() {
    let mut harness = Harness::new();
    let (key, app) = harness.ready("notes/main");
    harness.ask(&key, 1);
    harness.ask(&key, 2);
    harness.exit(app, Exit::Signal(9));
    let events = harness.events();
    let [
        ProcessEvent::Ended { end: ProcessEnd::Crashed, exit: Some(Exit::Signal(9)), .. },
        ProcessEvent::Replied { to: first, reply: AppReply::Lost { died: true, .. }, .. },
        ProcessEvent::Replied { to: second, reply: AppReply::Lost { died: true, .. }, .. },
        ProcessEvent::Gone(gone),
    ] = &events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!(*first, ReplyTo::Invoke(RequestId(1)));
    assert_eq!(*second, ReplyTo::Invoke(RequestId(2)));
    assert!(!gone.wanted && !gone.could_not_start);
    assert!(gone.hints.contains(&"last words".to_owned()), "{:?}", gone.hints);
    assert_eq!(harness.processes.get(&key).map(|s| s.process == ProcessState::Down), Some(true));
}

#[test]
fn an_answer_of_an_earlier_incarnation_is_dropped() {
    let mut harness = Harness::new();
    let (key, app) = harness.ready("notes/main");
    harness.ask(&key, 1);
    let asked = harness.sent(Method::Invoke).pop().unwrap();
    harness.exit(app, Exit::Code(1));
    harness.events();
    let late = Frame::encode(&asked.envelope.answer(Kind::Reply), &Empty {}).unwrap();
    harness.receive(app, late);
    assert!(harness.events().is_empty());
}

#[test]
fn a_redirected_request_replies_to_its_new_receiver_only() {
    let mut harness = Harness::new();
    let (key, app) = harness.ready("notes/main");
    let id = harness.ask(&key, 1).unwrap();
    let to = ReplyTo::Project(RequestId(1));
    assert!(redirect(&mut harness.turn, &mut harness.processes, id, to.clone(), 70_000));
    let asked = harness.sent(Method::Invoke).pop().unwrap();
    let answer = Frame::encode(&asked.envelope.answer(Kind::Reply), &Empty {}).unwrap();
    harness.receive(app, answer);
    let events = harness.events();
    assert!(
        matches!(&events[..], [ProcessEvent::Replied { to: got, .. }] if *got == to),
        "{events:?}"
    );
}

#[test]
fn a_dropped_request_is_cancelled_and_tells_nobody() {
    let mut harness = Harness::new();
    let (key, app) = harness.ready("notes/main");
    let id = harness.ask(&key, 1).unwrap();
    drop_request(&mut harness.turn, &mut harness.processes, id);
    assert!(harness.events().is_empty());
    let cancels = harness.turn.effects.iter().filter(|effect| match effect {
        Effect::ToApp { bytes, .. } => parse(bytes).envelope.kind == Kind::Cancel,
        _ => false,
    });
    assert_eq!(cancels.count(), 1);
    assert_eq!(harness.processes.get(&key).map(|session| session.owed.count), Some(0));
    let _ = app;
}

#[test]
fn sessions_that_share_a_process_end_with_it_and_each_is_told() {
    let mut harness = Harness::new();
    let keys = ["notes/a", "notes/b"].map(|name| harness.session(name, Isolation::Provider));
    for key in &keys {
        wake(&mut harness.turn, &mut harness.processes, key).unwrap();
    }
    let starts: Vec<Incarnation> = harness
        .turn
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Start(start) => Some(start.app),
            _ => None,
        })
        .collect();
    let [process] = starts[..] else { panic!("one process for both: {starts:?}") };
    harness.events();
    harness.exit(process, Exit::Code(3));
    let ended: Vec<SessionKey> = harness
        .events()
        .into_iter()
        .filter_map(|event| match event {
            ProcessEvent::Gone(gone) => Some(gone.session),
            _ => None,
        })
        .collect();
    assert_eq!(ended, keys);
    assert!(harness.processes.incarnations().is_empty());
}
