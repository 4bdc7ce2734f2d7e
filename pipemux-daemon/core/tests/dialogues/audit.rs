//! The audit log: each act is one entry, with who did it and who confirmed it.

use pipemux_core::audit::{AuditEntry, CallPart};
use pipemux_core::peer::PeerProcess;
use pipemux_proto::client::Verb;

use crate::world::{World, open, reader, run};

fn shown(entry: &AuditEntry) -> String {
    let part = |part: &CallPart| match part {
        CallPart::Text(text) => text.clone(),
        CallPart::Value(bytes) => format!("<{} bytes>", bytes.len()),
    };
    let call: String = entry.call.iter().map(part).collect();
    format!("{} {} {call} {}", entry.reader, entry.verb, entry.exit)
}

fn shown_last(world: &World) -> String {
    world.audited.last().map(shown).expect("an entry")
}

#[test]
fn each_act_is_one_entry_and_looking_is_none() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    assert_eq!(shown_last(&world), "a open notes/main 0");
    world.view(reader("a"));
    world.ask(reader("a"), Verb::Sessions);
    world.run(reader("a"), "notes.list()");
    assert_eq!(world.audited.len(), 1);
    let long = "x".repeat(100);
    world.run(reader("a"), &format!("notes.edit(obj:{id}, '{long}'); notes.say('short')"));
    assert_eq!(
        shown_last(&world),
        format!("a run notes.edit(obj:{id}, <100 bytes>); notes.say('short') 0")
    );
    let entry = world.audited.last().expect("an entry");
    assert_eq!((entry.workspace.as_str(), entry.notes.round), ("/demo", Some(1)));
    assert!(entry.notes.result.as_ref().is_some_and(|result| result.starts_with("edit")));
    assert!(entry.unix_ms > 0 && entry.peer.is_some() && entry.run_id.starts_with("run-"));
    world.run(reader("a"), "notes.nothing()").exits(2);
    assert_eq!(shown_last(&world), "a run notes.nothing() 2");
    let call = world.call(reader("a"), run("notes.say('again')"));
    world.ask_call(&call);
    let count = world.audited.len();
    world.ask_call(&call);
    assert_eq!(world.audited.len(), count, "sent again, nothing is done");
}

#[test]
fn confirmation_names_what_was_confirmed_and_by_whom() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    world.run(reader("a"), &format!("notes.remove(obj:{id})")).exits(5);
    let asked = world.audited.last().expect("an entry").notes.asked.expect("a question");
    assert!(shown_last(&world).starts_with("a run notes.remove(obj:"));
    let client = world.connect();
    world.peers.insert(client, PeerProcess { pid: Some(77), ..PeerProcess::default() });
    let yes = world.call(reader("a"), Verb::Answer { text: "yes".into(), to: None, stdin: None });
    let request = world.send(client, &yes);
    world.answer_to(client, request).expect("an answer").exits(0);
    assert_eq!(shown_last(&world), "a answer yes 0");
    let entry = world.audited.last().expect("an entry");
    assert_eq!(entry.peer.as_ref().and_then(|peer| peer.pid), Some(77));
    assert_eq!(entry.notes.answered, Some(asked));
    assert!(entry.notes.confirmed.as_ref().is_some_and(|what| what.starts_with("notes.remove: ")));
    assert!(entry.notes.calls.as_ref().is_some_and(|calls| calls.contains("notes.remove")));
}

#[test]
fn click_is_recorded_with_the_call_behind_its_link() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    let shown = world.open(reader("a"), "notes");
    let link = shown.id("edit k1 r1");
    world.click(reader("a"), &format!("link:{link}"));
    let entry = world.audited.last().expect("an entry");
    assert_eq!(entry.verb, "click");
    assert!(
        entry.notes.calls.as_ref().is_some_and(|calls| calls.contains("notes.edit")),
        "{entry:?}"
    );
}

#[test]
fn attach_and_exchanges_are_counted_and_not_read() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let client = world.connect();
    world.attach(client, 1, "notes/main");
    assert_eq!(shown_last(&world), " attach notes/main 0");
    let app = world.attached(client, 1).expect("an incarnation");
    for id in 2..5 {
        let forward = world.exchange(client, id, app, 10).expect("it goes on");
        world.answer_exchange(&forward, 7);
    }
    world.vanish(client);
    assert_eq!(shown_last(&world), " exchange 3 exchanges · 30 bytes sent · 21 bytes received 0");
    assert_eq!(world.audited.last().map(|entry| entry.workspace.as_str()), Some("/demo"));
}

#[test]
fn refused_act_of_an_app_is_recorded() {
    let mut world = World::new();
    let client = world.connect();
    world
        .peers
        .insert(client, PeerProcess { marked: true, pid: Some(9), ..PeerProcess::default() });
    let call = world.call(reader("a"), open("notes"));
    world.send(client, &call);
    assert_eq!(shown_last(&world), "a open notes/main 9");
    let result = world.audited[0].notes.result.as_deref().unwrap_or_default();
    assert!(result.contains("was started by an app"), "{result}");
}
