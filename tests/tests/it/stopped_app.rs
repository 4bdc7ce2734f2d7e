//! One app is stopped with SIGSTOP, and nothing else waits for it.

use pipemux_tests::{Signal, TestEnv, kill};

#[test]
fn stopped_app_delays_no_other_and_fails_at_the_deadline() {
    let env = TestEnv::with_editor("one\n");
    env.pipemux(&["open", "notebook"]).ok();
    let stopped = env.pid("notebook/main");
    kill(stopped, Signal::SIGSTOP);

    let hanging = ["run", "notebook.add('x', 'y')", "--timeout", "2"];
    let hanging = env.command(&hanging).start();
    env.run("editor.insert(1, 'zero'); editor.save()").ok();
    env.pipemux(&["view", "editor/main"]).ok().has("zero");
    for verb in ["sessions", "apps", "status"] {
        env.pipemux(&[verb]).ok();
    }
    env.pipemux(&["help", "notebook"]).ok().has("search(words");
    env.pipemux(&["help", "notebook", "--full"]).ok().has("function search");
    env.pipemux(&["logs", "notebook/main"]).ok();
    assert!(hanging.is_running(), "the other commands were answered while it hung");
    let hung = hanging.finish();
    hung.exits(7).has("notebook/main did not answer in time");
    // The view shows the last known window of the stopped app, marked as busy.
    env.pipemux(&["view"]).ok().has("zero").has("## notebook/main").has("busy");

    kill(stopped, Signal::SIGCONT);
    env.run("notebook.add('after', 'it works again')").ok().has("after");
    assert_eq!(env.pid("notebook/main"), stopped, "the same process");
}

#[test]
fn stopped_app_can_be_ended() {
    let env = TestEnv::with_notebook();
    kill(env.pid("notebook/main"), Signal::SIGSTOP);
    env.pipemux(&["end", "notebook/main"]).ok();
    assert!(env.sessions().is_empty());
}
