//! Each limit, reached.

use pipemux_launcher::{ExceededLimit, Limits, Termination};

use crate::harness::{Launcher, processes_in};

const MIB: u64 = 1024 * 1024;

#[test]
fn processor_time() {
    let mut launcher = Launcher::start();
    let limits = Limits { cpu: Some(1), ..Limits::default() };
    launcher.sh_within(1, limits, "while :; do :; done");
    // One that catches the warning has a second more.
    launcher.sh_within(2, limits, "trap 'echo warned' XCPU; while :; do :; done");
    assert_eq!(launcher.end_of(1), (Termination::Signal(24), Some(ExceededLimit::Cpu(1))));
    assert_eq!(launcher.end_of(2), (Termination::Signal(9), Some(ExceededLimit::Cpu(1))));
    assert!(launcher.log(2).starts_with("warned\n"), "{}", launcher.log(2));
    // Killed by someone else, it isn't the limit's doing.
    launcher.sh_within(3, limits, "kill -9 $$");
    assert_eq!(launcher.end_of(3), (Termination::Signal(9), None));
}

#[test]
fn memory() {
    let mut launcher = Launcher::start();
    let limits = Limits { memory: Some(64 * MIB), ..Limits::default() };
    launcher.sh_within(1, limits, "cat /dev/zero | tail -c 1000000000");
    let (termination, exceeded) = launcher.end_of(1);
    let Some(ExceededLimit::Memory(used, limit)) = exceeded else {
        panic!("{termination:?}, {exceeded:?}")
    };
    assert!(limit == 64 * MIB && (48 * MIB..80 * MIB).contains(&used), "{used}");
    assert!(matches!(termination, Termination::Code(1..)), "{termination:?}");
    assert!(launcher.log(1).contains("memory exhausted"), "{}", launcher.log(1));
    // One that fails for another reason isn't said to be at its limit.
    launcher.sh_within(2, limits, "exit 7");
    assert_eq!(launcher.end_of(2), (Termination::Code(7), None));
}

#[test]
fn descriptors() {
    let mut launcher = Launcher::start();
    let limits = Limits { files: Some(8), ..Limits::default() };
    let script = "ulimit -Sn; ulimit -Hn; ulimit -c; cat /dev/null && echo fits
                  exec 4</dev/null 5</dev/null 6</dev/null 7</dev/null; cat /dev/null || echo full";
    launcher.sh_within(1, limits, script);
    assert_eq!(launcher.end_of(1), (Termination::Code(0), None));
    let log = launcher.log(1);
    assert!(log.starts_with("8\n8\n0\nfits\n") && log.ends_with("full\n"), "{log}");
}

#[test]
fn processes_even_in_sessions_of_their_own() {
    let mut launcher = Launcher::start();
    let limits = Limits { processes: Some(24), ..Limits::default() };
    let directory = launcher.directory.path().to_owned();
    // Should nobody stop them, these end by themselves at some thousand processes.
    launcher.sh_within(
        1,
        limits,
        "f() { [ $1 -gt 9 ] || { f $(($1+1)) & f $(($1+1)) & }; sleep 1000; }; f 0",
    );
    assert_eq!(launcher.end_of(1), (Termination::Signal(9), Some(ExceededLimit::Processes(24))));
    let bomb = "cat > b.sh <<'E'\n[ $1 -gt 8 ] || { setsid sh b.sh $(($1+1)) & setsid sh b.sh $(($1+1)) & }\n\
                sleep 1000\nE\nexec sh b.sh 0";
    launcher.sh_within(2, limits, bomb);
    assert_eq!(launcher.end_of(2), (Termination::Signal(9), Some(ExceededLimit::Processes(24))));
    assert_eq!(processes_in(&directory), Vec::<i32>::new());
    // One that was quiet for so long that it is looked at less often.
    launcher.sh_within(
        4,
        limits,
        "sleep 0.9; f() { [ $1 -gt 8 ] || { f $(($1+1)) & f $(($1+1)) & }; sleep 1000; }; f 0",
    );
    assert_eq!(launcher.end_of(4), (Termination::Signal(9), Some(ExceededLimit::Processes(24))));
    assert_eq!(processes_in(&directory), Vec::<i32>::new());
    // As many as it may have are none too many.
    launcher.sh_within(3, limits, "for n in 1 2 3 4 5 6 7 8; do sleep 1.2 & done; wait; exit 8");
    assert_eq!(launcher.end_of(3), (Termination::Code(8), None));
}
