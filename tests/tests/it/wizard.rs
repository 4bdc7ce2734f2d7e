//! Missing arguments are asked for and refused ones are kept, so that an agent repeats nothing.

use pipemux_tests::TestEnv;

#[test]
fn missing_argument_is_asked_for_before_any_step_runs() {
    let env = TestEnv::with_editor("one\ntwo\nthree\n");
    let asked = env.run("editor.insert(1, 'zero'); editor.replace('two'); editor.save()");
    asked.exits(5).has("needs new: string").has("pipemux answer");
    env.pipemux(&["view"]).ok().has("1\tone");
    env.pipemux(&["answer", "TWO, with (signs) 'quoted'"]).ok().has("insert").has("save");
    assert_eq!(env.read("a.txt"), "zero\none\nTWO, with (signs) 'quoted'\nthree\n");
}

#[test]
fn missing_object_is_chosen_from_those_shown() {
    let env = TestEnv::with_notebook();
    env.run("notebook.add('alpha', 'a'); notebook.add('beta', 'b')").ok();
    let asked = env.run("notebook.append(text='more')");
    asked.exits(5).has("alpha").has("beta");
    let alpha = asked.link("alpha");
    env.pipemux(&["click", &alpha.to_string()]).ok();
    let view = env.pipemux(&["view"]);
    let entry = view.obj("alpha");
    env.pipemux(&["read", &format!("obj:{entry}")]).ok().has("more");
    env.run("notebook.append(text='more')").exits(5);
    env.pipemux(&["answer", "none"]).ok().has("cancelled");
}

#[test]
fn refused_text_is_kept_and_sent_by_go() {
    let env = TestEnv::with_notebook();
    let plan = env.run("notebook.add('plan', 'Ship on Friday')").ok().obj("plan");
    let bob = |args: &[&str]| env.as_reader("bob", args);
    bob(&["view"]).ok();
    bob(&["run", &format!("notebook.edit(obj:{plan}, 'Ship on Monday')")]).ok();
    let call = format!("notebook.edit(entry=obj:{plan}, text=stdin)");
    let long = "my long text\nthat took many tokens\n".repeat(20);
    let refused = env.command(&["run", &call]).stdin(long.as_bytes()).output();
    refused.exits(4).has("is stale").has("Monday").has("pipemux answer go");
    env.pipemux(&["answer", "go"]).ok();
    let read = env.pipemux(&["read", &format!("obj:{plan}")]).ok().text();
    assert_eq!(read.trim_end(), long.trim_end());
    // The text was kept for that step only.
    env.pipemux(&["answer", "go"]).exits(3);
}

#[test]
fn third_identical_failure_suggests_to_step_back() {
    let env = TestEnv::with_editor("one\ntwo\nthree\n");
    let fail = || env.run("editor.replace('nowhere', 'x')");
    fail().exits(1).lacks("step back");
    fail().exits(1).lacks("step back");
    fail().exits(1).has("step back");
}

#[test]
fn several_missing_arguments_start_a_wizard() {
    let env = TestEnv::new();
    env.write("a.txt", "line\n".repeat(200));
    let page = env.pipemux(&["open", "editor", "a.txt"]).ok().link("next page");
    let asked = env.pipemux(&["run", "--json", "editor.replace_lines()"]).exits(5).json();
    assert_eq!(asked["question"]["level"], "wizard", "{asked:#}");
    env.pipemux(&["answer", "cancel"]).ok();
    env.pipemux(&["run", &format!("click(link:{page})")]).ok().has("goto");
}
