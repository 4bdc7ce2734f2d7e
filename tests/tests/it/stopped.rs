//! One app is stopped: nothing else waits for it.

use pipemux_tests::{Signal, World, kill};

#[test]
fn the_others_answer_and_the_stopped_ones_request_ends_at_its_deadline() {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    let stopped = world.pid("notebook/main");
    kill(stopped, Signal::SIGSTOP);

    let hanging = ["run", "notebook.add('x', 'y')", "--timeout", "2"];
    let hanging = world.command(&hanging).start();
    world.run("editor.insert(1, 'zero'); editor.save()").ok();
    world.pipemux(&["view", "editor/main"]).ok().has("zero");
    for verb in ["sessions", "apps", "status"] {
        world.pipemux(&[verb]).ok();
    }
    world.pipemux(&["help", "notebook"]).ok().has("function search");
    world.pipemux(&["logs", "notebook/main"]).ok();
    assert!(hanging.is_running(), "all that was answered while it hung");
    let hung = hanging.finish();
    assert!(matches!(hung.exit, 6 | 7), "{hung}");
    hung.has("notebook/main did not answer in time");
    // The whole document is shown with the last known window, and says that it is one.
    world.pipemux(&["view"]).ok().has("zero").has("## notebook/main").has("busy");

    kill(stopped, Signal::SIGCONT);
    world.run("notebook.add('after', 'it works again')").ok().has("after");
    assert_eq!(world.pid("notebook/main"), stopped, "the same process");
}

#[test]
fn ending_a_stopped_app_works() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    kill(world.pid("notebook/main"), Signal::SIGSTOP);
    world.pipemux(&["end", "notebook/main"]).ok();
    assert!(world.sessions().is_empty());
}
