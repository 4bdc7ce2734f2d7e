//! What a command changed in files is told, and taken back around what came later, or nothing is.

use pipemux_tests::TestEnv;

use crate::terminal::{confining, job};

/// A project in a git repository.
fn repository() -> TestEnv {
    let env = confining();
    env.shell("git init -q").output().ok();
    env.write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    env
}

#[test]
fn change_of_a_command_is_taken_back_around_an_edit_of_the_same_file() {
    let env = repository();
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    env.run("terminal.run('cat a.txt')").ok().lacks("changed");
    let made = "terminal.run('sed -i s/one/ONE/ a.txt; echo new > b.txt; chmod +x b.txt')";
    env.run(made).ok().has("exit 0 · no output · changed a.txt, b.txt · [undo](link:");
    env.run("editor.replace('four', 'FOUR')").ok();
    env.pipemux(&["history"]).ok().has("changed a.txt, b.txt\n");
    let undone = env.pipemux(&["undo", "2"]);
    undone.ok().has(": a.txt, b.txt · [redo](link:");
    assert_eq!(env.read("a.txt"), "one\ntwo\nthree\nFOUR\nfive\n");
    assert!(!env.path("b.txt").exists());
    // The editor sees it as a change from outside, and its own change can still be taken back.
    env.pipemux(&["view", "editor/main"]).ok().has("1\tone").has("4\tFOUR");
    env.run("editor.replace('five', 'FIVE')").ok();
    env.pipemux(&["undo", "3"]).ok();
    assert_eq!(env.read("a.txt"), "one\ntwo\nthree\nfour\nFIVE\n");
    // An undo that is undone makes it again, also with the next daemon.
    env.kill_daemon();
    env.pipemux(&["undo", "4"]).ok();
    assert_eq!(env.read("a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n");
    assert_eq!(env.read("b.txt"), "new\n");
    env.pipemux(&["undo", "2"]).ok();
    assert_eq!(env.read("a.txt"), "one\ntwo\nthree\nfour\nFIVE\n");
}

#[test]
fn change_that_was_written_over_is_shown_and_nothing_is_written() {
    let env = repository();
    env.run("terminal.run(['sed -i s/one/ONE/ a.txt', 'echo b > b.txt'])")
        .ok()
        .has("changed a.txt, b.txt");
    env.write("a.txt", "uno\ntwo\n");
    let refused = env.pipemux(&["undo"]);
    refused.exits(1).has("nothing was written").has("a.txt:1 now:\nuno\ninstead of it:\none\n");
    assert_eq!((env.read("a.txt"), env.read("b.txt")), ("uno\ntwo\n".into(), "b\n".into()));
}

#[test]
fn changes_that_overlap_and_those_of_jobs_are_taken_back_only_as_a_whole() {
    let env = repository();
    let server = "terminal.run('until [ -e stop ]; do sleep 0.05; done; echo s > s.txt', wait=0)";
    env.run(server).ok().lacks("[undo](link:");
    // What changes nothing is no other's matter.
    env.run("terminal.run('cat a.txt')").ok();
    env.run("terminal.run('echo b > b.txt')").ok().has("changed b.txt (or c1 did)");
    let refused = env.pipemux(&["undo"]);
    refused.exits(9).has("c3 echo b > b.txt ran beside c1").has("nothing was undone");
    refused.has("terminal.undo(\"c3\", shared=true)");
    env.run("terminal.undo('c3', shared=true)").ok();
    assert!(!env.path("b.txt").exists());
    env.write("stop", "");
    env.pipemux(&["read", "job:c1", "--wait", "20"]).ok();
    env.pipemux(&["undo", "1"]).exits(9).has("no undo");
    let refused = env.run("terminal.undo('c1')");
    refused.exits(9).has("ran beside an undo of c3, c3, others");
    env.run("terminal.run('echo d > d.txt; sleep 1', wait=0)").ok();
    env.pipemux(&["read", "job:c4", "--wait", "20"]).ok();
    env.run("terminal.undo()").exits(9).has("ran beside others");
    env.run("terminal.undo('c4', shared=true)").ok().has("undo: d.txt");
}

#[test]
fn folder_without_a_repository_says_why_only_when_it_is_asked() {
    let env = confining();
    env.run("terminal.run('echo b > b.txt')").ok().lacks("changed").lacks("undo");
    env.run("terminal.undo()").exits(9).has("the folder isn't in a git repository");
    assert_eq!(env.read("b.txt"), "b\n");
}

#[test]
fn commands_of_another_session_that_overlap_are_named() {
    let env = repository();
    env.pipemux(&["open", "terminal/main"]).ok();
    env.pipemux(&["open", "terminal/two"]).ok();
    let two = "terminal/two.run('until [ -e stop ]; do sleep 0.05; done; echo s > s.txt', wait=0)";
    let two = env.run(two);
    env.run("terminal/main.run('echo b > b.txt')").ok().has("changed b.txt (or terminal/two did)");
    let ends = env.run("terminal/main.run('touch stop; until [ -e s.txt ]; do sleep 0.05; done')");
    ends.ok().has("(or terminal/two did)");
    env.pipemux(&["read", &job(two.ok()), "--wait", "20"]).ok();
    // The times of files are only so exact: one that begins right behind may count as beside it.
    let is_alone = |n: u32| {
        let ran = env.run(&format!("terminal/main.run('echo {n} > c.txt')"));
        ran.text().contains("changed c.txt · ")
    };
    assert!((0..100).any(is_alone));
}
