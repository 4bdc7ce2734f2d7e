//! The monitor, and crashes of one app while another has unsaved changes.

use pipemux_tests::{Signal, TestEnv, is_alive, kill, wait_for};

#[test]
fn killed_monitor_restarts_and_says_so_once() {
    let env = TestEnv::with_editor("one\n");
    env.pipemux(&["open", "monitor"]).ok().has("## monitor/main").has("CPU");
    env.run("editor.hold(); editor.insert(2, 'unsaved')").ok();
    let (editor, monitor) = (env.pid("editor/main"), env.pid("monitor/main"));
    kill(monitor, Signal::SIGKILL);
    wait_for("the monitor's end", || !is_alive(monitor));

    let view = env.pipemux(&["view"]);
    view.ok().has("unsaved").has("monitor/main was restarted").has("signal 9").has("CPU");
    env.pipemux(&["view"]).ok().lacks("was restarted");
    assert_eq!(env.pid("editor/main"), editor);
    assert_ne!(env.pid("monitor/main"), monitor);
    env.run("editor.save()").ok();
    assert_eq!(env.read("a.txt"), "one\nunsaved\n");
}

#[test]
fn killed_editor_keeps_unsaved_edits() {
    let env = TestEnv::with_editor("one\n");
    env.run("editor.hold(); editor.insert(2, 'unsaved')").ok();
    env.kill_session("editor/main");
    env.pipemux(&["view"]).ok().has("unsaved").has("was restarted");
    env.run("editor.save()").ok();
    assert_eq!(env.read("a.txt"), "one\nunsaved\n");
}

#[test]
fn monitor_gist_is_one_line_and_resources_expand() {
    let env = TestEnv::new();
    let opened = env.pipemux(&["open", "monitor"]);
    opened.ok().has("%](obj:state:cpu_load)");
    let gist = env.pipemux(&["view", "monitor/main", "--lod", "gist"]);
    assert!(gist.ok().lines() <= 4, "{gist}");
    env.run("monitor.expand(obj:state:memory)").ok().has(" · available ");
    env.pipemux(&["read", "obj:state:cpu_load"]).ok().has("CPU ");
    env.run("monitor.top(3, by='mem')").ok().has("3 of ").has(" processes by memory");
    env.run("monitor.top(3, by='colour')").exits(2).has("cpu");
}
