//! Who acts: what an app starts never acts as the user, and one agent doesn't speak as another by
//! mistake.

use pipemux_core::peer::{Ancestor, Evidence, PeerProcess};
use pipemux_core::{ClientId, Event};
use pipemux_proto::client::{Verb, VerbRequest};
use pipemux_proto::{Code, Fault};

use crate::world::{RequestEnd, World, open, reader, run};

/// A process of that id and with these ancestors; 1 is the daemon, whose launcher is the parent of
/// all apps.
fn process(pid: u32, ancestors: &[u32]) -> PeerProcess {
    let ancestor = |pid: &u32| Ancestor { pid: *pid, name: format!("process {pid}") };
    PeerProcess {
        pid: Some(pid),
        ancestors: ancestors.iter().map(ancestor).collect(),
        ..PeerProcess::default()
    }
}

fn connect_as(world: &mut World, peer: PeerProcess) -> ClientId {
    let client = world.connect();
    world.peers.insert(client, peer);
    client
}

#[track_caller]
fn refusal(world: &World, client: ClientId, id: u64) -> Fault {
    match world.request_ends(client, id) {
        [RequestEnd::Fault(fault)] if fault.code == Code::Refused => fault.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn descendants_of_an_app_can_read_but_not_act_or_answer() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    world.run(reader("a"), "notes.pick()").exits(5);
    let app = u32::try_from(world.process("notes/main").expect("it runs").0).unwrap() + 1_000;
    let client = connect_as(&mut world, process(9_000, &[app, 8_999, 1]));
    let acts = [
        run("notes.say('x')"),
        Verb::Answer { text: "all".into(), to: None, stdin: None },
        open("other"),
        Verb::Undo { round: None },
        Verb::Down,
    ];
    for verb in acts {
        let call = world.call(reader("a"), verb);
        let id = world.send(client, &call);
        let fault = refusal(&world, client, id);
        assert_eq!(
            fault.message,
            "process 9000 was started by notes/main: what an app starts can read, but not act as the user"
        );
        // It may be sent again under the same id by somebody who may.
        assert!(!world.records.iter().any(|record| format!("{record:?}").contains(&call.run_id)));
    }
    world.attach(client, 77, "notes/main");
    refusal(&world, client, 77);
    assert_eq!(world.attached(client, 77), None);
    let call = world.call(reader("watcher"), Verb::View(Default::default()));
    let id = world.send(client, &call);
    world.answer_to(client, id).expect("an answer").exits(0).has("## notes/main");
    // The question is still open for the one whom it was asked of.
    world.answer(reader("a"), "all").exits(0).has("1 done · pick");
    assert_eq!(world.invoked.len(), 2);
}

#[test]
fn process_below_the_daemon_or_with_a_mark_or_without_a_past_cannot_act() {
    let refused = [
        (process(9_000, &[8_999, 1]), "was started by an app"),
        (PeerProcess { marked: true, ..process(9_000, &[5]) }, "was started by an app"),
        (PeerProcess { evidence: Evidence::Ended, ..process(9_000, &[]) }, "has ended"),
        (PeerProcess { evidence: Evidence::Partial, ..process(9_000, &[5]) }, "has ancestors that"),
    ];
    for (peer, why) in refused {
        let mut world = World::new();
        let client = connect_as(&mut world, peer);
        let call = world.call(reader("a"), open("notes"));
        let id = world.send(client, &call);
        let fault = refusal(&world, client, id);
        assert!(fault.message.contains(why), "{fault:?}");
        assert!(world.apps.is_empty());
    }
    let trusted = [
        process(9_000, &[700, 5]),
        PeerProcess { evidence: Evidence::Unavailable, ..PeerProcess::default() },
    ];
    for peer in trusted {
        let mut world = World::new();
        let client = connect_as(&mut world, peer);
        let call = world.call(reader("a"), open("notes"));
        let id = world.send(client, &call);
        world.answer_to(client, id).expect("an answer").exits(0);
    }
}

#[test]
fn process_is_asked_for_once_and_only_when_a_client_acts() {
    let mut world = World::new();
    let client = world.connect();
    let count = |world: &World| {
        world.effects.iter().filter(|effect| effect.starts_with("IdentifyClient")).count()
    };
    let call = world.call(reader("a"), Verb::Sessions);
    world.send(client, &call);
    assert_eq!(count(&world), 0);
    for _ in 0..2 {
        let call = world.call(reader("a"), open("notes"));
        world.send(client, &call);
        assert_eq!(count(&world), 1);
    }
}

#[test]
fn client_that_leaves_before_it_is_known_begins_nothing() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let client = world.connect();
    let call = world.call(reader("a"), run("notes.say('x')"));
    let envelope = pipemux_proto::Envelope::request(
        pipemux_proto::Method::Verb,
        1,
        pipemux_proto::Incarnation(0),
    );
    let frame = crate::world::frame(&envelope, &call);
    let mut out = Vec::new();
    world.core.handle(Event::ClientFrame { client, frame }, world.now, &mut out);
    world.core.handle(Event::ClientClosed { client }, world.now, &mut out);
    let peer = PeerProcess::default();
    world.core.handle(Event::ClientIdentified { client, peer }, world.now, &mut out);
    world.clients.remove(&client);
    world.carry_out(out);
    assert!(world.invoked.is_empty());
    world.ask_call(&call).exits(0).has("say: x");
}

#[test]
fn exchange_needs_a_connection_that_was_attached() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    let client = world.connect();
    assert_eq!(world.exchange(client, 1, app, 10), None);
    assert_eq!(refusal(&world, client, 1).message, "attach to the session first");
    world.attach(client, 2, "notes/main");
    assert!(world.exchange(client, 3, app, 10).is_some());
}

#[test]
fn token_keeps_others_from_speaking_as_a_reader() {
    let mut world = World::new();
    let with = |world: &mut World, token: &str, verb: Verb| {
        let call = world.call(reader("a"), verb);
        let client = world.connect();
        let call = VerbRequest { reader_token: token.into(), ..call };
        let id = world.send(client, &call);
        match world.request_ends(client, id) {
            [RequestEnd::Answer(answer)] => Ok(answer.exit),
            [RequestEnd::Fault(fault)] => Err(fault.message.clone()),
            other => panic!("{other:?}"),
        }
    };
    // Nothing is needed before the first token.
    assert_eq!(with(&mut world, "", open("notes")), Ok(0));
    assert_eq!(with(&mut world, "k3y", Verb::View(Default::default())), Ok(0));
    assert_eq!(with(&mut world, "k3y", run("notes.say('x')")), Ok(0));
    let without = "reader a has a token, and this request has none";
    assert_eq!(with(&mut world, "", run("notes.say('y')")), Err(without.into()));
    let other = "reader a has a token, and this request has another one";
    assert_eq!(with(&mut world, "other", Verb::View(Default::default())), Err(other.into()));
    assert_eq!(world.invoked.len(), 1);
    // What is the same for everybody needs none.
    assert_eq!(with(&mut world, "", Verb::Sessions), Ok(0));
    // Another reader, and this one in another workspace, need none.
    world.view(reader("b")).exits(0);
    let long = "x".repeat(pipemux_proto::limits::READER_TOKEN_MAX + 1);
    let said = with(&mut world, &long, Verb::Status).unwrap_err();
    assert!(said.starts_with("reader_token has 257 bytes"), "{said}");
    // A token is never shown, and not saved.
    let all = format!("{:?}{:?}{:?}", world.records, world.core.snapshot(), world.audited);
    assert!(!all.contains("k3y"));
}
