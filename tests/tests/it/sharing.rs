//! One process for all sessions of a provider, where its manifest says so.

use pipemux_tests::{Signal, World, is_alive, kill, wait_until};

fn world() -> World {
    let world = World::new();
    world.install("notebook", "pipemux-notebook", "isolation = \"provider\"\n");
    world
}

#[test]
fn sessions_of_two_projects_share_a_process_and_nothing_else() {
    let world = world();
    for (workspace, session) in [("one", "notebook"), ("two", "notebook"), ("one", "notebook/b")] {
        world.pipemux(&["--workspace", workspace, "open", session]).ok();
    }
    let pids: Vec<_> = world.sessions().iter().map(|row| row.pid).collect();
    assert_eq!(pids.len(), 3);
    assert!(pids.iter().all(|pid| pid.is_some() && *pid == pids[0]), "{pids:?}");
    world.pipemux(&["--workspace", "one", "run", "notebook.add('secret', 'of one')"]).ok();
    world.pipemux(&["--workspace", "two", "run", "notebook.search('secret')"]).ok().lacks("of one");
    world.pipemux(&["--workspace", "one", "view", "notebook/b"]).ok().lacks("secret");
    world.pipemux(&["--workspace", "one", "end", "notebook/b"]).ok();
    world.pipemux(&["--workspace", "one", "view"]).ok().has("secret").lacks("restarted");
    let pid = pids[0].expect("a process");
    kill(pid, Signal::SIGKILL);
    for workspace in ["one", "two"] {
        world.pipemux(&["--workspace", workspace, "view"]).ok().has("was restarted");
    }
    world.pipemux(&["--workspace", "one", "view"]).ok().has("secret");
    for workspace in ["one", "two"] {
        world.pipemux(&["--workspace", workspace, "end", "notebook"]).ok();
    }
    wait_until("the process ends with its last session", || {
        let left = world.processes();
        (!left.iter().any(|process| process.command.contains("pipemux-notebook"))).then_some(())
    });
    assert!(!is_alive(pid));
    world.pipemux(&["down"]).ok();
    world.assert_clean();
}
