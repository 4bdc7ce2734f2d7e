//! Built-in apps: known before they run, and opened by the first call.

use pipemux_core::Event;
use pipemux_proto::call;
use pipemux_proto::client::{Verb, VerbRequest, ViewArgs};
use pipemux_proto::projection::Lod;
use pipemux_tokens::work::Meter;

use crate::waiting_views::{begin, now};
use crate::world::{Behaviour, World, open, reader, run};

fn help(aliases: bool) -> Verb {
    Verb::Help { provider: "notes".parse().expect("a provider"), aliases, action: None }
}

#[test]
fn first_call_opens_its_app_without_a_word() {
    let mut world = World::with_built_in();
    let env = [("PATH", "/bin"), ("SECRET", "s")].map(|(name, value)| (name.into(), value.into()));
    let call = world.call(reader("a"), run("notes.say('hi')"));
    let call = VerbRequest { cwd: "/home/user/project".into(), env: env.into(), ..call };
    let said = world.ask_call(&call);
    said.exits(0).has("1 done · say: hi").lacks("## notes").lacks("opened");
    let app = world.process("notes/main").expect("it runs");
    let opened = &world.apps[&app].opens[0];
    assert_eq!(
        (opened.cwd.as_str(), opened.args.len(), opened.again),
        ("/home/user/project", 0, false)
    );
    assert_eq!(opened.env.keys().collect::<Vec<_>>(), ["PATH"]);
    assert!(world.projected.is_empty(), "nobody asked for the window");
    // The window is open from now on.
    world.view(reader("a")).exits(0).has("## notes/main");
    world.run(reader("a"), "notes.say('again')").exits(0);
    assert_eq!(world.apps[&app].opens.len(), 1);
}

#[test]
fn run_whose_app_has_to_start_is_parsed_once() {
    let mut world = World::with_built_in();
    let code = format!("notes.say('{}')", "a".repeat(20_000));
    let cost = |work: &mut dyn FnMut()| {
        let meter = Meter::start();
        work();
        meter.units()
    };
    let parse = cost(&mut || drop(call::parse_undecided(&code, None)));
    let starts = cost(&mut || drop(world.run(reader("a"), &code)));
    let runs = cost(&mut || drop(world.run(reader("a"), &code)));
    assert!(parse > 20_000, "parsing is counted: {parse}");
    assert!(starts < runs + parse, "{starts} to start and run, {runs} to run, {parse} to parse");
}

/// A look at a session, which may open it.
fn look(session: &str, wait_ms: u32) -> Verb {
    let session = Some(session.parse().expect("a session"));
    Verb::View(ViewArgs { session, wait_ms, open: true, ..ViewArgs::default() })
}

#[test]
fn first_look_opens_a_built_in_app_and_shows_it() {
    let mut world = World::with_built_in();
    let env = [("PATH", "/bin"), ("SECRET", "s")].map(|(name, value)| (name.into(), value.into()));
    let call = world.call(reader("a"), look("notes/main", 60_000));
    let call = VerbRequest { cwd: "/home/user/project".into(), env: env.into(), ..call };
    // What a reader was never shown isn't waited for.
    world.ask_call(&call).exits(0).has("## notes/main").lacks("unchanged");
    let app = world.process("notes/main").expect("it runs");
    let opened = &world.apps[&app].opens[0];
    assert_eq!((opened.cwd.as_str(), opened.args.len()), ("/home/user/project", 0));
    assert_eq!(opened.env.keys().collect::<Vec<_>>(), ["PATH"]);
    world.ask(reader("a"), look("notes/main", 0)).exits(0).has("## notes/main");
    assert_eq!(world.apps[&app].opens.len(), 1);
    // From then on it waits.
    let waiting = begin(&mut world, reader("a"), look("notes/main", 60_000));
    world.pass(59_000);
    assert!(world.answer_to(waiting.0, waiting.1).is_none());
    world.pass(1_000);
    now(&world, waiting).exits(0).has("unchanged for 60 s");
}

#[test]
fn look_opens_only_main_of_a_built_in_app_that_has_no_window() {
    let mut world = World::with_built_in();
    world.ask(reader("a"), look("shared/main", 0)).exits(3).has("pipemux open shared");
    world.ask(reader("a"), look("notes/draft", 0)).exits(3).has("pipemux open notes/draft");
    world.ask(reader("a"), look("nobody/main", 0)).exits(3).has("no window of nobody/main");
    // A program that follows a window doesn't open it once somebody has closed it.
    let session = Some("notes/main".parse().expect("a session"));
    let follow = Verb::View(ViewArgs { session, ..ViewArgs::default() });
    world.ask(reader("a"), follow).exits(3).has("pipemux open notes/main");
    assert!(world.apps.is_empty());
    // A session of another name is the one that is meant.
    world.open(reader("a"), "notes/draft");
    world.ask(reader("a"), look("notes/main", 0)).exits(3).has("pipemux open notes/main");
    assert!(world.process("notes/main").is_none());
}

#[test]
fn look_at_an_app_that_cannot_be_opened_is_reported() {
    let mut world = World::with_built_in();
    world.set_behaviour("notes/main", Behaviour::Unstartable);
    world.ask(reader("a"), look("notes/main", 60_000)).exits(6).has("no such program");
    world.set_behaviour("notes/main", Behaviour::RefusesOpen("no room".into()));
    world.ask(reader("a"), look("notes/main", 0)).has("no room");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.ask(reader("a"), look("notes/main", 0)).exits(0).has("## notes/main");
}

#[test]
fn apps_of_nested_calls_are_opened_too() {
    let mut world = World::with_built_in();
    let said = world.run(reader("a"), "other.say(notes.text(obj:7))");
    assert!(world.process("notes/main").is_some() && world.process("other/main").is_some());
    said.exits(3).has("not run: other.say");
}

#[test]
fn bare_action_goes_to_the_one_app_that_has_it() {
    let mut world = World::with_built_in();
    world.run(reader("a"), "touch('x')").exits(0);
    assert!(world.process("other/main").is_some() && world.process("notes/main").is_none());
    // An open window that has the action comes before an app that isn't open.
    world.run(reader("a"), "say('x')").exits(0);
    assert!(world.process("notes/main").is_none());
}

#[test]
fn bare_action_of_several_apps_is_a_choice() {
    let mut world = World::with_built_in();
    let said = world.run(reader("a"), "say('x')");
    said.exits(2).has("say whose: notes.say(text) · other.say(text)");
    assert!(world.apps.is_empty(), "nothing was started for it");
    // The steps around it are kept.
    let said = world.run(reader("b"), "say('y'); other.touch('z')");
    said.exits(2).has("kept as ").has("touch('z') · pipemux answer");
    world.answer(reader("b"), "other.say('y')").exits(0).has("2 done");
}

#[test]
fn action_of_several_apps_belongs_to_the_one_that_has_the_other_actions_of_the_script() {
    let mut world = World::with_built_in();
    world.run(reader("a"), "say('y'); touch('z')").exits(0).has("2 done");
    assert!(world.process("other/main").is_some() && world.process("notes/main").is_none());
    // Nothing is told by actions that contradict each other, nor by one that its app wouldn't take.
    let mut world = World::with_built_in();
    for code in ["say('y'); touch('z'); fail()", "say('y'); touch(there='z')"] {
        world.run(reader("a"), code).exits(2).has("say whose: notes.say(text) · other.say(text)");
    }
    assert!(world.apps.is_empty(), "nothing was started for it");
}

#[test]
fn misspelt_app_is_answered_with_the_nearest() {
    let mut world = World::with_built_in();
    world.run(reader("a"), "note.say('x')").exits(3).has("no app note: did you mean notes?");
    assert!(world.apps.is_empty());
}

#[test]
fn only_the_session_main_of_a_built_in_app_is_opened() {
    let mut world = World::with_built_in();
    world.run(reader("a"), "shared.say('x')").exits(3).has("pipemux open shared");
    world.run(reader("a"), "notes/draft.say('x')").exits(3).has("pipemux open notes/draft");
    assert!(world.apps.is_empty());
    world.run(reader("a"), "notes/main.say('x')").exits(0);
    // A session of another name is the one that is meant.
    let mut world = World::with_built_in();
    world.open(reader("a"), "notes/draft");
    world.run(reader("a"), "notes.say('x')").exits(0);
    assert!(world.process("notes/main").is_none());
}

#[test]
fn app_that_cannot_be_opened_is_reported() {
    let mut world = World::with_built_in();
    world.set_behaviour("notes/main", Behaviour::Unstartable);
    world.run(reader("a"), "notes.say('x')").exits(6).has("no such program");
    world.set_behaviour("notes/main", Behaviour::RefusesOpen("no room".into()));
    world.run(reader("a"), "notes.say('x')").has("no room");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.run(reader("a"), "notes.say('x')").exits(0);
}

#[test]
fn nothing_runs_for_a_client_that_left_while_the_app_was_opened() {
    for cancels in [false, true] {
        let mut world = World::with_built_in();
        world.set_behaviour("notes/main", Behaviour::Holds);
        let client = world.connect();
        let call = world.call(reader("a"), run("notes.say('x')"));
        let id = world.send(client, &call);
        match cancels {
            true => world.cancel(client, id),
            false => world.event(Event::ClientClosed { client }),
        }
        world.release("notes/main");
        assert!(world.invoked.is_empty());
    }
}

#[test]
fn app_that_is_not_open_in_time_is_named() {
    let mut world = World::with_built_in();
    world.set_behaviour("notes/main", Behaviour::Silent);
    let client = world.connect();
    let call = world.call(reader("a"), run("notes.say('x')"));
    let id = world.send_for(client, &call, 1_000);
    world.pass(1_500);
    world.answer_to(client, id).expect("answered").exits(6).has("notes/main was not ready in time");
}

#[test]
fn help_is_known_before_the_app_runs() {
    let mut world = World::with_built_in();
    let said = world.ask(reader("a"), help(false));
    assert_eq!(said.exits(0).text, "the help of notes\n");
    let call = world.call(reader("a"), help(false));
    let full = world.ask_call(&VerbRequest { lod: Some(Lod::Full), ..call });
    full.exits(0).has("function say(text: string): void;").lacks("pick");
    world.ask(reader("a"), help(true)).exits(0).has("0 aliases");
    // An action without its app is that of each built-in app which has it.
    let of = |name: &str| Verb::Help {
        provider: name.parse().expect("a name"),
        aliases: false,
        action: None,
    };
    let say = world.ask(reader("a"), of("say"));
    say.exits(0).has("## notes.say\nsay(text)\n").lacks("pick");
    world.ask(reader("a"), of("lost")).exits(3).has("no app lost").has("pipemux apps");
    assert!(world.apps.is_empty());
}

#[test]
fn help_of_another_app_has_a_line_for_each_action() {
    let mut world = World::new();
    world.ask(reader("a"), help(false)).exits(3).has("pipemux open notes");
    world.ask(reader("a"), open("notes"));
    let said = world.ask(reader("a"), help(false));
    said.exits(0).has("\nsay(text)\n").has("pipemux help notes --full");
    // One action, with all that goes by its name, also where the app hasn't run here.
    let of = |action: &str| Verb::Help {
        provider: "notes".parse().expect("a provider"),
        aliases: false,
        action: Some(action.into()),
    };
    let said = world.ask(reader("a"), of("list"));
    said.exits(0).has("?list(lines = 3)").has("?list(note: Anchor<note>)").lacks("say(");
    let none = world.ask(reader("a"), of("lost"));
    none.exits(3).has("notes has no action lost").has("next: pipemux help notes");
}
