//! Each limit of an app, exceeded.

use pipemux_launcher::{ExceededLimit, Limits, Spawn, Termination};

use crate::harness::{Launcher, processes_in, spawn};

const MIB: u64 = 1024 * 1024;

#[test]
fn exceeding_processor_time_is_reported() {
    let mut launcher = Launcher::start();
    let limits = Limits { cpu: Some(1), ..Limits::default() };
    launcher.start_script_with_limits(1, limits, "while :; do :; done");
    // A process that catches the warning has one more second.
    launcher.start_script_with_limits(2, limits, "trap 'echo warned' XCPU; while :; do :; done");
    assert_eq!(
        launcher.exit_and_limit_of(1),
        (Termination::Signal(24), Some(ExceededLimit::Cpu(1)))
    );
    assert_eq!(
        launcher.exit_and_limit_of(2),
        (Termination::Signal(9), Some(ExceededLimit::Cpu(1)))
    );
    assert!(launcher.log(2).starts_with("warned\n"), "{}", launcher.log(2));
    // A process that someone else kills hasn't exceeded its limit.
    launcher.start_script_with_limits(3, limits, "kill -9 $$");
    assert_eq!(launcher.exit_and_limit_of(3), (Termination::Signal(9), None));
}

#[test]
fn exceeding_memory_is_reported() {
    let mut launcher = Launcher::start();
    let limits = Limits { memory: Some(64 * MIB), ..Limits::default() };
    launcher.start_script_with_limits(1, limits, "cat /dev/zero | tail -c 1000000000");
    let (termination, exceeded) = launcher.exit_and_limit_of(1);
    let Some(ExceededLimit::Memory(used, limit)) = exceeded else {
        panic!("{termination:?}, {exceeded:?}")
    };
    assert!(limit == 64 * MIB && (48 * MIB..80 * MIB).contains(&used), "{used}");
    assert!(matches!(termination, Termination::Code(1..)), "{termination:?}");
    assert!(launcher.log(1).contains("memory exhausted"), "{}", launcher.log(1));
    // A process that fails for another reason hasn't exceeded its limit.
    launcher.start_script_with_limits(2, limits, "exit 7");
    assert_eq!(launcher.exit_and_limit_of(2), (Termination::Code(7), None));
}

/// Limits of what all processes of an app use together; the launcher counts while it counts
/// processes.
fn tree_limits() -> Limits {
    Limits { processes: Some(100), ..Limits::default() }
}

#[test]
fn memory_of_all_processes_together_is_limited() {
    let mut launcher = Launcher::start();
    let limits = Limits { memory: Some(64 * MIB), ..tree_limits() };
    // `tail` holds what nobody reads. Each has less than the limit.
    let hold = "head -c 40000000 /dev/zero | tail -c 40000000 | sleep 1000";
    launcher.start_script_with_limits(1, limits, &format!("{hold} & {hold} & {hold} & wait"));
    assert_eq!(
        launcher.exit_and_limit_of(1),
        (Termination::Signal(9), Some(ExceededLimit::TreeMemory(64 * MIB)))
    );
    assert_eq!(processes_in(launcher.directory.path()), Vec::<i32>::new());
}

#[test]
fn threads_of_all_processes_together_are_limited() {
    let mut launcher = Launcher::start();
    let limits = Limits { threads: Some(3), ..tree_limits() };
    launcher.start_script_with_limits(1, limits, "for i in 1 2 3 4; do sleep 1000 & done; wait");
    assert_eq!(
        launcher.exit_and_limit_of(1),
        (Termination::Signal(9), Some(ExceededLimit::Threads(3)))
    );
}

#[test]
fn disk_use_of_a_session_is_limited() {
    let mut launcher = Launcher::start();
    let limits = Limits { disk: Some(MIB), ..tree_limits() };
    let state = launcher.directory.path().join("state");
    std::fs::create_dir(&state).unwrap();
    std::fs::write(state.join("file"), vec![1; 2 * MIB as usize]).unwrap();
    let fallback_cwd = state.display().to_string();
    let args = vec!["-c".into(), "sleep 1000".into()];
    launcher.spawn(1, Spawn { args, limits, fallback_cwd, ..spawn() });
    assert_eq!(
        launcher.exit_and_limit_of(1),
        (Termination::Signal(9), Some(ExceededLimit::Disk(MIB)))
    );
}

#[test]
fn exceeding_descriptors_fails_inside_the_app() {
    let mut launcher = Launcher::start();
    let limits = Limits { files: Some(8), ..Limits::default() };
    let script = "ulimit -Sn; ulimit -Hn; ulimit -c; cat /dev/null && echo fits
                  exec 4</dev/null 5</dev/null 6</dev/null 7</dev/null; cat /dev/null || echo full";
    launcher.start_script_with_limits(1, limits, script);
    assert_eq!(launcher.exit_and_limit_of(1), (Termination::Code(0), None));
    let log = launcher.log(1);
    assert!(log.starts_with("8\n8\n0\nfits\n") && log.ends_with("full\n"), "{log}");
}

#[test]
fn exceeding_processes_is_found_across_sessions() {
    let mut launcher = Launcher::start();
    let limits = Limits { processes: Some(24), ..Limits::default() };
    let directory = launcher.directory.path().to_owned();
    // If nobody stops them, these stop by themselves at some thousand processes.
    launcher.start_script_with_limits(
        1,
        limits,
        "f() { [ $1 -gt 9 ] || { f $(($1+1)) & f $(($1+1)) & }; sleep 1000; }; f 0",
    );
    assert_eq!(
        launcher.exit_and_limit_of(1),
        (Termination::Signal(9), Some(ExceededLimit::Processes(24)))
    );
    let bomb = "cat > b.sh <<'E'\n[ $1 -gt 8 ] || { setsid sh b.sh $(($1+1)) & setsid sh b.sh $(($1+1)) & }\n\
                sleep 1000\nE\nexec sh b.sh 0";
    launcher.start_script_with_limits(2, limits, bomb);
    assert_eq!(
        launcher.exit_and_limit_of(2),
        (Termination::Signal(9), Some(ExceededLimit::Processes(24)))
    );
    assert_eq!(processes_in(&directory), Vec::<i32>::new());
    // An app that was quiet for so long that it is checked less often.
    launcher.start_script_with_limits(
        4,
        limits,
        "sleep 0.9; f() { [ $1 -gt 8 ] || { f $(($1+1)) & f $(($1+1)) & }; sleep 1000; }; f 0",
    );
    assert_eq!(
        launcher.exit_and_limit_of(4),
        (Termination::Signal(9), Some(ExceededLimit::Processes(24)))
    );
    assert_eq!(processes_in(&directory), Vec::<i32>::new());
    // Exactly as many processes as are allowed are no problem.
    launcher.start_script_with_limits(
        3,
        limits,
        "for n in 1 2 3 4 5 6 7 8; do sleep 1.2 & done; wait; exit 8",
    );
    assert_eq!(launcher.exit_and_limit_of(3), (Termination::Code(8), None));
}
