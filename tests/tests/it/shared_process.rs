//! A provider whose manifest asks for it has one process for all its sessions.

use pipemux_tests::{Signal, TestEnv, is_alive, kill, wait_for};

fn with_shared_notebook() -> TestEnv {
    let env = TestEnv::new();
    env.install("notebook", "pipemux-notebook", "isolation = \"provider\"\n");
    env
}

#[test]
fn sessions_share_one_process_and_no_data() {
    let env = with_shared_notebook();
    for (workspace, session) in [("one", "notebook"), ("two", "notebook"), ("one", "notebook/b")] {
        env.pipemux(&["--workspace", workspace, "open", session]).ok();
    }
    let pids: Vec<_> = env.sessions().iter().map(|row| row.pid).collect();
    assert_eq!(pids.len(), 3);
    assert!(pids.iter().all(|pid| pid.is_some() && *pid == pids[0]), "{pids:?}");
    env.pipemux(&["--workspace", "one", "run", "notebook.add('secret', 'of one')"]).ok();
    env.pipemux(&["--workspace", "two", "run", "notebook.search('secret')"]).ok().lacks("of one");
    env.pipemux(&["--workspace", "one", "view", "notebook/b"]).ok().lacks("secret");
    env.pipemux(&["--workspace", "one", "end", "notebook/b"]).ok();
    env.pipemux(&["--workspace", "one", "view"]).ok().has("secret").lacks("restarted");
    let pid = pids[0].expect("a process");
    kill(pid, Signal::SIGKILL);
    for workspace in ["one", "two"] {
        env.pipemux(&["--workspace", workspace, "view"]).ok().has("was restarted");
    }
    env.pipemux(&["--workspace", "one", "view"]).ok().has("secret");
    for workspace in ["one", "two"] {
        env.pipemux(&["--workspace", workspace, "end", "notebook"]).ok();
    }
    wait_for("the process has ended with its last session", || {
        let left = env.processes();
        !left.iter().any(|process| process.command.contains("pipemux-notebook"))
    });
    assert!(!is_alive(pid));
    env.pipemux(&["down"]).ok();
    env.assert_clean();
}
