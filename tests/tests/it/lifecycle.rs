//! The lifecycle of the daemon, its launcher and its sessions.

use std::fs;
use std::time::Duration;

use pipemux_tests::proc_stats::open_descriptors;
use pipemux_tests::test_client::TestClient;
use pipemux_tests::{Signal, TestEnv, is_alive, kill, wait_for, wait_until};

#[test]
fn concurrent_starts_make_one_daemon() {
    let env = TestEnv::new();
    let starts: Vec<_> = (0..20).map(|_| env.command(&["up"]).start()).collect();
    for start in starts {
        start.finish().ok();
    }
    assert_eq!(env.count_processes("pipemuxd serve"), 1, "{:?}", env.processes());
}

#[test]
fn down_leaves_nothing_and_next_daemon_restores_windows() {
    let env = TestEnv::with_editor("one\n");
    env.pipemux(&["open", "notebook"]).ok();
    let entry = env.run("notebook.add('n', 't')").ok().obj("n");
    env.pipemux(&["open", "monitor"]).ok();
    env.pipemux(&["down"]).ok();
    env.assert_clean();
    env.pipemux(&["down"]).ok().has("not running");
    env.pipemux(&["status"]).has("not running");
    env.assert_clean();
    let view = env.pipemux(&["view"]);
    view.ok().has("## editor/main").has("## notebook/main").has("## monitor/main");
    let again = view.obj("n");
    assert!(again >= entry, "an id is never given to another thing: {again} after {entry}");
    // An orderly end is not reported as a crash.
    view.lacks("restarted");
}

#[test]
fn no_app_outlives_a_killed_daemon() {
    let env = TestEnv::with_editor("one\n");
    env.pipemux(&["open", "monitor"]).ok();
    env.kill_daemon();
    let view = env.pipemux(&["view"]);
    view.ok().has("## editor/main").has("## monitor/main");
    view.has("monitor/main: restarted after a daemon crash.");
}

#[test]
fn daemon_recovers_from_a_killed_launcher() {
    let env = TestEnv::with_editor("one\n");
    env.run("editor.hold(); editor.insert(2, 'unsaved')").ok();
    let launcher = env.launcher_pid();
    let (daemon, editor) = (env.daemon_pid(), env.pid("editor/main"));
    kill(launcher, Signal::SIGKILL);
    wait_for("the app has ended with the launcher", || !is_alive(editor));
    env.pipemux(&["view"]).ok().has("unsaved");
    assert_eq!(env.daemon_pid(), daemon);
    assert_ne!(env.pid("editor/main"), editor);
    env.pipemux(&["open", "notebook"]).ok();
}

#[test]
fn start_pending_at_the_launchers_death_is_retried() {
    let env = TestEnv::with_editor("one\n");
    let launcher = env.launcher_pid();
    let is = |state: &str| env.sessions().iter().any(|row| row.state == state).then_some(());
    kill(env.pid("editor/main"), Signal::SIGKILL);
    wait_until("the editor is down", || is("down"));
    // A stopped launcher starts nothing.
    kill(launcher, Signal::SIGSTOP);
    let view = env.command(&["view"]).start();
    wait_until("the editor is about to start", || is("starting"));
    kill(launcher, Signal::SIGKILL);
    view.finish().ok();
    // The app did not fail, so no restart has to be requested.
    env.pipemux(&["view"]).ok().has("one").lacks("pipemux restart");
    assert_eq!(is("ready"), Some(()));
}

#[test]
fn terminated_daemon_ends_cleanly() {
    let env = TestEnv::with_notebook();
    kill(env.daemon_pid(), Signal::SIGTERM);
    env.wait_until_all_ended();
    env.assert_clean();
}

#[test]
fn each_reader_has_separate_questions() {
    let env = TestEnv::with_editor("x\nx\n");
    let bob = |args: &[&str]| env.as_reader("bob", args);
    env.run("editor.replace('x', 'mine')").exits(5);
    bob(&["answer", "all"]).exits(3).has("no question is open");
    bob(&["view"]).ok();
    bob(&["run", "editor.insert(1, 'bob was here')"]).ok();
    env.pipemux(&["answer", "2"]).ok();
    env.run("editor.save()").ok();
    assert_eq!(env.read("a.txt"), "bob was here\nx\nmine\n");
}

#[test]
fn workspaces_are_isolated() {
    let env = TestEnv::new();
    let there = |args: &[&str]| env.in_workspace("there", args);
    env.pipemux(&["open", "notebook"]).ok();
    let entry = env.run("notebook.add('secret', 'x')").ok().obj("secret");
    there(&["view"]).ok().lacks("notebook").lacks("secret");
    there(&["read", &format!("obj:{entry}")]).exits(3).lacks("x\n");
    // A call there opens a notebook of its own.
    there(&["run", "notebook.search('x')"]).ok().has("0 of 0 notes").lacks("secret");
    there(&["open", "notebook"]).ok().has("0 entries").lacks("secret");
    there(&["end", "notebook/main"]).ok();
    env.pipemux(&["view"]).ok().has("secret");
    // The monitor has the scope of the user, so both workspaces share one process.
    env.pipemux(&["open", "monitor"]).ok();
    there(&["open", "monitor"]).ok();
    assert_eq!(env.count_processes("pipemux-monitor"), 1, "{:?}", env.processes());
    let inner = env.project().join("src/deep");
    fs::create_dir_all(&inner).unwrap();
    env.command(&["view"])
        .current_dir(inner.clone())
        .output()
        .ok()
        .has("secret")
        .has("workspace proj");
    // A symbolic link to the project leads to the same workspace.
    let link = env.root().join("link");
    std::os::unix::fs::symlink(inner, &link).unwrap();
    env.command(&["view"]).current_dir(link).output().ok().has("workspace proj");
}

#[test]
fn close_keeps_the_session_and_end_ends_it() {
    let env = TestEnv::with_editor("one\n");
    let editor = env.pid("editor/main");
    env.run("editor.hold(); editor.insert(1, 'unsaved')").ok();
    env.pipemux(&["close", "editor/main"]).ok().has("it runs on");
    env.pipemux(&["view"]).ok().lacks("## editor/main");
    assert_eq!(env.read("a.txt"), "one\n");
    env.pipemux(&["close", "editor/main"]).exits(3);
    env.pipemux(&["open", "editor"]).ok().has("unsaved");
    assert_eq!(env.pid("editor/main"), editor);
    // A call opens it again as well: it is the same session.
    env.pipemux(&["close", "editor/main"]).ok();
    env.run("editor.insert(1, 'first')").ok();
    env.pipemux(&["view"]).ok().has("## editor/main").has("unsaved").has("first");
    assert_eq!((env.pid("editor/main"), env.read("a.txt")), (editor, "one\n".to_owned()));

    env.pipemux(&["restart", "editor/main"]).ok();
    wait_for("the former process has ended", || !is_alive(editor));
    env.pipemux(&["view"]).ok().has("unsaved").lacks("killed");

    env.pipemux(&["end", "editor/main"]).ok();
    env.pipemux(&["view"]).ok().lacks("## editor/main");
    assert!(env.sessions().is_empty());
    env.pipemux(&["open", "notebook"]).ok();
    env.pipemux(&["close", "notebook/main", "--end"]).ok();
    assert!(env.sessions().is_empty());
}

#[test]
fn daemon_releases_descriptors_of_ended_sessions() {
    let env = TestEnv::with_rogue();
    let daemon = env.daemon_pid();
    let open = || open_descriptors(daemon).expect("descriptors can be counted");
    let before = open();
    for _ in 0..5 {
        env.pipemux(&["open", "rogue/two"]).ok();
        env.run("rogue/two.misbehave('exit')").exits(7);
        env.pipemux(&["end", "rogue/two"]).ok();
    }
    wait_for("the descriptors are released", || open() <= before);
}

#[test]
fn question_survives_its_killed_app() {
    let env = TestEnv::with_editor("x\nx\n");
    env.run("editor.replace('x', 'y'); editor.save()").exits(5);
    env.kill_session("editor/main");
    env.pipemux(&["answer", "all"]).ok().has("2 matches");
    assert_eq!(env.read("a.txt"), "y\ny\n");
}

#[test]
fn question_survives_the_killed_daemon() {
    let env = TestEnv::with_editor("x\nx\n");
    let all = env.run("editor.replace('x', 'y'); editor.save()").exits(5).link("all");
    env.kill_daemon();
    env.run("editor.save()").exits(5).has("2 matches");
    // Links are not saved, and their ids are never reused.
    let clicked = env.pipemux(&["click", &all.to_string()]);
    clicked.exits(3).has("not found in current context");
    env.pipemux(&["answer", "all"]).ok().has("save");
    assert_eq!(env.read("a.txt"), "y\ny\n");
}

#[test]
fn daemon_starts_with_corrupt_state_and_says_so() {
    let env = TestEnv::with_notebook();
    env.run("notebook.add('kept by its app', 'x')").ok();
    env.pipemux(&["down"]).ok();
    let state = env.paths().state_dir.join("state.log");
    fs::write(&state, b"\xff\x00 not what was written \xff".repeat(100)).unwrap();
    env.pipemux(&["view"]).ok();
    assert!(env.daemon_log().contains("state"), "{}", env.daemon_log());
    env.pipemux(&["open", "notebook"]).ok().has("kept by its app");
}

#[test]
fn concurrent_opens_make_one_process() {
    let env = TestEnv::new();
    let opens: Vec<_> = (0..8)
        .map(|number| {
            let open = env.command(&["open", "notebook"]);
            open.reader(&format!("reader {number}")).start()
        })
        .collect();
    for open in opens {
        open.finish().ok().has("## notebook/main");
    }
    assert_eq!(env.count_processes("pipemux-notebook"), 1, "{:?}", env.processes());
    assert_eq!(env.sessions().len(), 1);
}

/// A socket that leads to another machine, as `ssh -L` makes it: once that way is gone, no daemon
/// of this machine answers in its place.
#[test]
fn daemon_of_another_machine_is_not_replaced_by_one_of_this() {
    let there = TestEnv::with_notebook();
    there.run("notebook.add('there', 'x')").ok();
    let here = TestEnv::new();
    let (far, near) = (there.paths(), here.paths());
    fs::create_dir_all(&near.runtime_dir).expect("a directory");
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&near.runtime_dir, private).expect("permissions");
    // What listens here is the other one.
    std::os::unix::fs::symlink(&far.socket, &near.socket).expect("a link");
    here.pipemux(&["status"]).ok();
    let mut long = TestClient::new(&here, None, "long");
    let patience = Duration::from_secs(20);
    long.view(None, patience);
    there.kill_daemon();
    fs::remove_file(&near.socket).expect("the link");
    let refused = here.pipemux(&["open", "notebook"]);
    refused.exits(8).has("led to the daemon on").has("connect the way to it again").has("rm ");
    assert!(here.daemon_log().is_empty(), "none was started");
    // Who says so gets one of this machine.
    fs::remove_file(near.elsewhere_file()).expect("the file");
    here.pipemux(&["open", "notebook"]).ok();
    // A client that was connected before isn't answered by it.
    long.view(None, patience);
    let told = long.run("notebook.add('here', 'y')", patience);
    assert!(told.text.contains("another daemon answers than before"), "{}", told.text);
    here.run("notebook.filter([])").ok().lacks("here");
    there.pipemux(&["up"]).ok();
}
