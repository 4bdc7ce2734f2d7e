//! Nothing that an app started outlives it, however it tried to escape.

use std::fs;
use std::io::Read;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pipemux_launcher::{Order, StopSignal, Termination, leftovers};

use crate::harness::{Launcher, processes_in, wait_for, wait_until_gone};

#[test]
fn signals_reach_the_group_and_it_ends_with_its_leader() {
    let mut launcher = Launcher::start();
    launcher.start_script(1, "sleep 1000 & echo $!; wait");
    let member = launcher.printed_pid(1);
    launcher.order(&Order::Signal { incarnation: 1, signal: StopSignal::Terminate }, vec![]);
    assert_eq!(launcher.exit_of(1), Termination::Signal(15));
    wait_until_gone(member);

    // The leader exits by itself, and the rest of its group is killed.
    launcher.start_script(2, "trap '' TERM; sleep 1000 & echo $!; exit 5");
    let member = launcher.printed_pid(2);
    assert_eq!(launcher.exit_of(2), Termination::Code(5));
    wait_until_gone(member);

    // An app that ignores SIGTERM survives that, but not SIGKILL.
    let mut app = launcher
        .start_script(3, "trap 'echo no >&3' TERM; echo up >&3; while :; do sleep 0.01; done");
    let mut said = [0; 3];
    app.read_exact(&mut said).unwrap();
    launcher.order(&Order::Signal { incarnation: 3, signal: StopSignal::Terminate }, vec![]);
    app.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"no\n");
    launcher.order(&Order::Signal { incarnation: 3, signal: StopSignal::Kill }, vec![]);
    assert_eq!(launcher.exit_of(3), Termination::Signal(9));
    // Signals to an app that exited are ignored.
    launcher.order(&Order::Signal { incarnation: 3, signal: StopSignal::Kill }, vec![]);
    launcher.start_script(4, "exit 0");
    assert_eq!(launcher.exit_of(4), Termination::Code(0));
}

#[test]
fn when_the_daemon_is_gone_every_descendant_is_killed() {
    let mut launcher = Launcher::start();
    // A background process in a session of its own, whose parent exited, with a child that ignores
    // signals, too.
    launcher.start_script(
        1,
        "trap '' TERM HUP; (setsid sh -c 'echo $$; sh -c \"echo \\$\\$; sleep 1000\" & sleep 1000' &) ; \
         echo $$; sleep 1000",
    );
    // A process that forks and exits without end.
    launcher
        .start_script(2, "cat > f.sh <<'E'\nsh f.sh &\nE\necho $$; setsid sh f.sh & sleep 1000");
    let pids = launcher.printed_pids(1, 3);
    let chain = launcher.printed_pid(2);
    // Each link of the chain is a new process.
    let directory = launcher.directory.path().to_owned();
    let before = wait_for(|| Some(processes_in(&directory)).filter(|found| found.len() > 4));
    wait_for(|| processes_in(&directory).iter().any(|pid| !before.contains(pid)).then_some(()));
    launcher.end();
    for pid in pids.into_iter().chain([chain]) {
        wait_until_gone(pid);
    }
    assert_eq!(processes_in(&directory), Vec::<i32>::new());
}

#[test]
fn launcher_ignores_signals_and_its_children_die_with_it() {
    let mut launcher = Launcher::start();
    launcher.start_script(1, "echo $$; exec sleep 1000");
    let app = launcher.printed_pid(1);
    let own = Pid::from_raw(launcher.process.id() as i32);
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT] {
        kill(own, signal).unwrap();
    }
    launcher.start_script(2, "exit 6");
    assert_eq!(launcher.exit_of(2), Termination::Code(6));
    assert!(kill(app, None).is_ok());
    kill(own, Signal::SIGKILL).unwrap();
    launcher.process.wait().unwrap();
    wait_until_gone(app);
}

/// Each process escapes in its own way and prints its process id.
const RUNAWAYS: &str = "trap '' TERM HUP
(setsid sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' &)
(env -i setsid sh -c 'echo $$; exec sleep 1000' >&1 &)
setsid sh -c '(setsid sh -c \"echo \\$\\$; sleep 1000 & exec sleep 1000\" &); exec sleep 1000' &
(cd /; exec sh -c 'echo $$; kill -STOP $$; sleep 1000' &)
";

#[test]
fn runaways_die_with_their_own_app_only() {
    let mut launcher = Launcher::start();
    launcher.start_script(1, &format!("{RUNAWAYS} exec sleep 1000"));
    launcher.start_script(2, &format!("{RUNAWAYS} exec sleep 1000"));
    launcher.start_script(3, &format!("{RUNAWAYS} sleep 0.05; exit 3"));
    let [first, second, third] = [1, 2, 3].map(|app| launcher.printed_pids(app, 4));
    // Ended by itself, by a signal, and finally with the launcher.
    assert_eq!(launcher.exit_of(3), Termination::Code(3));
    assert!(third.iter().all(has_ended), "told before its descendants were gone");
    launcher.order(&Order::Signal { incarnation: 1, signal: StopSignal::Kill }, vec![]);
    assert_eq!(launcher.exit_of(1), Termination::Signal(9));
    assert!(first.iter().all(has_ended), "told before its descendants were gone");
    assert!(second.iter().all(|pid| kill(*pid, None).is_ok()), "a sibling's were killed");
    launcher.end();
    second.iter().for_each(|pid| wait_until_gone(*pid));
}

#[test]
fn endless_chain_of_sessions_is_killed() {
    let mut launcher = Launcher::start();
    // Each process starts the next one in a new session and exits: group, parent and process id all
    // change.
    let chain = "cat > f.sh <<'E'\nsetsid sh f.sh &\nE\nsetsid sh f.sh & echo $$; exec sleep 1000";
    launcher.start_script(1, chain);
    launcher.printed_pid(1);
    let directory = launcher.directory.path().to_owned();
    let before = wait_for(|| Some(processes_in(&directory)).filter(|found| found.len() > 1));
    wait_for(|| processes_in(&directory).iter().any(|pid| !before.contains(pid)).then_some(()));
    launcher.order(&Order::Signal { incarnation: 1, signal: StopSignal::Kill }, vec![]);
    assert_eq!(launcher.exit_of(1), Termination::Signal(9));
    assert_eq!(processes_in(&directory), Vec::<i32>::new());
}

#[test]
fn flood_of_orphans_delays_no_other_app() {
    let mut launcher = Launcher::start();
    launcher.start_script(1, "while :; do (sh -c 'setsid true &' &); done");
    for app in 2..12 {
        launcher.start_script(app, "exit 5");
        assert_eq!(launcher.exit_of(app), Termination::Code(5));
    }
    launcher.order(&Order::Signal { incarnation: 1, signal: StopSignal::Kill }, vec![]);
    assert_eq!(launcher.exit_of(1), Termination::Signal(9));
}

#[test]
fn processes_that_outlive_the_launcher_are_found_by_mark() {
    let mut launcher = Launcher::start();
    let origin = launcher.origin();
    launcher.start_script(1, &format!("{RUNAWAYS} exec sleep 1000"));
    let pids = launcher.printed_pids(1, 4);
    let launcher_pid = launcher.process.id() as i32;
    // While the launcher lives, its processes are no leftovers.
    assert_eq!(leftovers::find(origin, Some(launcher_pid)), []);
    launcher.process.kill().unwrap();
    launcher.process.wait().unwrap();
    // While a process executes another program its command can't be read.
    let found = wait_for(|| {
        let found = leftovers::find(origin, None);
        found.iter().all(|one| !one.command.is_empty()).then_some(found)
    });
    for pid in &pids {
        let own = found.iter().find(|one| one.pid == pid.as_raw()).unwrap();
        assert!(own.command.contains("sleep") || own.command.contains("sh -c"), "{own:?}");
    }
    let (ended, all) = leftovers::end(origin, None, Duration::from_secs(10));
    assert!(all && ended.len() >= pids.len(), "{ended:?}");
    pids.iter().for_each(|pid| wait_until_gone(*pid));
    assert_eq!(leftovers::end(origin, None, Duration::ZERO), (vec![], true));
}

#[test]
fn process_without_its_mark_is_killed_as_an_orphan() {
    let mut launcher = Launcher::start();
    // The shells name RLIMIT_LOCKS differently: bash has `ulimit -x`, dash `-w`.
    let unmark = "ulimit -S -x unlimited 2>/dev/null || ulimit -S -w unlimited";
    launcher.start_script(
        1,
        &format!("( ({unmark}; exec setsid sh -c 'echo $$; exec sleep 1000') &); exec sleep 1000"),
    );
    launcher.start_script(2, "exec sleep 1000");
    let unmarked = launcher.printed_pid(1);
    let limits = fs::read_to_string(format!("/proc/{unmarked}/limits")).unwrap();
    let locks = limits.lines().find(|line| line.starts_with("Max file locks")).unwrap();
    assert_eq!(locks.matches("unlimited").count(), 2, "{locks}");
    launcher.order(&Order::Signal { incarnation: 1, signal: StopSignal::Kill }, vec![]);
    assert_eq!(launcher.exit_of(1), Termination::Signal(9));
    assert!(has_ended(&unmarked));
}

fn has_ended(pid: &Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.is_empty() || status.contains(") Z")
}
