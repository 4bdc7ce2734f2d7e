//! Nothing that an app started outlives it, whatever it did to get away.

use std::fs;
use std::io::Read;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pipemux_launcher::{Order, StopSignal, Termination, leftovers};

use crate::harness::{Launcher, gone, processes_in, until};

#[test]
fn signals_reach_the_whole_group_and_a_leaders_end_ends_it() {
    let mut launcher = Launcher::start();
    launcher.sh(1, "sleep 1000 & echo $!; wait");
    let member = launcher.printed_pid(1);
    launcher.order(&Order::Signal { incarnation: 1, signal: StopSignal::Terminate }, vec![]);
    assert_eq!(launcher.exit_of(1), Termination::Signal(15));
    gone(member);

    // The leader ends by itself; what it left in its group goes with it.
    launcher.sh(2, "trap '' TERM; sleep 1000 & echo $!; exit 5");
    let member = launcher.printed_pid(2);
    assert_eq!(launcher.exit_of(2), Termination::Code(5));
    gone(member);

    // One that ignores SIGTERM is alive after it, and not after SIGKILL.
    let mut app =
        launcher.sh(3, "trap 'echo no >&3' TERM; echo up >&3; while :; do sleep 0.01; done");
    let mut said = [0; 3];
    app.read_exact(&mut said).unwrap();
    launcher.order(&Order::Signal { incarnation: 3, signal: StopSignal::Terminate }, vec![]);
    app.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"no\n");
    launcher.order(&Order::Signal { incarnation: 3, signal: StopSignal::Kill }, vec![]);
    assert_eq!(launcher.exit_of(3), Termination::Signal(9));
    // Nobody is there any more: passed over.
    launcher.order(&Order::Signal { incarnation: 3, signal: StopSignal::Kill }, vec![]);
    launcher.sh(4, "exit 0");
    assert_eq!(launcher.exit_of(4), Termination::Code(0));
}

#[test]
fn when_the_daemon_is_gone_every_descendant_is_killed() {
    let mut launcher = Launcher::start();
    // A daemon of its own session whose parent ended, with a child that ignores signals too.
    launcher.sh(
        1,
        "trap '' TERM HUP; (setsid sh -c 'echo $$; sh -c \"echo \\$\\$; sleep 1000\" & sleep 1000' &) ; \
         echo $$; sleep 1000",
    );
    // One that forks and ends without end.
    launcher.sh(2, "cat > f.sh <<'E'\nsh f.sh &\nE\necho $$; setsid sh f.sh & sleep 1000");
    let pids = launcher.printed_pids(1, 3);
    let chain = launcher.printed_pid(2);
    // The chain moves on: its process is another one each time.
    let directory = launcher.directory.path().to_owned();
    let before = until(|| Some(processes_in(&directory)).filter(|found| found.len() > 4));
    until(|| processes_in(&directory).iter().any(|pid| !before.contains(pid)).then_some(()));
    launcher.end();
    for pid in pids.into_iter().chain([chain]) {
        gone(pid);
    }
    assert_eq!(processes_in(&directory), Vec::<i32>::new());
}

#[test]
fn it_outlives_signals_and_when_it_is_killed_its_children_die_too() {
    let mut launcher = Launcher::start();
    launcher.sh(1, "echo $$; exec sleep 1000");
    let app = launcher.printed_pid(1);
    let own = Pid::from_raw(launcher.process.id() as i32);
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT] {
        kill(own, signal).unwrap();
    }
    launcher.sh(2, "exit 6");
    assert_eq!(launcher.exit_of(2), Termination::Code(6));
    assert!(kill(app, None).is_ok());
    kill(own, Signal::SIGKILL).unwrap();
    launcher.process.wait().unwrap();
    gone(app);
}

/// Each gets away in a way of its own, and says who it is.
const RUNAWAYS: &str = "trap '' TERM HUP
(setsid sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' &)
(env -i setsid sh -c 'echo $$; exec sleep 1000' >&1 &)
setsid sh -c '(setsid sh -c \"echo \\$\\$; sleep 1000 & exec sleep 1000\" &); exec sleep 1000' &
(cd /; exec sh -c 'echo $$; kill -STOP $$; sleep 1000' &)
";

#[test]
fn what_left_the_group_dies_with_its_app_and_only_with_that() {
    let mut launcher = Launcher::start();
    launcher.sh(1, &format!("{RUNAWAYS} exec sleep 1000"));
    launcher.sh(2, &format!("{RUNAWAYS} exec sleep 1000"));
    launcher.sh(3, &format!("{RUNAWAYS} sleep 0.05; exit 3"));
    let [first, second, third] = [1, 2, 3].map(|app| launcher.printed_pids(app, 4));
    // By itself, by a signal, and at last with the launcher.
    assert_eq!(launcher.exit_of(3), Termination::Code(3));
    assert!(third.iter().all(is_gone), "told before its descendants were gone");
    launcher.order(&Order::Signal { incarnation: 1, signal: StopSignal::Kill }, vec![]);
    assert_eq!(launcher.exit_of(1), Termination::Signal(9));
    assert!(first.iter().all(is_gone), "told before its descendants were gone");
    assert!(second.iter().all(|pid| kill(*pid, None).is_ok()), "a sibling's were killed");
    launcher.end();
    second.iter().for_each(|pid| gone(*pid));
}

#[test]
fn a_chain_of_sessions_that_never_rests_is_caught() {
    let mut launcher = Launcher::start();
    // Each starts the next in a session of its own and ends: no group, no parent, no pid to hold on to.
    let chain = "cat > f.sh <<'E'\nsetsid sh f.sh &\nE\nsetsid sh f.sh & echo $$; exec sleep 1000";
    launcher.sh(1, chain);
    launcher.printed_pid(1);
    let directory = launcher.directory.path().to_owned();
    let before = until(|| Some(processes_in(&directory)).filter(|found| found.len() > 1));
    until(|| processes_in(&directory).iter().any(|pid| !before.contains(pid)).then_some(()));
    launcher.order(&Order::Signal { incarnation: 1, signal: StopSignal::Kill }, vec![]);
    assert_eq!(launcher.exit_of(1), Termination::Signal(9));
    assert_eq!(processes_in(&directory), Vec::<i32>::new());
}

#[test]
fn a_flood_of_orphans_holds_up_nobody() {
    let mut launcher = Launcher::start();
    launcher.sh(1, "while :; do (sh -c 'setsid true &' &); done");
    for app in 2..12 {
        launcher.sh(app, "exit 5");
        assert_eq!(launcher.exit_of(app), Termination::Code(5));
    }
    launcher.order(&Order::Signal { incarnation: 1, signal: StopSignal::Kill }, vec![]);
    assert_eq!(launcher.exit_of(1), Termination::Signal(9));
}

#[test]
fn what_outlives_its_launcher_is_found_by_its_mark_and_ended() {
    let mut launcher = Launcher::start();
    let origin = launcher.origin();
    launcher.sh(1, &format!("{RUNAWAYS} exec sleep 1000"));
    let pids = launcher.printed_pids(1, 4);
    let launcher_pid = launcher.process.id() as i32;
    // Looked after, as long as the launcher lives.
    assert_eq!(leftovers::find(origin, Some(launcher_pid)), []);
    launcher.process.kill().unwrap();
    launcher.process.wait().unwrap();
    let found = leftovers::find(origin, None);
    for pid in &pids {
        let own = found.iter().find(|one| one.pid == pid.as_raw()).unwrap();
        assert!(own.command.contains("sleep") || own.command.contains("sh -c"), "{own:?}");
    }
    let (ended, all) = leftovers::end(origin, None, Duration::from_secs(10));
    assert!(all && ended.len() >= pids.len(), "{ended:?}");
    pids.iter().for_each(|pid| gone(*pid));
    assert_eq!(leftovers::end(origin, None, Duration::ZERO), (vec![], true));
}

#[test]
fn who_takes_off_the_mark_is_ended_as_an_orphan_and_may_mark_others() {
    let mut launcher = Launcher::start();
    // The shell's words for RLIMIT_LOCKS; bash has `ulimit -x`, dash `-w`.
    let unmark = "ulimit -S -x unlimited 2>/dev/null || ulimit -S -w unlimited";
    launcher.sh(
        1,
        &format!("( ({unmark}; exec setsid sh -c 'echo $$; exec sleep 1000') &); exec sleep 1000"),
    );
    launcher.sh(2, "exec sleep 1000");
    let unmarked = launcher.printed_pid(1);
    let limits = fs::read_to_string(format!("/proc/{unmarked}/limits")).unwrap();
    let locks = limits.lines().find(|line| line.starts_with("Max file locks")).unwrap();
    assert_eq!(locks.matches("unlimited").count(), 2, "{locks}");
    launcher.order(&Order::Signal { incarnation: 1, signal: StopSignal::Kill }, vec![]);
    assert_eq!(launcher.exit_of(1), Termination::Signal(9));
    assert!(is_gone(&unmarked));
}

fn is_gone(pid: &Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.is_empty() || status.contains(") Z")
}
