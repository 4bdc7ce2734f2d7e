//! Questions: who may answer them, in what order, and what happens to the remaining steps.

use pipemux_tests::{TestEnv, wait_for};

/// Returns the number of the open question.
fn number(env: &TestEnv, reader: &str) -> String {
    let asked = env.command(&["answer", "--json"]).reader(reader).output();
    let text = asked.exits(5).text();
    let (_, rest) = text.split_once("\"id\": ").expect("its number");
    rest.chars().take_while(char::is_ascii_digit).collect()
}

#[test]
fn half_filled_call_survives_the_daemon() {
    let env = TestEnv::with_rogue();
    env.run("rogue.set(); rogue.tune(loud=true); rogue.set()").exits(5).has("colour, count");
    env.kill_daemon();
    env.pipemux(&["answer", "green"]).exits(2).has("still needs count").has("colour = 'green'");
    env.kill_daemon();
    let done = env.pipemux(&["answer", "42"]);
    done.ok().has("1 done · set").has("2 done · tune: 3 arguments").has("3 done · set");
    env.pipemux(&["history"]).ok().has("(chosen in 1 step)");
}

#[test]
fn confirmation_survives_the_daemon_and_counts_once() {
    let env = TestEnv::with_notebook();
    let entry = env.run("notebook.add('plan', 'x')").ok().obj("plan");
    env.run(&format!("notebook.purge(obj:{entry}); notebook.add('after', 'y')")).exits(5);
    env.kill_daemon();
    env.pipemux(&["view"]).ok().has("[plan]");
    env.pipemux(&["answer", "yes"]).ok().has("2 done · add");
    env.pipemux(&["answer", "yes"]).exits(3).has("no question is open");
    env.pipemux(&["view"]).ok().has("1 entry").lacks("[plan]");
}

#[test]
fn only_the_reader_who_was_asked_can_answer() {
    let env = TestEnv::with_editor("x\nx\n");
    let asked = env.run("editor.replace('x', 'y'); editor.save()");
    let all = asked.exits(5).link("all");
    let number = number(&env, "default");
    let bob = |args: &[&str]| env.as_reader("bob", args);
    bob(&["answer", "all"]).exits(3).has("no question is open");
    bob(&["answer", "--to", &number, "all"]).exits(9).has("was asked of default, not of bob");
    let clicked = bob(&["click", &all.to_string()]);
    clicked.exits(4);
    bob(&["answer", &format!("link:{all}")]).exits(4);
    assert_eq!(env.read("a.txt"), "x\nx\n");
    // Bob has a question of his own: each reader answers their own, in any order.
    bob(&["view"]).ok();
    bob(&["run", "editor.replace('x', 'bob')"]).exits(5);
    env.pipemux(&["answer", "--to", &number, "1"]).ok().has("2 done · save");
    assert_eq!(env.read("a.txt"), "y\nx\n");
    let late = bob(&["answer", "1"]);
    late.exits(4);
    env.run("editor.save()").ok();
    assert_eq!(env.read("a.txt"), "y\nx\n");
}

#[test]
fn several_open_questions_are_answered_by_number() {
    let env = TestEnv::with_editor("x\nx\n");
    // Two runs are in progress at the same time.
    env.install_rogue("rogue", "tame");
    env.pipemux(&["down"]).ok();
    env.pipemux(&["open", "rogue"]).ok();
    let gate = env.path("gate");
    let code = format!("rogue.misbehave('wait for {}'); rogue.ask()", gate.display());
    let slow = env.command(&["run", &code]).start();
    wait_for("the run waits", || {
        let busy = env.as_reader("bob", &["view", "rogue/main"]);
        busy.text().contains("busy")
    });
    env.run("editor.replace('x', 'y'); editor.save()").exits(5).has("2 matches");
    env.write("gate", "");
    slow.finish().exits(5).has("which colour");
    let both = env.pipemux(&["answer", "1"]);
    both.exits(2).has("2 questions are open");
    let text = both.text();
    let numbers: Vec<String> = text
        .split("--to ")
        .skip(1)
        .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect())
        .collect();
    assert_eq!(numbers.len(), 2, "{both}");
    // The later question is answered first.
    env.pipemux(&["answer", "--to", &numbers[1], "2"]).ok().has("picked [2]");
    env.pipemux(&["answer", "--to", &numbers[1], "2"]).exits(3).has("question");
    env.pipemux(&["answer", "all"]).ok().has("2 matches");
    assert_eq!(env.read("a.txt"), "y\ny\n");
}

#[test]
fn missing_arguments_are_asked_for_by_type() {
    let env = TestEnv::with_rogue();
    let thing = env.pipemux(&["view"]).obj("the thing");
    // An object is chosen from those that are shown.
    let asked = env.run("rogue.look()");
    asked.exits(5).has("needs thing: Anchor<thing>").has(&format!("obj:thing:{thing}"));
    env.pipemux(&["click", &asked.link("the thing").to_string()]).ok().has("looked");
    // A choice among a few words, and an invalid answer asks again.
    let colour = env.run("rogue.tune(count=7, loud=true)");
    colour.exits(5).has("needs colour: 'red'|'green'").has("1. [red](").has("2. [green](");
    env.pipemux(&["answer", "3"]).exits(2);
    env.pipemux(&["answer", "green"]).ok().has("tune: 3 arguments");
    // Several missing arguments are asked for at once, and what is right is kept.
    let all = env.run("rogue.tune()");
    all.exits(5)
        .has("needs colour, count, loud")
        .has("colour: 'red'|'green'\ncount: int\nloud: bool\n");
    let some = env.pipemux(&["answer", "colour=green count=many loud=true"]);
    some.exits(2).has("count expected int, not `many`").has("loud = true").has("answer count=1");
    env.pipemux(&["answer", "7"]).ok().has("tune: 3 arguments");
    // Text is taken literally, with its quotes.
    env.run("rogue.misbehave()").exits(5).has("needs how: string");
    env.pipemux(&["answer", "show 'it' \"all\""]).ok().has("'it' \"all\"");
    let history = env.pipemux(&["history"]);
    history.ok().has("(chosen in 1 step)").lacks("needs");
}

#[test]
fn coercible_argument_is_offered_and_others_refused() {
    let env = TestEnv::with_rogue();
    env.run("rogue.tune('red', '3', true)").exits(5).has("count is int: 3?");
    env.pipemux(&["answer", "yes"]).ok().has("3 arguments");
    env.run("rogue.tune('red', 3, 'true')").exits(5).has("loud is bool: true?");
    env.pipemux(&["answer", "no"]).has("cancelled");
    env.run("rogue.tune('red', 'three', true)").exits(2).has("count is int");
    env.run("rogue.tune('blue', 3, true)").exits(2).has("'red'|'green'");
    env.pipemux(&["history"]).ok().lacks("three").lacks("blue");
}

#[test]
fn ambiguous_action_name_offers_a_choice() {
    let env = TestEnv::with_notebook();
    env.pipemux(&["open", "notebook/two"]).ok();
    let asked = env.run("add('where', 'x')");
    let two = asked.exits(5).has("2 windows have it").link("notebook/two");
    env.pipemux(&["click", &two.to_string()]).ok().has("## notebook/two");
    env.pipemux(&["view", "notebook/main"]).ok().has("0 entries");
    env.run("notebook/main.add('here', 'y')").ok().has("## notebook/main");
    env.run("add('nowhere', 'z'); add('nor here', 'z')").exits(5);
    env.pipemux(&["answer", "none"]).ok().has("cancelled");
    env.pipemux(&["view"]).ok().lacks("nowhere").lacks("nor here");
}

#[test]
fn confirmed_objects_that_changed_since_are_kept() {
    let env = TestEnv::with_notebook();
    let one = env.run("notebook.add('one', 'a')").ok().obj("one");
    let two = env.run("notebook.add('two', 'b')").ok().obj("two");
    let call = format!("notebook.purge([obj:{one}, obj:{two}]); notebook.add('after', 'x')");
    env.run(&call).exits(5).has("2 notes");
    let bob = |args: &[&str]| env.as_reader("bob", args);
    bob(&["view"]).ok();
    bob(&["run", &format!("notebook.append(obj:{two}, 'precious')")]).ok();
    let refused = env.pipemux(&["answer", "yes"]);
    refused.exits(4).has("is stale");
    let view = env.as_reader("carol", &["view"]);
    view.ok().has("[one]").has("[two]").has("precious").lacks("[after]");
    // The step after it is kept until it is dropped, and nothing is asked any more.
    env.pipemux(&["answer", "yes"]).exits(3);
    env.pipemux(&["answer", "none"]).ok().has("notebook.add('after', 'x')");
    env.pipemux(&["answer", "none"]).exits(3).has("no question is open");
    env.pipemux(&["view"]).ok().lacks("[after]");
    // Changes of other entries don't matter.
    let three = env.run("notebook.add('three', 'c')").ok().obj("three");
    env.run(&format!("notebook.purge(obj:{one})")).exits(5);
    bob(&["view"]).ok();
    bob(&["run", &format!("notebook.append(obj:{three}, 'more')")]).ok();
    env.pipemux(&["answer", "yes"]).ok();
    env.pipemux(&["view"]).ok().lacks("[one](").has("[three]");
}

#[test]
fn closing_a_file_with_unsaved_changes_asks() {
    let env = TestEnv::with_editor("x\nx\n");
    env.run("editor.hold(); editor.insert(1, 'unsaved')").ok();
    env.run("editor.close()").exits(5).has("a.txt");
    env.pipemux(&["answer", "none"]).ok();
    env.pipemux(&["view"]).ok().has("unsaved");
    assert_eq!(env.read("a.txt"), "x\nx\n");
}

#[test]
fn text_is_answered_from_standard_input() {
    let env = TestEnv::with_notebook();
    env.run("notebook.add('word')").exits(5).has("needs text: string");
    env.command(&["answer", "-"])
        .stdin(b"")
        .output()
        .exits(2)
        .has("standard input")
        .has("needs text");
    env.command(&["answer", "-"])
        .stdin("it's \"raw\"\nand long\n".as_bytes())
        .output()
        .ok()
        .has("2 lines");
    env.run("notebook.add('other')").exits(5);
    env.command(&["answer", "stdin"]).stdin(b"cancel\n").output().ok().has("\"other\", 1 line");
    env.run("notebook.add('literal')").exits(5);
    env.pipemux(&["answer", "text='stdin'"]).ok();
    env.run("notebook.add('block')").exits(5);
    env.pipemux(&["answer", "text=<<END\nno 'escapes'\nEND"]).ok();
    env.pipemux(&["view"])
        .ok()
        .has("  and long")
        .has("  cancel")
        .has("  stdin")
        .has("  no 'escapes'");
}

#[test]
fn wrong_answers_keep_the_parked_text_until_a_right_one() {
    let env = TestEnv::with_notebook();
    env.run("notebook.add('plan', 'one')").ok();
    let park =
        env.command(&["run", "notebook.append(text=stdin)"]).stdin(b"a long text\n").output();
    park.exits(5).has("1. [plan](link:");
    for (wrong, exit) in [("7", 2), ("go", 2), ("yes", 2), ("obj:999", 3), ("nothing like it", 2)] {
        let said = env.pipemux(&["answer", wrong]);
        said.exits(exit).has("needs an answer · notebook.append: needs entry");
        said.has("1. [plan](link:");
    }
    env.pipemux(&["answer"]).exits(5).has("1. [plan](link:");
    env.pipemux(&["view"]).ok().has("1. [plan](link:");
    env.run("notebook.search('one')").ok();
    env.pipemux(&["answer", "plan"]).ok().has("append");
    env.pipemux(&["history"]).ok().has("(chosen in 1 step)").has("notebook.append(entry=obj:");
    env.pipemux(&["answer"]).exits(3).has("no question is open");
}

#[test]
fn entries_with_the_same_title_are_told_apart_and_removed_together() {
    let env = TestEnv::with_notebook();
    for text in ["first text", "second text", "third text"] {
        env.run(&format!("notebook.add('same', '{text}')")).ok();
    }
    let asked = env.run("notebook.purge()");
    asked.exits(5).has(": first text · obj:").has(": second text · obj:").has("all but 2");
    env.pipemux(&["answer", "all but 2"]).exits(5).has("2 notes").has("same: first text");
    env.pipemux(&["answer", "go"]).exits(2).has("is no answer").has("2 notes");
    env.pipemux(&["answer", "yes"]).ok();
    env.pipemux(&["view"]).ok().has("second text").lacks("first text").lacks("third text");
    env.run("notebook.add('same', '')").exits(0);
}

#[test]
fn editor_question_is_answered_by_label() {
    let env = TestEnv::new();
    env.write("f.txt", "one\ntwo\n");
    env.pipemux(&["open", "editor", "f.txt"]).ok();
    env.run("editor.hold(); editor.replace('one', 'mine')").ok();
    env.write("f.txt", "other\ntwo\n");
    env.run("editor.save()").exits(5).has("[overwrite]").has("[reload]");
    env.pipemux(&["answer", "relod"]).exits(2).has("[reload]");
    env.pipemux(&["answer", "Overwrite"]).ok();
    assert_eq!(env.read("f.txt"), "mine\ntwo\n");
}

#[test]
fn nobody_is_asked_for_the_text_of_an_act_on_a_thing_that_is_gone() {
    let env = TestEnv::with_notebook();
    let plan = env.run("notebook.add('plan', 'v1')").ok().obj("plan");
    env.run(&format!("notebook.purge(obj:{plan})")).exits(5);
    env.pipemux(&["answer", "yes"]).ok();
    env.run(&format!("notebook.edit(obj:{plan})")).exits(3).has("not found").has("removed");
    // It may be gone while the question is open: the answer ends the question then.
    let other = env.run("notebook.add('other', 'v1')").ok().obj("other");
    env.run(&format!("notebook.edit(obj:{other})")).exits(5).has("needs text: string");
    let bob = |args: &[&str]| env.as_reader("bob", args);
    bob(&["view"]).ok();
    bob(&["run", &format!("notebook.purge(obj:{other})")]).exits(5);
    bob(&["answer", "yes"]).ok();
    env.pipemux(&["answer", "words"]).exits(3).has("removed");
    env.run("notebook.add('third', 'free again')").ok();
}
