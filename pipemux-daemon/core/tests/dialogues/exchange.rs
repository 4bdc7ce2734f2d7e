//! Exchanges of bytes between a client and an app: each has one answer, whatever happens to either
//! side.

use crate::world::{Behaviour, RequestEnd, World, reader};
use pipemux_core::exchange::{End, Forward};
use pipemux_core::{ClientId, Exit, limits};
use pipemux_proto::limits::EXCHANGE_MAX;
use pipemux_proto::{Code, Envelope, Fault, Incarnation, Kind, Method};

/// A world with an open session, a client, and the incarnation to which the client is attached.
fn attached() -> (World, ClientId, Incarnation) {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let client = world.connect();
    world.attach(client, 1, "notes/main");
    let incarnation = world.attached(client, 1).expect("an incarnation");
    assert_eq!(world.process("notes/main"), Some(incarnation));
    (world, client, incarnation)
}

#[track_caller]
fn fault(world: &World, client: ClientId, id: u64) -> Fault {
    match world.request_ends(client, id) {
        [RequestEnd::Fault(fault)] => fault.clone(),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn to_client(forward: Option<Forward>, client: ClientId, id: u64) {
    let forward = forward.expect("it goes on");
    assert_eq!((forward.to, forward.envelope.id), (End::Client(client), id));
}

#[test]
fn exchange_ids_are_translated_in_both_directions() {
    let (mut world, client, incarnation) = attached();
    let other = world.connect();
    world.attach(other, 1, "notes/main");
    let first = world.exchange(client, 7, incarnation, 64).expect("it goes on");
    // Two clients use the same id, which the app must tell apart.
    let second = world.exchange(other, 7, incarnation, 64).expect("it goes on");
    assert_eq!((first.to, first.envelope.incarnation), (End::App(incarnation), incarnation));
    assert_ne!(first.envelope.id, second.envelope.id);
    assert!((1..10_000).contains(&first.envelope.deadline_ms));
    to_client(world.answer_exchange(&second, 3), other, 7);
    to_client(world.answer_exchange(&first, 0), client, 7);
    // A duplicate answer, and an answer to nothing, are dropped.
    assert_eq!(world.answer_exchange(&first, 0), None);
    let made_up = Envelope { id: 12345, ..first.envelope.answer(Kind::Reply) };
    assert_eq!(world.pass_on(End::App(incarnation), &made_up, 0), None);
    world.run_out();
    assert!(world.request_ends(client, 7).is_empty() && world.request_ends(other, 7).is_empty());
}

#[test]
fn attach_starts_the_session_and_waits_for_it() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.lose_daemon();
    let client = world.connect();
    world.set_behaviour("notes/main", Behaviour::Holds);
    world.attach(client, 1, "notes/main");
    assert_eq!(world.attached(client, 1), None);
    world.release("notes/main");
    assert_eq!(world.attached(client, 1), world.process("notes/main"));
    world.attach(client, 2, "notes/other");
    assert_eq!(fault(&world, client, 2).code, Code::NotFound);
    world.attach(client, 3, "nothing/main");
    assert_eq!(fault(&world, client, 3).code, Code::NotFound);
}

#[test]
fn attach_fails_when_the_session_cannot_start() {
    for behaviour in
        [Behaviour::DiesAtStart(vec!["no disk".into()]), Behaviour::NoHello, Behaviour::Unstartable]
    {
        let mut world = World::new();
        world.open(reader("a"), "notes");
        world.lose_daemon();
        world.set_behaviour("notes/main", behaviour);
        let client = world.connect();
        world.attach(client, 1, "notes/main");
        world.pass(60_000);
        assert_eq!(fault(&world, client, 1).code, Code::Unavailable);
    }
}

#[test]
fn exchange_is_unknown_when_its_app_dies_and_its_incarnation_is_refused_afterwards() {
    let (mut world, client, incarnation) = attached();
    let asked = world.exchange(client, 7, incarnation, 64).expect("it goes on");
    world.kill(incarnation, Exit::Signal(9), &["fell over"]);
    let unknown = fault(&world, client, 7);
    assert_eq!(unknown.code, Code::Unknown);
    assert!(unknown.hints.iter().any(|hint| hint.contains("fell over")), "{unknown:?}");
    assert_eq!(world.answer_exchange(&asked, 1), None);
    assert_eq!(world.exchange(client, 8, incarnation, 64), None);
    let gone = fault(&world, client, 8);
    assert_eq!(gone.code, Code::Unavailable);
    assert!(gone.message.contains("not delivered") && gone.hints[0].contains("attach"), "{gone:?}");
    world.attach(client, 9, "notes/main");
    let next = world.attached(client, 9).expect("another incarnation");
    assert_ne!(next, incarnation);
    assert!(world.exchange(client, 10, next, 64).is_some());
    assert_eq!(world.exchange(client, 11, Incarnation(0), 64), None);
    assert_eq!(fault(&world, client, 11).code, Code::Unavailable);
}

#[test]
fn expired_exchange_is_unknown_and_cancelled_at_the_app() {
    let (mut world, client, incarnation) = attached();
    let asked = world.exchange(client, 7, incarnation, 64).expect("it goes on");
    world.pass(10_000);
    assert_eq!(fault(&world, client, 7).code, Code::Unknown);
    let told = world.apps[&incarnation].got.iter().any(|got| {
        (got.kind, got.method, got.id) == (Kind::Cancel, Method::Exchange, asked.envelope.id)
    });
    assert!(told);
    assert_eq!(world.answer_exchange(&asked, 5), None);
    assert!(world.exchange(client, 8, incarnation, 64).is_some());
}

#[test]
fn cancel_and_client_loss_cancel_the_exchange_at_the_app() {
    let (mut world, client, incarnation) = attached();
    let asked = world.exchange(client, 7, incarnation, 64).expect("it goes on");
    world.cancel(client, 7);
    world.cancel(client, 999);
    let cancels = |world: &World| {
        world.apps[&incarnation].got.iter().filter(|got| got.kind == Kind::Cancel).count()
    };
    assert_eq!(cancels(&world), 1);
    to_client(world.answer_exchange(&asked, 1), client, 7);
    let left = world.exchange(client, 8, incarnation, 64).expect("it goes on");
    world.vanish(client);
    assert_eq!(cancels(&world), 2);
    assert_eq!(world.answer_exchange(&left, 1), None);
    world.run_out();
}

#[test]
fn exchange_limits_refuse_until_earlier_exchanges_end() {
    let (mut world, client, incarnation) = attached();
    assert_eq!(world.exchange(client, 1_000, incarnation, EXCHANGE_MAX + 1), None);
    assert_eq!(fault(&world, client, 1_000).code, Code::Refused);
    let open: Vec<Forward> = (0..limits::CLIENT_EXCHANGES_MAX as u64)
        .map(|id| world.exchange(client, id, incarnation, 1).expect("it goes on"))
        .collect();
    assert_eq!(world.exchange(client, 1_001, incarnation, 1), None);
    assert_eq!(fault(&world, client, 1_001).code, Code::Refused);
    for asked in &open {
        assert!(world.answer_exchange(asked, 1).is_some());
    }
    // The limit of one client in bytes, then that of one app.
    let fits = limits::CLIENT_EXCHANGE_BYTES / EXCHANGE_MAX;
    let clients: Vec<ClientId> = std::iter::once(client)
        .chain((0..limits::APP_EXCHANGE_BYTES / limits::CLIENT_EXCHANGE_BYTES).map(|_| {
            let client = world.connect();
            world.attach(client, 1_999, "notes/main");
            client
        }))
        .collect();
    let mut bytes = 0;
    let mut full = 0;
    for client in clients {
        for id in 0..fits as u64 {
            match world.exchange(client, 2_000 + id, incarnation, EXCHANGE_MAX) {
                Some(_) => bytes += EXCHANGE_MAX,
                None => {
                    assert_eq!(fault(&world, client, 2_000 + id).code, Code::Unavailable);
                    full += 1;
                }
            }
        }
        assert_eq!(world.exchange(client, 3_000, incarnation, EXCHANGE_MAX), None);
    }
    assert!(full > 0 && bytes <= limits::APP_EXCHANGE_BYTES, "{full} refused, {bytes} taken");
}

#[test]
fn exchange_answer_that_is_too_long_or_unread_fails() {
    let (mut world, client, incarnation) = attached();
    let asked = world.exchange(client, 7, incarnation, 64).expect("it goes on");
    assert_eq!(world.answer_exchange(&asked, EXCHANGE_MAX + 1), None);
    assert_eq!(fault(&world, client, 7).code, Code::Failed);
    let unread = world.exchange(client, 8, incarnation, 64).expect("it goes on");
    let answer = world.answer_exchange(&unread, 9).expect("it goes on");
    let mut out = Vec::new();
    world.core.exchange_unread(&answer, &mut out);
    assert_eq!(out.len(), 1, "{out:?}");
}

#[test]
fn exchange_is_refused_before_the_greeting_and_from_apps() {
    let (mut world, _, incarnation) = attached();
    let rude = ClientId(99);
    world.clients.insert(rude, Default::default());
    world.event(pipemux_core::Event::ClientOpened { client: rude });
    assert_eq!(world.exchange(rude, 1, incarnation, 1), None);
    assert_eq!(fault(&world, rude, 1).code, Code::Refused);
    assert!(world.clients[&rude].closed);
    let request = Envelope::request(Method::Exchange, 5, incarnation);
    assert_eq!(world.pass_on(End::App(incarnation), &request, 1), None);
}
