//! Opening windows and running actions in them.

use pipemux_core::ManifestProblem;
use pipemux_proto::client::Verb;

use crate::world::{Behaviour, World, open, reader, session_addr};

#[test]
fn open_shows_ids_actions_and_workspace() {
    let mut world = World::new();
    world.model("notes/main").add("buy milk");
    let said = world.open(reader("a"), "notes");
    said.exits(0)
        .has("## notes/main · 1 notes\n")
        .has("edit(note: Anchor<note>, text) · remove(note: Anchor<note>)")
        .has("](obj:note:2) buy milk [edit k1 r1](link:3)")
        .has("\nworkspace demo · e1 · ");
    assert_eq!(said.id("pick"), 1);
    assert!(said.text.ends_with(" tokens\n"));
}

#[test]
fn app_gets_the_environment_of_its_opener_without_secrets() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
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
        .open(reader("a"), "todo")
        .exits(3)
        .has("no app todo: /apps/todo.toml:3 (command): expected a string")
        .has("correct it, then open it again");
    world.open(reader("a"), "absent").exits(3).has("no app absent").lacks("todo.toml");
}

#[test]
fn open_whose_workspace_made_room_for_others_ends_as_unknown() {
    let mut world = World::new();
    world.set_behaviour("notes/main", Behaviour::Holds);
    let client = world.connect();
    let call = world.call(reader("a"), open("notes"));
    let id = world.send(client, &call);
    // Each of these enters a workspace of its own. The one above has no window yet and was used
    // least recently.
    for n in 0..5_000 {
        let mut call = world.call(reader("b"), Verb::Status);
        call.workspace.key = format!("/elsewhere/{n}");
        world.ask_call(&call);
    }
    world.release("notes/main");
    let said = world.answer_to(client, id).expect("an answer");
    said.exits(7).has("the workspace is gone; it may have taken effect");
}

#[test]
fn steps_run_in_order_and_stop_at_the_first_failure() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    let shown = world.open(reader("a"), "notes");
    let id = shown.id("k1 r1");
    let said = world.run(
        reader("a"),
        &format!("notes.edit(obj:{id}, 'two'); notes.fail(); notes.say('never')"),
    );
    said.exits(1)
        .has("1 done · edit: edited · [undo](link:")
        .has("2 failed · fail: it can't be done\n")
        .has("next: notes says: try another\n")
        .has(": notes.say('never') · ")
        .has("+ [k1 r2](obj:");
    assert_eq!(world.invoked.len(), 2);
    assert_eq!(world.model("notes/main").notes[0].text, "two");
}

#[test]
fn wrong_call_is_refused_before_any_step() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world
        .run(reader("a"), "notes.say('x'); notes.sya('y')")
        .exits(2)
        .has("refused, nothing ran")
        .has("did you mean say?");
    world.run(reader("a"), "notes.say(txt='x')").exits(2).has("did you mean text?");
    world.run(reader("a"), "nots.say('x')").exits(3).has("did you mean notes?");
    assert!(world.invoked.is_empty());
}

#[test]
fn results_and_things_are_passed_to_other_apps_by_value() {
    let mut world = World::new();
    world.model("notes/main").add("the text");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    world.open(reader("a"), "other");
    world.run(reader("a"), &format!("other.say(notes.text(obj:{id}))")).exits(0).has("the text");
    // A thing that is passed to a text parameter of another app is read from its owner, in chunks.
    let said = world.run(reader("a"), &format!("other.say(obj:{id})"));
    said.exits(0).has("say: the text");
}

#[test]
fn read_returns_the_exact_bytes() {
    let mut world = World::new();
    world.model("notes/main").add("grüße, 世界, in several chunks\n");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    let verb = Verb::Read { target: format!("obj:{id}") };
    assert_eq!(world.ask(reader("a"), verb).text, "grüße, 世界, in several chunks\n");
}

#[test]
fn concurrent_opens_are_both_answered() {
    let mut world = World::new();
    world.set_behaviour("notes/main", Behaviour::Holds);
    let (first, second) = (world.connect(), world.connect());
    let calls = ["a", "b"].map(|name| {
        let verb = open("notes");
        world.call(reader(name), verb)
    });
    let ids = [world.send(first, &calls[0]), world.send(second, &calls[1])];
    world.release("notes/main");
    world.pass(50);
    for (client, id) in [(first, ids[0]), (second, ids[1])] {
        world.answer_to(client, id).expect("answered as soon as the app is open").exits(0);
    }
}

#[test]
fn session_opened_while_it_ends_starts_again() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.apps.get_mut(&app).expect("it runs").stubborn = true;
    let client = world.connect();
    let session = session_addr("notes/main");
    let end = world.call(reader("a"), Verb::End { session });
    let ended = world.send(client, &end);
    let again = world.call(reader("a"), open("notes"));
    let opened = world.send(client, &again);
    world.pass(10_000);
    world.answer_to(client, ended).expect("ended").exits(0);
    world.answer_to(client, opened).expect("opened").exits(0);
    let app = world.process("notes/main").expect("it runs");
    assert_eq!(world.apps[&app].opens[0].cwd, "/work");
}

#[test]
fn files_opened_while_a_process_ends_are_opened_by_the_next_one() {
    let with_file = || {
        let Verb::Open(all) = open("notes") else { panic!("it opens") };
        Verb::Open(pipemux_proto::client::OpenArgs { args: vec!["a.txt".into()], ..all })
    };
    // Its first open was refused.
    let mut world = World::new();
    let refusal = "no such file: a.txt";
    world.set_behaviour("notes/main", Behaviour::RefusesOpen(refusal.into()));
    let client = world.connect();
    let call = world.call(reader("a"), with_file());
    world.stubborn = true;
    let first = world.send(client, &call);
    world.answer_to(client, first).expect("refused").exits(1).has(refusal);
    let call = world.call(reader("a"), with_file());
    let second = world.send(client, &call);
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.pass(10_000);
    world.answer_to(client, second).expect("opened").exits(0).has("## notes/main");
    // It was ended.
    let session = session_addr("notes/main");
    let call = world.call(reader("a"), Verb::End { session });
    let ended = world.send(client, &call);
    let call = world.call(reader("b"), with_file());
    let opened = world.send(client, &call);
    world.pass(10_000);
    world.answer_to(client, ended).expect("ended").exits(0);
    world.answer_to(client, opened).expect("opened").exits(0).has("## notes/main");
    let app = world.process("notes/main").expect("it runs");
    assert_eq!(world.apps[&app].opens[0].args, ["a.txt"]);
}

#[test]
fn refused_open_leaves_no_window() {
    let mut world = World::new();
    world.set_behaviour("notes/main", Behaviour::RefusesOpen("no such file: a.txt".into()));
    world.open(reader("a"), "notes").exits(1).has("no such file: a.txt");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.view(reader("a")).exits(0).has("0 windows");
    world.open(reader("a"), "notes").exits(0).has("## notes/main");
}

#[test]
fn windows_are_restored_after_daemon_loss() {
    let mut world = World::new();
    world.model("notes/main").add("kept");
    world.open(reader("a"), "notes");
    world.open(reader("a"), "shared/one");
    world.lose_daemon();
    let said = world.view(reader("a"));
    said.exits(0).has("## notes/main · 1 notes").has("kept").has("## shared/one");
}

/// A world with an open request that the app holds, so that the window isn't shown.
fn not_shown() -> (World, pipemux_core::ClientId, u64) {
    let mut world = World::new();
    world.set_behaviour("notes/main", Behaviour::Holds);
    let client = world.connect();
    let call = world.call(reader("a"), open("notes"));
    let id = world.send(client, &call);
    (world, client, id)
}

#[test]
fn open_is_unavailable_when_the_daemon_stops_before_the_window_is_shown() {
    // A second reader opens the session: the window exists already, but its app hasn't shown it.
    let (mut world, ..) = not_shown();
    let client = world.connect();
    let call = world.call(reader("b"), open("notes"));
    let id = world.send(client, &call);
    world.event(pipemux_core::Event::Stop);
    world.run_out();
    world
        .answer_to(client, id)
        .expect("an answer")
        .exits(6)
        .has("notes/main is open, not shown yet: the daemon is going down")
        .has("next: pipemux view notes/main")
        .lacks("as it was before");
}

#[test]
fn open_fails_when_its_window_is_closed_before_it_is_shown() {
    let (mut world, ..) = not_shown();
    let client = world.connect();
    let call = world.call(reader("b"), open("notes"));
    let id = world.send(client, &call);
    let session = session_addr("notes/main");
    world.ask(reader("a"), Verb::Close { session, end: false }).exits(0);
    world.event(pipemux_core::Event::Stop);
    world.run_out();
    let said = world.answer_to(client, id).expect("an answer");
    said.exits(3).has("was closed meanwhile").has("pipemux open notes/main");
}
