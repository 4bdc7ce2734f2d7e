//! Sessions that nobody uses sleep, and nobody sees a difference.

use pipemux_tests::{World, is_alive, wait_until};

/// A world whose editor and notebook sleep after a moment.
fn world() -> World {
    let world = World::new();
    world.install("editor", "pipemux-editor", "idle = \"300ms\"\n");
    world.install("notebook", "pipemux-notebook", "idle = \"300ms\"\n");
    world
}

fn wait_for_sleep(world: &World, session: &str) {
    wait_until("the session sleeps", || {
        let rows = world.sessions();
        rows.iter().any(|row| row.session == session && row.state == "asleep").then_some(())
    });
}

#[test]
fn a_desk_that_slept_looks_and_works_as_it_did() {
    let world = world();
    world.write("a.txt", "one\ntwo\nthree\nfour\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.run("editor.replace_lines(2, 2, 'zwei 二')").ok();
    // Declarations are shown once.
    world.pipemux(&["view", "--lod", "full"]).ok();
    let before = world.pipemux(&["view", "--lod", "full"]).ok().text();
    let pid = world.pid("editor/main");
    wait_for_sleep(&world, "editor/main");
    assert!(!is_alive(pid), "it sleeps, its process does not");
    let woken = world.pipemux(&["view", "--lod", "full"]);
    assert_eq!(woken.ok().text(), before, "the same bytes, the same epoch");
    wait_for_sleep(&world, "editor/main");
    // The number of a line that was seen before means that line; what was done can be undone.
    world.run("editor.delete_lines(3, 3)").ok().lacks("restarted");
    wait_for_sleep(&world, "editor/main");
    world.run("editor.undo(); editor.undo()").ok();
    world.run("editor.save()").ok();
    assert_eq!(world.read("a.txt"), "one\ntwo\nthree\nfour\n");
    world.pipemux(&["history"]).has("delete_lines");
}

#[test]
fn unsaved_text_survives_its_sleep_and_the_loss_of_the_daemon() {
    let world = world();
    world.write("a.txt", "one\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.run("editor.insert(2, 'unsaved')").ok();
    wait_for_sleep(&world, "editor/main");
    pipemux_tests::kill(world.daemon(), pipemux_tests::Signal::SIGKILL);
    world.pipemux(&["view"]).ok().has("unsaved");
    assert_eq!(world.read("a.txt"), "one\n", "nothing is written by itself");
}

#[test]
fn a_pinned_session_stays_awake() {
    let world = world();
    world.pipemux(&["open", "notebook", "--pin"]).ok();
    world.pipemux(&["open", "notebook/b"]).ok();
    wait_for_sleep(&world, "notebook/b");
    let pid = world.pid("notebook/main");
    world.pipemux(&["open", "notebook", "--unpin"]).ok();
    wait_for_sleep(&world, "notebook/main");
    assert!(!is_alive(pid));
}
