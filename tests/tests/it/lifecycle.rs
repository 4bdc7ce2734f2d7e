//! One daemon a user and state directory; what begins ends.

use std::fs;

use pipemux_tests::{Signal, World, is_alive, kill, wait_until};

#[test]
fn racing_starts_make_one_daemon() {
    let world = World::new();
    let starts: Vec<_> = (0..20).map(|_| world.command(&["up"]).start()).collect();
    for start in starts {
        start.finish().ok();
    }
    let all = world.processes();
    let daemons = all.iter().filter(|process| process.command.contains("pipemuxd serve")).count();
    assert!(daemons == 1 || all.is_empty(), "{all:?}");
}

#[test]
fn down_leaves_nothing_and_keeps_windows_for_the_next_daemon() {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    let entry = world.run("notebook.add('n', 't')").ok().obj("n");
    world.pipemux(&["open", "monitor"]).ok();
    world.pipemux(&["down"]).ok();
    world.assert_clean();
    world.pipemux(&["down"]).ok().has("not running");
    world.pipemux(&["status"]).has("not running");
    world.assert_clean();
    let view = world.pipemux(&["view"]);
    view.ok().has("## editor/main").has("## notebook/main").has("## monitor/main");
    let again = view.obj("n");
    assert!(again >= entry, "an id is never given to another thing: {again} after {entry}");
    // An ordered end is no crash.
    view.lacks("restarted");
}

#[test]
fn no_app_outlives_a_killed_daemon() {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.pipemux(&["open", "monitor"]).ok();
    kill(world.daemon(), Signal::SIGKILL);
    wait_until("everything ends", || world.processes().is_empty().then_some(()));
    let view = world.pipemux(&["view"]);
    view.ok().has("## editor/main").has("## monitor/main");
    view.has("monitor/main: started anew, for the daemon was lost.");
}

#[test]
fn a_killed_launcher_takes_the_apps_and_the_daemon_recovers() {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.run("editor.insert(2, 'unsaved')").ok();
    let Some(launcher) = world.launcher() else { return };
    let (daemon, editor) = (world.daemon(), world.pid("editor/main"));
    kill(launcher, Signal::SIGKILL);
    wait_until("the app dies with the launcher", || (!is_alive(editor)).then_some(()));
    world.pipemux(&["view"]).ok().has("unsaved");
    assert_eq!(world.daemon(), daemon);
    assert_ne!(world.pid("editor/main"), editor);
    world.pipemux(&["open", "notebook"]).ok();
}

#[test]
fn a_process_that_was_to_start_when_the_launcher_was_killed_starts_with_the_next() {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    let Some(launcher) = world.launcher() else { return };
    let is = |state: &str| world.sessions().iter().any(|row| row.state == state).then_some(());
    kill(world.pid("editor/main"), Signal::SIGKILL);
    wait_until("the editor is down", || is("down"));
    // One that is stopped takes no orders.
    kill(launcher, Signal::SIGSTOP);
    let view = world.command(&["view"]).start();
    wait_until("the editor is about to start", || is("starting"));
    kill(launcher, Signal::SIGKILL);
    view.finish();
    // Nothing is wrong with the program: nobody has to ask for a restart.
    world.pipemux(&["view"]).ok().has("one").lacks("pipemux restart");
    assert_eq!(is("ready"), Some(()));
}

#[test]
fn a_terminated_daemon_ends_in_order() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    kill(world.daemon(), Signal::SIGTERM);
    wait_until("everything ends", || world.processes().is_empty().then_some(()));
    world.assert_clean();
}

#[test]
fn readers_have_questions_of_their_own() {
    let world = World::new();
    world.write("a.txt", "x\nx\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    let bob = |args: &[&str]| world.command(args).reader("bob").output();
    world.run("editor.replace('x', 'mine')").exits(5);
    bob(&["answer", "all"]).exits(3).has("no question is open");
    bob(&["view"]).ok();
    bob(&["run", "editor.insert(1, 'bob was here')"]).ok();
    world.pipemux(&["answer", "2"]).ok();
    world.run("editor.save()").ok();
    assert_eq!(world.read("a.txt"), "bob was here\nx\nmine\n");
}

#[test]
fn workspaces_do_not_see_each_other() {
    let world = World::new();
    let there = |args: &[&str]| world.command(args).workspace("there").output();
    world.pipemux(&["open", "notebook"]).ok();
    let entry = world.run("notebook.add('secret', 'x')").ok().obj("secret");
    there(&["view"]).ok().lacks("notebook").lacks("secret");
    there(&["read", &format!("obj:{entry}")]).exits(3).lacks("x\n");
    there(&["run", "notebook.search('x')"]).exits(3);
    there(&["open", "notebook"]).ok().has("0 entries").lacks("secret");
    there(&["end", "notebook/main"]).ok();
    world.pipemux(&["view"]).ok().has("secret");
    // The monitor is the user's: both see the one process.
    world.pipemux(&["open", "monitor"]).ok();
    there(&["open", "monitor"]).ok();
    let monitors = world.processes();
    let monitors = monitors.iter().filter(|process| process.command.contains("pipemux-monitor"));
    assert!(monitors.count() <= 1);
    let inner = world.project().join("src/deep");
    fs::create_dir_all(&inner).unwrap();
    world
        .command(&["view"])
        .within(inner.clone())
        .output()
        .ok()
        .has("secret")
        .has("workspace proj");
    // Whichever link led there.
    let link = world.root().join("link");
    std::os::unix::fs::symlink(inner, &link).unwrap();
    world.command(&["view"]).within(link).output().ok().has("workspace proj");
}

#[test]
fn close_keeps_the_session_and_end_ends_it() {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    let editor = world.pid("editor/main");
    world.run("editor.insert(1, 'unsaved')").ok();
    world.pipemux(&["close", "editor/main"]).ok().has("it runs on");
    world.pipemux(&["view"]).ok().lacks("## editor/main");
    world.run("editor.save()").exits(3);
    world.pipemux(&["close", "editor/main"]).exits(3);
    world.pipemux(&["open", "editor"]).ok().has("unsaved");
    assert_eq!(world.pid("editor/main"), editor);

    world.pipemux(&["restart", "editor/main"]).ok();
    wait_until("the former process ends", || (!is_alive(editor)).then_some(()));
    world.pipemux(&["view"]).ok().has("unsaved").lacks("killed");

    world.pipemux(&["end", "editor/main"]).ok();
    world.pipemux(&["view"]).ok().lacks("## editor/main");
    assert!(world.sessions().is_empty());
    world.pipemux(&["open", "notebook"]).ok();
    world.pipemux(&["close", "notebook/main", "--end"]).ok();
    assert!(world.sessions().is_empty());
}

#[test]
fn the_daemon_keeps_no_descriptor_of_what_has_ended() {
    let world = World::new();
    world.install_rogue("rogue", "tame");
    world.pipemux(&["open", "rogue"]).ok();
    let daemon = world.daemon();
    let open = || fs::read_dir(format!("/proc/{daemon}/fd")).map_or(0, Iterator::count);
    let before = open();
    for _ in 0..5 {
        world.pipemux(&["open", "rogue/two"]).ok();
        world.run("rogue/two.misbehave('exit')").exits(7);
        world.pipemux(&["end", "rogue/two"]);
    }
    wait_until("as many descriptors as before", || (open() <= before).then_some(()));
}

#[test]
fn a_killed_editor_keeps_the_question_that_it_asked() {
    let world = World::new();
    world.write("a.txt", "x\nx\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.run("editor.replace('x', 'y'); editor.save()").exits(5);
    let editor = world.pid("editor/main");
    kill(editor, Signal::SIGKILL);
    wait_until("the editor's end", || (!is_alive(editor)).then_some(()));
    world.pipemux(&["answer", "all"]).ok().has("2 matches");
    assert_eq!(world.read("a.txt"), "y\ny\n");
}

#[test]
fn a_question_outlives_the_daemon_that_asked_it() {
    let world = World::new();
    world.write("a.txt", "x\nx\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    let all = world.run("editor.replace('x', 'y'); editor.save()").exits(5).link("all");
    kill(world.daemon(), Signal::SIGKILL);
    wait_until("everything ends", || world.processes().is_empty().then_some(()));
    world.run("editor.save()").exits(9).has("2 matches");
    // An id is never given to another thing, so the link is that of before or none.
    let clicked = world.pipemux(&["click", &all.to_string()]);
    if clicked.exit != 0 {
        clicked.exits(3).has("not found in current context");
        world.pipemux(&["answer", "all"]).ok().has("save");
    }
    assert_eq!(world.read("a.txt"), "y\ny\n");
}

#[test]
fn a_lost_state_is_told_and_the_daemon_starts() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    world.run("notebook.add('kept by its app', 'x')").ok();
    world.pipemux(&["down"]).ok();
    let state = world.paths().state_dir.join("state.log");
    fs::write(&state, b"\xff\x00 not what was written \xff".repeat(100)).unwrap();
    world.pipemux(&["view"]).ok();
    assert!(world.daemon_log().contains("state"), "{}", world.daemon_log());
    world.pipemux(&["open", "notebook"]).ok().has("kept by its app");
}

#[test]
fn racing_opens_of_a_session_make_one_process() {
    let world = World::new();
    let opens: Vec<_> = (0..8)
        .map(|number| {
            let open = world.command(&["open", "notebook"]);
            open.reader(&format!("reader {number}")).start()
        })
        .collect();
    for open in opens {
        open.finish().ok().has("## notebook/main");
    }
    let all = world.processes();
    let apps = all.iter().filter(|process| process.command.contains("pipemux-notebook")).count();
    assert!(apps <= 1, "{all:?}");
    assert_eq!(world.sessions().len(), 1);
}
