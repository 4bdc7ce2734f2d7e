//! Questions: who may answer, when, in what order, and what becomes of the rest.

use pipemux_tests::{Signal, World, kill, wait_until};

fn editor() -> World {
    let world = World::new();
    world.write("a.txt", "x\nx\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world
}

fn rogue() -> World {
    let world = World::new();
    world.install_rogue("rogue", "tame");
    world.pipemux(&["open", "rogue"]).ok();
    world
}

/// The number of the open question, as the refusal of another call names it.
fn number(world: &World, reader: &str) -> String {
    let refused = world.command(&["run", "editor.save()"]).reader(reader).output();
    let text = refused.exits(9).text();
    let rest = text.split_once("question ").expect("its number").1;
    rest.chars().take_while(char::is_ascii_digit).collect()
}

fn lose_daemon(world: &World) {
    kill(world.daemon(), Signal::SIGKILL);
    wait_until("everything ends", || world.processes().is_empty().then_some(()));
}

#[test]
fn a_half_filled_call_outlives_the_daemon() {
    let world = rogue();
    world.run("rogue.set(); rogue.tune(loud=true); rogue.set()").exits(5).has("colour");
    lose_daemon(&world);
    world.pipemux(&["answer", "2"]).exits(5).has("needs count: int");
    lose_daemon(&world);
    let done = world.pipemux(&["answer", "42"]);
    done.ok().has("1 done · set").has("2 done · tune: 3 arguments").has("3 done · set");
    world.pipemux(&["history"]).ok().has("(chosen in 2 steps)");
}

#[test]
fn a_confirmation_outlives_the_daemon_and_counts_once() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let entry = world.run("notebook.add('plan', 'x')").ok().obj("plan");
    world.run(&format!("notebook.remove(obj:{entry}); notebook.add('after', 'y')")).exits(5);
    lose_daemon(&world);
    world.pipemux(&["view"]).ok().has("[plan]");
    world.pipemux(&["answer", "yes"]).ok().has("2 done · add");
    world.pipemux(&["answer", "yes"]).exits(3).has("no question is open");
    world.pipemux(&["view"]).ok().has("1 entry").lacks("[plan]");
}

#[test]
fn only_the_reader_who_was_asked_answers() {
    let world = editor();
    let asked = world.run("editor.replace('x', 'y'); editor.save()");
    let all = asked.exits(5).link("all");
    let number = number(&world, "default");
    let bob = |args: &[&str]| world.command(args).reader("bob").output();
    bob(&["answer", "all"]).exits(3).has("no question is open");
    bob(&["answer", "--to", &number, "all"]).exits(9).has("was asked of default, not of bob");
    let clicked = bob(&["click", &all.to_string()]);
    assert!(matches!(clicked.exit, 3 | 4 | 9), "{clicked}");
    bob(&["answer", &format!("link:{all}")]);
    assert_eq!(world.read("a.txt"), "x\nx\n");
    // Bob has one of his own: each answers his, in whatever order.
    bob(&["view"]).ok();
    bob(&["run", "editor.replace('x', 'bob')"]).exits(5);
    world.pipemux(&["answer", "--to", &number, "1"]).ok().has("2 done · save");
    assert_eq!(world.read("a.txt"), "y\nx\n");
    let late = bob(&["answer", "1"]);
    assert_ne!(late.exit, 0, "what he was shown is not there any more: {late}");
    world.run("editor.save()").ok();
    assert_eq!(world.read("a.txt"), "y\nx\n");
}

#[test]
fn of_several_questions_each_is_answered_by_its_number() {
    let world = editor();
    // Two calls that were on their way at once.
    world.install_rogue("rogue", "tame");
    world.pipemux(&["down"]).ok();
    world.pipemux(&["open", "rogue"]).ok();
    let gate = world.path("gate");
    let code = format!("rogue.misbehave('wait for {}'); rogue.ask()", gate.display());
    let slow = world.command(&["run", &code]).start();
    wait_until("it waits", || {
        let busy = world.command(&["view", "rogue/main"]).reader("bob").output();
        busy.text().contains("busy").then_some(())
    });
    world.run("editor.replace('x', 'y'); editor.save()").exits(5).has("2 matches");
    world.write("gate", "");
    slow.finish().exits(5).has("which colour");
    let both = world.pipemux(&["answer", "1"]);
    both.exits(2).has("2 questions are open");
    let text = both.text();
    let numbers: Vec<String> = text
        .split("--to ")
        .skip(1)
        .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect())
        .collect();
    assert_eq!(numbers.len(), 2, "{both}");
    // The later one first.
    world.pipemux(&["answer", "--to", &numbers[1], "2"]).ok().has("picked [2]");
    world.pipemux(&["answer", "--to", &numbers[1], "2"]).exits(3).has("question");
    world.pipemux(&["answer", "all"]).ok().has("2 matches");
    assert_eq!(world.read("a.txt"), "y\ny\n");
}

#[test]
fn each_missing_argument_is_asked_for_as_its_type_allows() {
    let world = rogue();
    let thing = world.pipemux(&["view"]).obj("the thing");
    // A thing: those that are shown.
    let asked = world.run("rogue.look()");
    asked.exits(5).has("needs thing: Anchor<thing>").has(&format!("obj:{thing}"));
    world.pipemux(&["click", &asked.link("the thing").to_string()]).ok().has("looked");
    // Several: one question after another, and what is no answer is asked again.
    let colour = world.run("rogue.tune()");
    colour.exits(5).has("needs colour: 'red'|'green'").has("1. [red](").has("2. [green](");
    world.pipemux(&["answer", "3"]).exits(2);
    world.pipemux(&["answer", "green"]);
    let view = world.pipemux(&["answer", "many"]);
    view.exits(2).has("int");
    world.pipemux(&["answer", "7"]).exits(5).has("needs loud: bool").has("1. [true](");
    world.pipemux(&["answer", "1"]).ok().has("tune: 3 arguments");
    // Text: as it is, quotes and all.
    world.run("rogue.misbehave()").exits(5).has("needs how: string");
    world.pipemux(&["answer", "show 'it' \"all\""]).ok().has("'it' \"all\"");
    let history = world.pipemux(&["history"]);
    history.ok().has("(chosen in 3 steps)").has("(chosen in 1 step)").lacks("needs");
}

#[test]
fn a_wrong_type_with_one_way_out_is_offered_and_one_without_is_refused() {
    let world = rogue();
    world.run("rogue.tune('red', '3', true)").exits(5).has("count is int: 3?");
    world.pipemux(&["answer", "yes"]).ok().has("3 arguments");
    world.run("rogue.tune('red', 3, 'true')").exits(5).has("loud is bool: true?");
    world.pipemux(&["answer", "no"]).has("cancelled");
    world.run("rogue.tune('red', 'three', true)").exits(2).has("count is int");
    world.run("rogue.tune('blue', 3, true)").exits(2).has("'red'|'green'");
    world.pipemux(&["history"]).ok().lacks("three").lacks("blue");
}

#[test]
fn a_bare_name_of_two_windows_is_a_choice_with_links() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    world.pipemux(&["open", "notebook/two"]).ok();
    let asked = world.run("add('where', 'x')");
    let two = asked.exits(5).has("2 windows have it").link("notebook/two");
    world.pipemux(&["click", &two.to_string()]).ok().has("## notebook/two");
    world.pipemux(&["view", "notebook/main"]).ok().has("0 entries");
    world.run("notebook/main.add('here', 'y')").ok().has("## notebook/main");
    world.run("add('nowhere', 'z'); add('nor here', 'z')").exits(5);
    world.pipemux(&["answer", "none"]).has("cancelled");
    world.pipemux(&["view"]).ok().lacks("nowhere").lacks("nor here");
}

#[test]
fn what_was_confirmed_and_changed_since_is_not_done() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let one = world.run("notebook.add('one', 'a')").ok().obj("one");
    let two = world.run("notebook.add('two', 'b')").ok().obj("two");
    let call = format!("notebook.remove([obj:{one}, obj:{two}]); notebook.add('after', 'x')");
    world.run(&call).exits(5).has("2 entries");
    let bob = |args: &[&str]| world.command(args).reader("bob").output();
    bob(&["view"]).ok();
    bob(&["run", &format!("notebook.append(obj:{two}, 'precious')")]).ok();
    let refused = world.pipemux(&["answer", "yes"]);
    assert!(matches!(refused.exit, 4 | 5), "{refused}");
    let view = world.command(&["view"]).reader("carol").output();
    view.ok().has("[one]").has("[two]").has("precious").lacks("[after]");
    world.pipemux(&["answer", "none"]);
    // Others that changed are none of its business.
    let three = world.run("notebook.add('three', 'c')").ok().obj("three");
    world.run(&format!("notebook.remove(obj:{one})")).exits(5);
    bob(&["view"]).ok();
    bob(&["run", &format!("notebook.append(obj:{three}, 'more')")]).ok();
    world.pipemux(&["answer", "yes"]).ok();
    world.pipemux(&["view"]).ok().lacks("[one](").has("[three]");
}

#[test]
fn a_file_with_unsaved_changes_is_closed_only_when_asked() {
    let world = editor();
    world.run("editor.insert(1, 'unsaved')").ok();
    world.run("editor.close()").exits(5).has("a.txt");
    world.pipemux(&["answer", "none"]).ok();
    world.pipemux(&["view"]).ok().has("unsaved");
    assert_eq!(world.read("a.txt"), "x\nx\n");
}
