//! Undo of a command leaves what others changed in files while it ran, and says what else it
//! leaves.

use std::thread;

use pipemux_tests::{Output, TestEnv, wait_for};

use crate::terminal::confining;

/// A project in a git repository, with a pipe that commands may wait for.
fn repository() -> TestEnv {
    let env = confining();
    env.shell("git init -q && mkfifo go").output().ok();
    env.write(".gitignore", "target/\n*.log\n");
    env.write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    env.write("b.txt", "one\ntwo\nthree\n");
    env
}

/// Runs a line, then `meanwhile`, then another line in the same command, and returns what the
/// command answered.
fn while_runs(env: &TestEnv, first: &str, then: &str, meanwhile: impl FnOnce()) -> Output {
    let line = format!("{first}; touch begun.log; cat go; {then}");
    thread::scope(|scope| {
        let ran = scope.spawn(move || env.run(&format!("terminal.run({line:?})")));
        wait_for("its beginning", || env.path("begun.log").exists());
        meanwhile();
        // It is opened once the command reads it.
        env.write("go", "");
        ran.join().expect("an answer")
    })
}

#[test]
fn edit_of_another_reader_while_a_command_ran_is_left_and_named() {
    let env = repository();
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    let edit = ["run", "editor.replace('two', 'TWO', in='b.txt')"];
    let ran = while_runs(&env, "sed -i s/one/ONE/ a.txt b.txt", "echo c > c.txt", || {
        env.as_reader("reviewer", &edit).ok();
    });
    ran.ok().has("round 1 (reviewer) changed b.txt meanwhile");
    let undone = env.pipemux(&["undo"]);
    undone.ok().has("a.txt, c.txt; left: b.txt, which round 1 (reviewer) changed meanwhile");
    undone.has("all of it: pipemux run 'terminal.undo(\"c1\", shared=true)'");
    assert_eq!(env.read("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
    assert_eq!(env.read("b.txt"), "ONE\nTWO\nthree\n");
    assert!(!env.path("c.txt").exists());
    // Made again and taken back, it stays left, also by a call; asked for, it is taken back.
    env.pipemux(&["undo", "3"]).ok();
    assert_eq!(
        (env.read("a.txt").as_str(), env.read("c.txt").as_str()),
        ("ONE\ntwo\nthree\nfour\nfive\n", "c\n")
    );
    env.run("terminal.undo()").ok().has("left: b.txt, which round 1 (reviewer) changed meanwhile");
    assert_eq!(env.read("b.txt"), "ONE\nTWO\nthree\n");
    env.run("terminal.undo('c1', shared=true)").ok().has("undo: b.txt");
    assert_eq!(env.read("b.txt"), "one\ntwo\nthree\n");
}

#[test]
fn command_is_taken_back_whole_around_the_same_file_once_the_edit_is() {
    let env = repository();
    env.pipemux(&["open", "editor", "b.txt"]).ok();
    let edit = "editor.replace('three', 'THREE', in='b.txt')";
    // Another workspace of the same project, too.
    let ran = while_runs(&env, "sed -i s/one/ONE/ b.txt", "true", || {
        env.in_workspace("aside", &["open", "editor", "b.txt"]).ok();
        env.in_workspace("aside", &["run", edit]).ok();
    });
    ran.ok().has("round 1 of ").has("changed b.txt meanwhile");
    let refused = env.pipemux(&["undo"]);
    refused.exits(9).has("b.txt, which round 1 of ").has("nothing was undone");
    assert_eq!(env.read("b.txt"), "ONE\ntwo\nTHREE\n");
    env.in_workspace("aside", &["undo"]).ok();
    env.pipemux(&["undo"]).ok().has(": b.txt · [redo]");
    assert_eq!(env.read("b.txt"), "one\ntwo\nthree\n");
    // Made again it doesn't bring back what the other one has taken back.
    env.pipemux(&["undo"]).exits(3);
    env.run("terminal.redo('c1')").ok();
    assert_eq!(env.read("b.txt"), "ONE\ntwo\nthree\n");
    env.run("terminal.undo('c1')").ok();
    assert_eq!(env.read("b.txt"), "one\ntwo\nthree\n");
}

#[test]
fn command_beside_which_another_workspace_may_have_written_is_not_taken_back_unasked() {
    let env = repository();
    let ran = while_runs(&env, "echo a > a.txt", "true", || {
        // It is a job that goes on, or a step that has no end yet.
        let act = "terminal.run('echo theirs > b.txt; cat done', wait=0)";
        env.shell("mkfifo done").output().ok();
        env.in_workspace("aside", &["run", act]).ok();
        wait_for("what it writes", || env.read("b.txt") == "theirs\n");
    });
    ran.ok();
    let refused = env.pipemux(&["undo"]);
    refused
        .exits(9)
        .has("which files job terminal/main:c1 of ")
        .has("meanwhile isn't wholly known");
    refused.has("all of it: pipemux run 'terminal.undo(\"c1\", shared=true)'");
    assert_eq!(env.read("b.txt"), "theirs\n");
    // It has ended, and still nobody knows what it wrote.
    env.write("done", "");
    let _ = env.in_workspace("aside", &["wait"]);
    env.pipemux(&["undo"]).exits(9).has("isn't wholly known");
    // A job that only waits writes nothing.
    env.in_workspace("aside", &["run", "planner.turn()"]).ok().has("started · turn");
    // A job in another folder is none of its business.
    env.shell("git init -q ../elsewhere && mkfifo ../elsewhere/done").output().ok();
    let job = env.command(&["run", "terminal.run('cat done', wait=0)"]);
    job.current_dir(env.path("../elsewhere")).output().ok();
    env.run("terminal.run('echo c > c.txt')").ok();
    env.pipemux(&["undo"]).ok().has("c.txt");
    env.write("../elsewhere/done", "");
}

#[test]
fn what_an_outside_program_wrote_while_a_command_ran_is_named_when_it_is_taken_back() {
    let env = repository();
    let many: Vec<String> = (0..30).map(|n| format!("generated-{n}.txt")).collect();
    let make = format!("for f in {}; do echo x > $f; done", many.join(" "));
    while_runs(&env, &make, "true", || env.write("person.txt", "mine\n")).ok();
    let undone = env.pipemux(&["undo"]);
    undone.ok().has("person.txt").has("+").has("[redo](link:");
    for name in &many {
        undone.has(name);
    }
    env.pipemux(&["undo", "2"]).ok();
    assert_eq!(env.read("person.txt"), "mine\n");
}

#[test]
fn what_undo_leaves_is_said_by_its_kinds() {
    let env = repository();
    env.shell("mkdir -p target/deep && echo o > target/deep/o && echo old > old.log").output().ok();
    env.run("terminal.run('echo 1 > a.txt')").ok();
    env.pipemux(&["undo"]).ok().lacks("not taken back");
    // Git compares the times of files to the second.
    let act = "was=$(stat -c %Z b.txt); until chmod 600 b.txt; [ $(stat -c %Z b.txt) != $was ]; do :; done
        echo 2 > a.txt; echo n > target/deep/o; echo n > .n.log; mkdir empty; head -c 11000000 /dev/zero > big.bin";
    env.run(&format!("terminal.run({act:?})")).ok();
    // Git says the same of what it ignores.
    let ignored = env.shell("git status --porcelain --ignored").output();
    ignored.ok().has("!! .n.log").has("!! target/");
    let undone = env.pipemux(&["undo"]);
    undone.ok().has("a.txt · [redo](link:").has(
        "not taken back: 2 ignored files (.n.log, target/deep/o), 1 file over 10 MiB (big.bin), 1 empty folder (empty/), 1 file by permission bits (b.txt)\n",
    );
    let history = env.pipemux(&["history"]);
    history.ok().has(" · undone\n");
}

#[test]
fn command_that_changed_no_file_needs_no_undo() {
    let env = repository();
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    env.run("terminal.run('ls')").ok();
    env.pipemux(&["history"]).ok().lacks("no undo");
    env.pipemux(&["undo", "1"]).exits(9).has("round 1 changed nothing that undo takes back");
    env.run("editor.replace('one', 'uno'); terminal.run(['ls', 'cat b.txt'])").ok();
    env.pipemux(&["undo"]).ok().has("undo of editor.replace").lacks("not undone");
    // What git keeps isn't among the files.
    let commit = "git -c user.name=a -c user.email=b@c add -A; git -c user.name=a -c user.email=b@c commit -qm x";
    env.run(&format!("editor.replace('one', 'uno'); terminal.run({commit:?})")).ok();
    env.pipemux(&["undo"])
        .ok()
        .has("not undone, since it has no undo: terminal.run (what git has stays)");
    env.run("editor.replace('one', 'uno'); terminal.run('cat go', wait=0)").ok();
    let undone = env.pipemux(&["undo"]);
    undone.ok().has("terminal.run (once c").has("terminal.undo(\"c");
    env.write("go", "");
}
