//! Where errors go, and for how long a command waits.

use std::time::Instant;

use pipemux_tests::{Signal, TestEnv, kill};

#[test]
fn errors_go_to_standard_error_when_no_step_ran() {
    let env = TestEnv::with_editor("x\nx\n");
    let stderr_only = |args: &[&str], exit: i32| {
        let output = env.pipemux(args);
        output.exits(exit);
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{output}");
    };
    stderr_only(&["read", "obj:4711"], 3);
    stderr_only(&["read", "what?!"], 2);
    stderr_only(&["click", "999"], 3);
    stderr_only(&["run", "editor.replaec('x')"], 2);
    stderr_only(&["view", "nosuch"], 3);
    stderr_only(&["open", "editor", "a.txt/such.txt"], 9);
    stderr_only(&["open", "nosuch"], 3);
    stderr_only(&["answer", "yes"], 3);
    stderr_only(&["help", "nosuch"], 3);
    stderr_only(&["logs", "nosuch"], 3);
    stderr_only(&["logs", "nosuch", "--follow"], 3);
    stderr_only(&["set", "colour", "red"], 2);

    // The outcome of a step and a question are answers.
    let stdout_only = |args: &[&str], exit: i32| {
        let output = env.pipemux(args);
        output.exits(exit);
        assert!(output.stderr.is_empty() && !output.stdout.is_empty(), "{output}");
    };
    stdout_only(&["run", "editor.replace('nowhere', 'y')"], 1);
    stdout_only(&["run", "editor.replace('x', 'y')"], 5);
    stdout_only(&["run", "editor.save()"], 5);
    stderr_only(&["answer", "7"], 2);
    stdout_only(&["answer", "none"], 0);
    stdout_only(&["read", "obj:4711", "--json"], 3);
    stdout_only(&["run", "editor.replaec('x')", "--json"], 2);
    stdout_only(&["view", "--budget", "much", "--json"], 2);
}

#[test]
fn file_that_a_value_goes_to_is_never_filled_with_an_error() {
    let env = TestEnv::with_notebook();
    env.shell("\"$PIPEMUX\" read obj:9 > value").output().exits(3).has("not found");
    assert_eq!(env.read("value"), "");
    let plan = env.run("notebook.add('plan', 'Ship it')").ok().obj("plan");
    let read = format!("\"$PIPEMUX\" read obj:{plan} > value");
    assert!(env.shell(&read).output().ok().text().is_empty());
    assert_eq!(env.read("value").trim_end(), "Ship it");
}

#[test]
fn time_limit_holds_for_a_stopped_daemon() {
    let env = TestEnv::with_editor("one\n");
    let daemon = env.daemon_pid();
    kill(daemon, Signal::SIGSTOP);
    let began = Instant::now();
    // A request that may have been taken is unknown; the others never arrived.
    for (command, exit) in [
        (&["view"][..], 8),
        (&["status"], 8),
        (&["run", "editor.save()"], 7),
        (&["watch"], 8),
        (&["watch", "--count", "1"], 8),
        (&["logs", "editor", "--follow"], 8),
        (&["down"], 8),
    ] {
        env.pipemux(&[command, &["--timeout", "0.3"]].concat()).exits(exit).has("no greeting");
    }
    // Seven commands of 10 s each would take more than a minute.
    let waited = began.elapsed().as_secs();
    kill(daemon, Signal::SIGCONT);
    assert!(waited < 40, "{waited} s");
    env.pipemux(&["view"]).ok();
}

#[test]
fn time_limit_ends_watching() {
    let env = TestEnv::with_editor("one\n");
    env.pipemux(&["watch", "--timeout", "0.2"]).ok();
    env.pipemux(&["logs", "editor", "--follow", "--timeout", "0.2"]).ok();
    let count = ["watch", "--count", "1", "--timeout", "0.2"];
    env.pipemux(&count).exits(6).has("unavailable · 1 event did not come within 0.2 s");
    let all = ["watch", "--since", "0", "--count", "1", "--timeout", "20"];
    env.pipemux(&all).ok();
}

#[test]
fn second_view_says_where_the_actions_are() {
    let env = TestEnv::with_editor("one\n");
    env.pipemux(&["view"]).ok().has("actions: pipemux help editor\n").lacks("replace(old");
    env.pipemux(&["help", "editor"])
        .ok()
        .has("replace(old, new")
        .has("pipemux help editor.find · all: --full");
    env.pipemux(&["help", "editor", "--full"]).ok().has("@param all True replaces every match");
    let one = env.pipemux(&["help", "editor.replace"]);
    one.ok().has("replace(old, new, in = []").has(" · all: True replaces every match");
    one.lacks("find(").lacks("preview");
    env.pipemux(&["help", "editor.replace()"]).ok().has("replace(old, new");
    env.pipemux(&["help", "replace_lines"]).ok().has("replace_lines(first: line");
    env.pipemux(&["help", "undo"]).ok().has("## editor.undo\n").has("## notebook.undo\n");
    env.pipemux(&["help", "editor.lost"]).exits(3).has("editor has no action lost");
    // Another reader is shown the actions themselves.
    env.as_reader("bob", &["view"]).ok().lacks("actions: ").has("replace(old");
    env.as_reader("bob", &["view"]).ok().has("actions: pipemux help editor\n");
    // An answer about an action is the outcome and what changed.
    env.run("editor.insert(1, 'zero')").ok().lacks("actions: ");
}

#[test]
fn read_says_what_a_thing_without_a_value_is() {
    let env = TestEnv::new();
    env.install("arena", "examples/arena", "");
    let robber = env.pipemux(&["open", "arena"]).ok().obj("强盗");
    let what = format!("obj:{robber} is \"强盗\", of type enemy: it has no value to read");
    env.pipemux(&["read", &format!("obj:{robber}")]).exits(9).has(&what);
    // A link is no thing, and one that isn't there is not found.
    let flee = env.pipemux(&["view"]).ok().link("逃跑");
    let click = format!("pipemux click link:{flee}");
    env.pipemux(&["read", &format!("link:{flee}")]).exits(2).has("is a link").has(&click);
    env.pipemux(&["read", "link:4711"]).exits(3).has("link:4711 not found");
}

#[test]
fn call_on_a_thing_of_a_closed_window_says_how_to_open_it() {
    let env = TestEnv::new();
    env.install("arena", "examples/arena", "");
    let robber = env.pipemux(&["open", "arena/b"]).ok().obj("强盗");
    env.pipemux(&["close", "arena/b"]).ok();
    let sentence = format!("Anchor obj:{robber} is out of view. Navigate or expand to access.");
    for call in ["attack", "arena.attack", "arena/b.attack"] {
        let attack = env.run(&format!("{call}(obj:{robber})"));
        attack.exits(4).has(&sentence).has("next: pipemux open arena/b\n");
    }
}

#[test]
fn wrong_item_of_a_list_is_pointed_at() {
    let env = TestEnv::with_notebook();
    let mistaken = env.run("notebook.add('z', 'w', tags=['x', 1])");
    mistaken.exits(2).has("refused, nothing ran · wrong type").has("^^^^^^^^ tags is string[]");
    env.run("notebook.add('z', 'w', tags=1)").exits(2).has("^ tags is string[], did you mean '1'?");
    env.run("notebook.add('z', text=notebook.read(1))").exits(2);
}

#[test]
fn bare_number_is_never_taken_for_a_ref() {
    let env = TestEnv::with_notebook();
    let id = env.run("notebook.add('24x', 'other')").ok().obj("24x");
    env.run(&format!("notebook.add('{id}', 'meant')")).ok();
    let append = |number: &str| env.run(&format!("notebook.append({number}, 'more')"));
    let said = append(&id.to_string());
    said.exits(2).has(&format!("not a number: obj:{id} is \"24x\"; the name {id} is '{id}'"));
    let call =
        |argument: &str| format!("notebook.append({argument}, 'more')").replace('\'', "'\\''");
    said.has(&format!("next: pipemux run '{}'\n", call(&format!("obj:{id}"))));
    said.has(&format!("next: pipemux run '{}'\n", call(&format!("'{id}'"))));
    append(&format!("'{id}'")).ok().has(&format!("append: \"{id}\""));
}
