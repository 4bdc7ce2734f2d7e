//! Makes every system call that the kernel knows, each in a process of its own, to see which of
//! them reach the kernel.

use std::collections::BTreeMap;

use nix::errno::Errno;
use nix::libc;

/// One more than the highest number that is tried, above all that any kernel knows yet.
const BEYOND: libc::c_long = 520;
/// Arguments that no call takes for what could be done: a descriptor that isn't open, an address
/// that isn't mapped.
const ARGUMENTS: [usize; 6] = [usize::MAX - 4_000, 16, 16, 16, 16, 16];
/// Calls that end or stop the process that makes them, or leave it without a stack.
const NOT_TRIED: &[libc::c_long] = &[
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_restart_syscall,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_pause,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    libc::SYS_clone,
];
/// What a child's end says of the call's error: none, the two that filters answer with, any other.
const DONE: i32 = 10;
const REFUSED: i32 = 11;
const MISSING: i32 = 12;
const OTHER: i32 = 13;

/// Returns which calls were refused, which seem not to exist and which reached the kernel, as
/// ranges of numbers, a line each.
pub fn all() -> String {
    let mut found: BTreeMap<&str, Vec<libc::c_long>> = BTreeMap::new();
    for number in (0..BEYOND).filter(|number| !NOT_TRIED.contains(number)) {
        let outcome = match try_one(number) {
            Some(REFUSED) => "refused",
            Some(MISSING) => "missing",
            _ => "reached the kernel",
        };
        found.entry(outcome).or_default().push(number);
    }
    found.iter().map(|(outcome, numbers)| format!("{outcome}: {}\n", ranges(numbers))).collect()
}

/// Makes a call in a child. None if the child was ended by a signal.
fn try_one(number: libc::c_long) -> Option<i32> {
    // SAFETY: the child makes system calls only: the call that is tried, with arguments that name
    // nothing, and its exit.
    #[allow(unsafe_code)]
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::alarm(1);
            let [a, b, c, d, e, f] = ARGUMENTS;
            let result = libc::syscall(number, a, b, c, d, e, f);
            let outcome = match (result < 0, Errno::last()) {
                (false, _) => DONE,
                (true, Errno::EPERM) => REFUSED,
                (true, Errno::ENOSYS) => MISSING,
                (true, _) => OTHER,
            };
            libc::_exit(outcome);
        }
        let mut status = 0;
        let waited = libc::waitpid(child, &raw mut status, 0);
        (waited == child && libc::WIFEXITED(status)).then(|| libc::WEXITSTATUS(status))
    }
}

fn ranges(numbers: &[libc::c_long]) -> String {
    let mut out: Vec<(libc::c_long, libc::c_long)> = Vec::new();
    for number in numbers {
        match out.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => out.push((*number, *number)),
        }
    }
    let written = out.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    written.collect::<Vec<_>>().join(" ")
}
