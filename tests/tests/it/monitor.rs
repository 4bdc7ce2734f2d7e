//! The monitor dies while the editor holds unsaved work.

use pipemux_tests::{Signal, World, is_alive, kill, wait_until};

#[test]
fn a_killed_monitor_comes_back_and_says_so_once_and_the_edit_is_there() {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.pipemux(&["open", "monitor"]).ok().has("## monitor/main").has("CPU");
    world.run("editor.insert(2, 'unsaved')").ok();
    let (editor, monitor) = (world.pid("editor/main"), world.pid("monitor/main"));
    kill(monitor, Signal::SIGKILL);
    wait_until("the monitor's end", || (!is_alive(monitor)).then_some(()));

    let view = world.pipemux(&["view"]);
    view.ok().has("unsaved").has("monitor/main was restarted").has("signal 9").has("CPU");
    world.pipemux(&["view"]).ok().lacks("was restarted");
    assert_eq!(world.pid("editor/main"), editor);
    assert_ne!(world.pid("monitor/main"), monitor);
    world.run("editor.save()").ok();
    assert_eq!(world.read("a.txt"), "one\nunsaved\n");
}

#[test]
fn a_killed_editor_has_the_unsaved_edit_still() {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.run("editor.insert(2, 'unsaved')").ok();
    let editor = world.pid("editor/main");
    kill(editor, Signal::SIGKILL);
    wait_until("the editor's end", || (!is_alive(editor)).then_some(()));
    world.pipemux(&["view"]).ok().has("unsaved").has("was restarted");
    world.run("editor.save()").ok();
    assert_eq!(world.read("a.txt"), "one\nunsaved\n");
}

#[test]
fn gist_is_one_line_and_resources_expand() {
    let world = World::new();
    let opened = world.pipemux(&["open", "monitor"]);
    let memory = opened.ok().obj("memory");
    let gist = world.pipemux(&["view", "monitor/main", "--lod", "gist"]);
    assert!(gist.ok().lines() <= 4, "{gist}");
    world.run(&format!("monitor.expand(obj:{memory})")).ok();
    world.run("monitor.top(3, by='mem')").ok().has("3 by memory");
    world.run("monitor.top(3, by='colour')").exits(2).has("cpu");
}
