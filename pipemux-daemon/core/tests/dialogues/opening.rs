//! Opening windows and acting in them.

use pipemux_core::ManifestProblem;
use pipemux_proto::client::Verb;

use crate::world::{Manner, World, asker, open};

#[test]
fn an_open_shows_ids_actions_and_the_place() {
    let mut world = World::new();
    world.model("notes/main").add("buy milk");
    let said = world.open(asker("a"), "notes");
    said.exits(0)
        .has("## notes/main · 1 notes\n")
        .has("edit(note: Anchor<note>, text) · remove(note: Anchor<note>)")
        .has("](obj:2) buy milk [edit k1 r1](link:3)")
        .has("\nworkspace demo · e1 · ");
    assert_eq!(said.id("pick"), 1);
    assert!(said.text.ends_with(" tokens\n"));
}

#[test]
fn an_app_gets_its_openers_environment_without_secrets() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    let open = &world.apps[&app].opens[0];
    assert_eq!((open.cwd.as_str(), open.attach, open.again), ("/work", false, false));
    assert_eq!(open.env.keys().collect::<Vec<_>>(), ["PATH"]);
}

#[test]
fn open_reports_the_problem_of_its_own_manifest() {
    let mut world = World::new();
    let problem = |provider: &str, text: &str| {
        let provider = Some(provider.parse().expect("a valid id"));
        ManifestProblem { provider, text: text.to_owned() }
    };
    world.manifest_problems = vec![
        problem("tasks", "/apps/tasks.toml: it names /apps/todo.toml, but is another manifest"),
        problem("todo", "/apps/todo.toml:3 (command): expected a string"),
    ];
    world
        .open(asker("a"), "todo")
        .exits(3)
        .has("no app todo: /apps/todo.toml:3 (command): expected a string")
        .has("correct it, then open it again");
    world.open(asker("a"), "absent").exits(3).has("no app absent").lacks("todo.toml");
}

#[test]
fn open_whose_workspace_made_room_for_others_ends_as_unknown() {
    let mut world = World::new();
    world.manner("notes/main", Manner::Holds);
    let client = world.connect();
    let call = world.call(asker("a"), open("notes"));
    let id = world.send(client, &call);
    // Each of these enters a workspace of its own. The one above has no window yet and was used least recently.
    for n in 0..5_000 {
        let mut call = world.call(asker("b"), Verb::Status);
        call.workspace.key = format!("/elsewhere/{n}");
        world.ask_call(&call);
    }
    world.release("notes/main");
    let said = world.said(client, id).expect("an answer");
    said.exits(7).has("the workspace is gone; it may have taken effect");
}

#[test]
fn steps_run_in_order_and_the_first_failure_stops_the_rest() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    let shown = world.open(asker("a"), "notes");
    let id = shown.id("k1 r1");
    let said = world
        .run(asker("a"), &format!("notes.edit(obj:{id}, 'two'); notes.fail(); notes.say('never')"));
    said.exits(1)
        .has("1 done · edit: edited · [undo](link:")
        .has("2 failed · fail: it can't be done\n")
        .has("next: try another\n")
        .has("not run: notes.say\n")
        .has("+ [k1 r2](obj:");
    assert_eq!(world.invoked.len(), 2);
    assert_eq!(world.model("notes/main").notes[0].text, "two");
}

#[test]
fn a_wrong_call_is_refused_before_any_step() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world
        .run(asker("a"), "notes.say('x'); notes.sya('y')")
        .exits(2)
        .has("refused, nothing ran")
        .has("did you mean say?");
    world.run(asker("a"), "notes.say(txt='x')").exits(2).has("did you mean text?");
    world.run(asker("a"), "nots.say('x')").exits(3).has("did you mean notes?");
    assert!(world.invoked.is_empty());
}

#[test]
fn a_result_is_passed_on_by_value() {
    let mut world = World::new();
    world.model("notes/main").add("the text");
    let id = world.open(asker("a"), "notes").id("k1 r1");
    world.open(asker("a"), "other");
    world.run(asker("a"), &format!("other.say(notes.text(obj:{id}))")).exits(0).has("the text");
    // A bare thing for a text parameter of another app is read from its owner, in chunks.
    let said = world.run(asker("a"), &format!("other.say(obj:{id})"));
    said.exits(0).has("say: the text");
}

#[test]
fn a_value_is_read_raw() {
    let mut world = World::new();
    world.model("notes/main").add("grüße, 世界, in several chunks\n");
    let id = world.open(asker("a"), "notes").id("k1 r1");
    let verb = Verb::Read { target: format!("obj:{id}") };
    assert_eq!(world.ask(asker("a"), verb).text, "grüße, 世界, in several chunks\n");
}

#[test]
fn two_opens_at_once_are_both_answered() {
    let mut world = World::new();
    world.manner("notes/main", Manner::Holds);
    let (first, second) = (world.connect(), world.connect());
    let calls = ["a", "b"].map(|reader| {
        let verb = crate::world_open("notes");
        world.call(asker(reader), verb)
    });
    let ids = [world.send(first, &calls[0]), world.send(second, &calls[1])];
    world.release("notes/main");
    world.pass(50);
    for (client, id) in [(first, ids[0]), (second, ids[1])] {
        world.said(client, id).expect("answered as soon as the app is open").exits(0);
    }
}

#[test]
fn an_ended_session_that_is_opened_while_it_ends_keeps_its_opener() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.apps.get_mut(&app).expect("it runs").stubborn = true;
    let client = world.connect();
    let session = "notes/main".parse().expect("a session");
    let end = world.call(asker("a"), pipemux_proto::client::Verb::End { session });
    let ended = world.send(client, &end);
    let again = world.call(asker("a"), crate::world_open("notes"));
    let opened = world.send(client, &again);
    world.pass(10_000);
    world.said(client, ended).expect("ended").exits(0);
    world.said(client, opened).expect("opened").exits(0);
    let app = world.process("notes/main").expect("it runs");
    assert_eq!(world.apps[&app].opens[0].cwd, "/work");
}

#[test]
fn an_app_that_refuses_to_open_leaves_no_window() {
    let mut world = World::new();
    world.manner("notes/main", Manner::RefusesOpen("no such file: a.txt".into()));
    world.open(asker("a"), "notes").exits(1).has("no such file: a.txt");
    world.manner("notes/main", Manner::Normal);
    world.view(asker("a")).exits(0).has("0 windows");
    world.open(asker("a"), "notes").exits(0).has("## notes/main");
}

#[test]
fn windows_come_back_with_the_daemon() {
    let mut world = World::new();
    world.model("notes/main").add("kept");
    world.open(asker("a"), "notes");
    world.open(asker("a"), "shared/one");
    world.lose_daemon();
    let said = world.view(asker("a"));
    said.exits(0).has("## notes/main · 1 notes").has("kept").has("## shared/one");
}

/// An open whose app has taken it in and doesn't show its window.
fn not_shown() -> (World, pipemux_core::ClientId, u64) {
    let mut world = World::new();
    world.manner("notes/main", Manner::Holds);
    let client = world.connect();
    let call = world.call(asker("a"), crate::world_open("notes"));
    let id = world.send(client, &call);
    (world, client, id)
}

#[test]
fn an_open_that_is_cut_off_before_its_window_was_shown_is_not_done() {
    // Two readers open it: the second one's window is there, its app isn't yet.
    let (mut world, ..) = not_shown();
    let client = world.connect();
    let call = world.call(asker("b"), crate::world_open("notes"));
    let id = world.send(client, &call);
    world.event(pipemux_core::Event::Stop);
    world.run_out();
    world
        .said(client, id)
        .expect("an answer")
        .exits(6)
        .has("notes/main is open, not shown yet: the daemon is going down")
        .has("next: pipemux view notes/main")
        .lacks("as it was before");
}

#[test]
fn neither_is_one_whose_window_is_closed_meanwhile() {
    let (mut world, ..) = not_shown();
    let client = world.connect();
    let call = world.call(asker("b"), crate::world_open("notes"));
    let id = world.send(client, &call);
    let session = "notes/main".parse().expect("a session");
    world.ask(asker("a"), pipemux_proto::client::Verb::Close { session, end: false }).exits(0);
    world.event(pipemux_core::Event::Stop);
    world.run_out();
    let said = world.said(client, id).expect("an answer");
    said.exits(3).has("was closed meanwhile").has("pipemux open notes/main");
}
