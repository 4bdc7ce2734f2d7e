//! Micro-wizards: what is missing is asked for, what was refused is kept, nothing is restated.

use pipemux_tests::World;

fn editor() -> World {
    let world = World::new();
    world.write("a.txt", "one\ntwo\nthree\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world
}

#[test]
fn a_missing_argument_is_asked_for_before_anything_runs() {
    let world = editor();
    let asked = world.run("editor.insert(1, 'zero'); editor.replace('two'); editor.save()");
    asked.exits(5).has("needs new: string").has("pipemux answer");
    world.pipemux(&["view"]).ok().has("1\tone");
    world.pipemux(&["answer", "TWO, with (signs) 'quoted'"]).ok().has("insert").has("save");
    assert_eq!(world.read("a.txt"), "zero\none\nTWO, with (signs) 'quoted'\nthree\n");
}

#[test]
fn a_missing_thing_is_chosen_from_what_is_shown() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    world.run("notebook.add('alpha', 'a'); notebook.add('beta', 'b')").ok();
    let asked = world.run("notebook.append(text='more')");
    asked.exits(5).has("alpha").has("beta");
    let alpha = asked.link("alpha");
    world.pipemux(&["click", &alpha.to_string()]).ok();
    let view = world.pipemux(&["view"]);
    let entry = view.obj("alpha");
    world.pipemux(&["read", &format!("obj:{entry}")]).ok().has("more");
    world.run("notebook.append(text='more')").exits(5);
    world.pipemux(&["answer", "none"]).ok().has("cancelled");
}

#[test]
fn a_refused_text_is_kept_and_go_sends_it_against_what_was_shown() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let plan = world.run("notebook.add('plan', 'Ship on Friday')").ok().obj("plan");
    let bob = |args: &[&str]| world.command(args).reader("bob").output();
    bob(&["view"]).ok();
    bob(&["run", &format!("notebook.edit(obj:{plan}, 'Ship on Monday')")]).ok();
    let call = format!("notebook.edit(entry=obj:{plan}, text=stdin)");
    let long = "my long text\nthat took many tokens\n".repeat(20);
    let refused = world.command(&["run", &call]).stdin(long.as_bytes()).output();
    refused.exits(4).has("is stale").has("Monday").has("pipemux answer go");
    world.pipemux(&["answer", "go"]).ok();
    let read = world.pipemux(&["read", &format!("obj:{plan}")]).ok().text();
    assert_eq!(read.trim_end(), long.trim_end());
    // It was kept for that one step.
    world.pipemux(&["answer", "go"]).exits(3);
}

#[test]
fn the_same_failure_three_times_is_told_to_step_back() {
    let world = editor();
    let fail = || world.run("editor.replace('nowhere', 'x')");
    fail().exits(1).lacks("step back");
    fail().exits(1).lacks("step back");
    fail().exits(1).has("step back");
}

#[test]
fn several_gaps_are_a_wizard_and_the_seeds_spelling_of_a_click_is_one() {
    let world = World::new();
    world.write("a.txt", "line\n".repeat(200));
    let page = world.pipemux(&["open", "editor", "a.txt"]).ok().link("next page");
    let asked = world.pipemux(&["run", "--json", "editor.replace_lines()"]).exits(5).json();
    assert_eq!(asked["question"]["level"], "wizard", "{asked:#}");
    world.pipemux(&["answer", "cancel"]).ok();
    world.pipemux(&["run", &format!("click(link:{page})")]).ok().has("goto");
}
