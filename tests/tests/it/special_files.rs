//! Paths that lead to something that isn't a file, and files whose disk doesn't answer.

use std::os::unix::fs::symlink;

use pipemux_tests::{TestEnv, wait_for};

use crate::lease::Lease;

#[test]
fn fifo_at_a_path_hangs_nothing_and_loses_nothing() {
    let env = TestEnv::with_editor("one\n");
    let fifo = env.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let pid = env.pid("editor/main");
    env.pipemux(&["open", "editor", "fifo"]).exits(9).has("fifo is a FIFO, expected a file");
    env.run("editor.hold(); editor.replace_lines(1, 1, 'two')").ok();
    env.run("editor.save_as('fifo')").exits(9).has("fifo is a FIFO, expected a file's path");
    env.run("editor.save_as('/dev/null')").exits(9).has("/dev/null is a device");

    // The open file itself is replaced.
    std::fs::remove_file(env.path("a.txt")).unwrap();
    symlink("fifo", env.path("a.txt")).unwrap();
    env.pipemux(&["view"]).ok().has("changed on disk to content that can't be opened").has("two");
    env.run("editor.save()").exits(9).has("is a FIFO, expected a file").has("save_as(");
    env.run("editor.save_as('b.txt')").ok();
    assert_eq!(env.read("b.txt"), "two\n");
    env.run("editor.undo()").ok().has("one");
    assert_eq!(env.pid("editor/main"), pid, "the same process, with its undo history");
}

#[test]
fn hanging_file_is_answered_at_the_deadline_while_others_go_on() {
    let env = TestEnv::new();
    env.write("a.txt", "one\n");
    env.write("b.txt", "b\n");
    env.pipemux(&["open", "editor", "b.txt", "a.txt"]).ok();
    env.run("editor.hold(); editor.replace_lines(1, 1, 'two')").ok();
    let lease = Lease::take(&env.path("a.txt"));
    let saving = env.command(&["run", "editor.save()", "--timeout", "20"]).start();
    wait_for("the save waits", || env.pipemux(&["view"]).text().contains("being written"));

    let bob = |args: &[&str]| env.as_reader("bob", args);
    let other = "editor.open('b.txt'); editor.replace_lines(1, 1, 'B'); editor.save()";
    // The other file is saved; later steps, which rely on saved files, would not run.
    bob(&["run", other]).exits(1).has("a.txt is being written").has("saved: b.txt");
    assert_eq!(env.read("b.txt"), "B\n");
    assert!(saving.is_running(), "it is answered at its deadline");
    let answered = saving.finish();
    answered.exits(1).has("the disk of a.txt did not answer within").has("nothing was done");

    drop(lease);
    assert_eq!(env.read("a.txt"), "one\n");
    env.run("editor.open('a.txt')").ok();
    // The write that was called off ends once its disk has answered.
    wait_for("the disk answers", || !env.pipemux(&["view"]).text().contains("being written"));
    env.run("editor.save()").ok();
    assert_eq!(env.read("a.txt"), "two\n");
    env.run("editor.undo()").ok();
}

#[test]
fn daemon_goes_down_while_a_file_hangs() {
    let env = TestEnv::with_editor("one\n");
    env.run("editor.hold(); editor.replace_lines(1, 1, 'two')").ok();
    let lease = Lease::take(&env.path("a.txt"));
    let saving = env.command(&["run", "editor.save()"]).start();
    wait_for("the save waits", || env.pipemux(&["view"]).text().contains("being written"));
    env.pipemux(&["down"]).ok();
    drop(saving.finish());
    drop(lease);
    assert_eq!(env.read("a.txt"), "one\n");
    env.pipemux(&["view"]).ok().has("unsaved edits restored").has("two");
}

#[test]
fn damaged_notebook_is_explained_each_time_and_works_once_it_is_mended() {
    let env = TestEnv::new();
    env.pipemux(&["open", "notebook", "notes.db"]).ok();
    env.run("notebook.add('plan', 'kept')").ok();
    env.pipemux(&["end", "notebook/main"]).ok();
    let store = std::fs::read(env.path("notes.db")).unwrap();
    let plan = env.pipemux(&["open", "notebook", "notes.db"]).ok().obj("plan");
    let plan = format!("obj:{plan}");
    env.kill_session("notebook/main");
    for log in ["notes.db-wal", "notes.db-shm"] {
        let _ = std::fs::remove_file(env.path(log));
    }
    env.write("notes.db", "this is not a database, it only has some text in it, again and again\n");
    for _ in 0..3 {
        env.pipemux(&["view"]).has("notes.db is not a SQLite file");
        env.run("notebook.add('x', 'y')").exits(9).has("notes.db is not a SQLite file");
        env.pipemux(&["read", &plan]).exits(9).has("notes.db is not a SQLite file");
    }
    std::fs::write(env.path("notes.db"), store).unwrap();
    env.pipemux(&["view"])
        .ok()
        .has(&format!("[plan]({})", plan.replace("obj:", "obj:entry:")))
        .has("kept");
    env.run("notebook.add('x', 'y')").ok();
}
