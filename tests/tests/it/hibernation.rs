//! Unused sessions hibernate, and readers see no difference.

use pipemux_tests::{TestEnv, is_alive, wait_for};

/// An environment whose editor and notebook hibernate after 300 ms.
fn with_short_idle() -> TestEnv {
    let env = TestEnv::new();
    env.install("editor", "pipemux-editor", "idle = \"300ms\"\nfolder = \"write\"\n");
    env.install("notebook", "pipemux-notebook", "idle = \"300ms\"\n");
    env
}

fn wait_for_sleep(env: &TestEnv, session: &str) {
    wait_for("the session hibernates", || {
        let rows = env.sessions();
        rows.iter().any(|row| row.session == session && row.state == "asleep")
    });
}

#[test]
fn woken_session_looks_and_works_as_before() {
    let env = with_short_idle();
    env.write("a.txt", "one\ntwo\nthree\nfour\n");
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    env.run("editor.replace_lines(2, 2, 'zwei 二')").ok();
    // The first view also shows the prototypes, which are shown once.
    env.pipemux(&["view", "--lod", "full"]).ok();
    let before = env.pipemux(&["view", "--lod", "full"]).ok().text();
    let pid = env.pid("editor/main");
    wait_for_sleep(&env, "editor/main");
    assert!(!is_alive(pid), "a hibernating session has no process");
    let woken = env.pipemux(&["view", "--lod", "full"]);
    assert_eq!(woken.ok().text(), before, "the same bytes, the same epoch");
    wait_for_sleep(&env, "editor/main");
    // Line numbers keep their meaning, and earlier changes can be undone.
    env.run("editor.delete_lines(3, 3)").ok().lacks("restarted");
    wait_for_sleep(&env, "editor/main");
    env.run("editor.undo(); editor.undo()").ok();
    env.run("editor.save()").ok();
    assert_eq!(env.read("a.txt"), "one\ntwo\nthree\nfour\n");
    env.pipemux(&["history"]).has("delete_lines");
}

#[test]
fn unsaved_text_survives_hibernation_and_a_killed_daemon() {
    let env = with_short_idle();
    env.write("a.txt", "one\n");
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    env.run("editor.hold(); editor.insert(2, 'unsaved')").ok();
    wait_for_sleep(&env, "editor/main");
    pipemux_tests::kill(env.daemon_pid(), pipemux_tests::Signal::SIGKILL);
    env.pipemux(&["view"]).ok().has("unsaved");
    assert_eq!(env.read("a.txt"), "one\n", "a held edit is written only by save");
}

#[test]
fn pinned_session_does_not_hibernate() {
    let env = with_short_idle();
    env.pipemux(&["open", "notebook", "--pin"]).ok();
    env.pipemux(&["open", "notebook/b"]).ok();
    wait_for_sleep(&env, "notebook/b");
    let pid = env.pid("notebook/main");
    env.pipemux(&["open", "notebook", "--unpin"]).ok();
    wait_for_sleep(&env, "notebook/main");
    assert!(!is_alive(pid));
}
