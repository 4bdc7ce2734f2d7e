//! The system calls that a sandboxed process is refused.
//!
//! At the strict level everything is refused that [`allowed`](super::allowed) doesn't list. At the
//! ordinary one everything is allowed that isn't refused by name, because programs of any kind must
//! run: what is refused leads out of the rules for files, to other processes, or to parts of the
//! kernel that an app has no use for. At both, some calls are refused for certain arguments.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};

use nix::libc;
use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use super::allowed::{ALLOWED, ALLOWED_HERE, KNOWN_MAX};
use crate::sandbox::Sandbox;

/// The bits of a socket's type that aren't flags.
const SOCKET_TYPE: u64 = 0xf;
/// On x86-64 the numbers from here on are those of another interface (x32) with the same system
/// calls.
#[cfg(target_arch = "x86_64")]
const X32: u32 = 0x4000_0000;

/// The system calls that no sandboxed process may make.
const REFUSED: &[libc::c_long] = &[
    // Other processes: their memory, descriptors and execution.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_perf_event_open,
    // Other views of the file system, and files without a path.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_process_mrelease,
    // Keys, which all processes of a user share, and parts of the kernel with a long history of
    // faults.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    // The machine as a whole.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
];

/// Queues of events about files. Each user has few of them for all of their programs.
const WATCHES: &[libc::c_long] = &[
    libc::SYS_inotify_init1,
    libc::SYS_fanotify_init,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
];

/// The system calls that seem not to exist. Their arguments can't be checked, and programs go on
/// without them: io_uring opens files and sockets past the filter, `clone3` makes namespaces.
const MISSING: &[libc::c_long] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_clone3,
];

/// The set of refused system calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FilterKind {
    /// True for what the strict level refuses besides.
    pub strict: bool,
    /// True if connections to other machines are allowed.
    pub network: bool,
    /// True if it may start other programs.
    pub exec: bool,
    /// True if it may watch files by the kernel's queues of events.
    pub watch: bool,
}

/// A number that only the launcher knows. Where a program may start no other, only the one call by
/// which it was started itself is allowed, and that one is known by this number: it stands in an
/// argument that the kernel ignores, and that is gone from the registers once the program runs. So
/// it doesn't matter by which file, descriptor, loader or interpreter the program would start
/// another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StartSecret(pub u64);

impl StartSecret {
    /// Draws one.
    ///
    /// # Errors
    /// The system has no randomness.
    pub(crate) fn draw() -> io::Result<Self> {
        let mut bytes = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(u64::from_ne_bytes(bytes)))
    }
}

impl FilterKind {
    /// The kind of filter for a sandbox.
    pub(super) fn of(sandbox: &Sandbox, exec: bool) -> Self {
        let Sandbox { strict, network, watch, .. } = *sandbox;
        Self { strict, network, exec, watch }
    }

    /// Compiles the filters of this kind. All of them are to be installed.
    ///
    /// # Errors
    /// There are no filters for this machine.
    pub(crate) fn compile(self, secret: StartSecret) -> io::Result<Vec<BpfProgram>> {
        let missing = MISSING.iter().map(|call| (*call, Vec::new())).collect();
        let refused = self.refused_rules(secret)?;
        let mut filters = vec![compile(refused, libc::EPERM)?];
        if self.strict {
            filters.push(compile_allowed()?);
        }
        // The answer of the filter that was installed last counts.
        filters.push(compile(missing, libc::ENOSYS)?);
        Ok(filters)
    }

    fn refused_rules(self, secret: StartSecret) -> io::Result<RulesByCall> {
        let Self { strict, network, exec, watch } = self;
        let watches: &[libc::c_long] = if watch { &[] } else { WATCHES };
        // A call without conditions is refused whatever its arguments are.
        let mut rules: RulesByCall =
            REFUSED.iter().chain(watches).map(|call| (*call, Vec::new())).collect();
        if !exec {
            rules.insert(libc::SYS_execve, Vec::new());
            let other = argument(5, Qword, Ne, secret.0)?;
            rules.insert(libc::SYS_execveat, vec![rule(&[other])?]);
        }
        let unix = libc::AF_UNIX as u64;
        // A socket that can be connected to a path or an address. Landlock lets a path be connected
        // to.
        let socket = match network {
            false => Vec::new(),
            true => vec![rule(&[
                argument(0, Dword, Ne, libc::AF_INET as u64)?,
                argument(0, Dword, Ne, libc::AF_INET6 as u64)?,
                argument(0, Dword, Ne, libc::AF_NETLINK as u64)?,
            ])?],
        };
        rules.insert(libc::SYS_socket, socket);
        // A connected pair leads nowhere else. One of datagrams can be sent from to any address; of
        // type `SOCK_RAW` it is one of datagrams.
        let pair = |kind: libc::c_int| {
            rule(&[
                argument(0, Dword, Eq, unix)?,
                argument(1, Dword, MaskedEq(SOCKET_TYPE), kind as u64)?,
            ])
        };
        let other = rule(&[argument(0, Dword, Ne, unix)?])?;
        rules.insert(
            libc::SYS_socketpair,
            vec![pair(libc::SOCK_DGRAM)?, pair(libc::SOCK_RAW)?, other],
        );
        // The limit that marks a process: see `mark`. And each limit of another process, which ends
        // with it: Landlock doesn't ask whose they are.
        let locks = argument(1, Dword, Eq, u64::from(libc::RLIMIT_LOCKS))?;
        let sets = argument(2, Qword, Ne, 0)?;
        let of_another = argument(0, Dword, Ne, 0)?;
        let limits = vec![rule(&[locks, sets.clone()])?, rule(&[of_another, sets])?];
        rules.insert(libc::SYS_prlimit64, limits);
        let locks = argument(0, Dword, Eq, u64::from(libc::RLIMIT_LOCKS))?;
        rules.insert(libc::SYS_setrlimit, vec![rule(&[locks])?]);
        // A user namespace, in which a process has all capabilities.
        let namespace =
            argument(0, Qword, MaskedEq(libc::CLONE_NEWUSER as u64), libc::CLONE_NEWUSER as u64)?;
        rules.insert(libc::SYS_clone, vec![rule(std::slice::from_ref(&namespace))?]);
        rules.insert(libc::SYS_unshare, vec![rule(&[namespace])?]);
        if strict {
            // `utimensat` without a path changes the times of a descriptor's file.
            rules.insert(libc::SYS_utimensat, vec![rule(&[argument(1, Qword, Ne, 0)?])?]);
        }
        Ok(rules)
    }
}

type RulesByCall = BTreeMap<i64, Vec<SeccompRule>>;

fn argument(
    index: u8,
    length: SeccompCmpArgLen,
    operator: SeccompCmpOp,
    value: u64,
) -> io::Result<SeccompCondition> {
    SeccompCondition::new(index, length, operator, value).map_err(io::Error::other)
}

fn rule(conditions: &[SeccompCondition]) -> io::Result<SeccompRule> {
    SeccompRule::new(conditions.to_vec()).map_err(io::Error::other)
}

/// Compiles a filter that answers these calls with an error, and lets all others pass.
fn compile(rules: RulesByCall, error: i32) -> io::Result<BpfProgram> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let answer = SeccompAction::Errno(error as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, arch);
    let filter: BpfProgram = filter.and_then(TryInto::try_into).map_err(io::Error::other)?;
    Ok(refuse_x32().into_iter().chain(filter).collect())
}

/// Compiles a filter that lets what the strict level allows pass, and refuses all else.
fn compile_allowed() -> io::Result<BpfProgram> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let rules = ALLOWED.iter().chain(ALLOWED_HERE).map(|call| (*call, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, arch);
    let filter: BpfProgram = filter.and_then(TryInto::try_into).map_err(io::Error::other)?;
    Ok(missing_from(KNOWN_MAX + 1).into_iter().chain(filter).collect())
}

/// Instructions before a filter by which calls from a number on seem not to exist.
fn missing_from(number: u32) -> Vec<sock_filter> {
    let statement = |code: u32, k: u32| sock_filter { code: code as u16, jt: 0, jf: 0, k };
    vec![
        // The call's number is the first word.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
        sock_filter { jf: 1, ..statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, number) },
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
    ]
}

/// Instructions before a filter that refuse the calls of x32, which the filter's numbers don't
/// cover.
#[cfg(target_arch = "x86_64")]
fn refuse_x32() -> Vec<sock_filter> {
    missing_from(X32)
}

#[cfg(not(target_arch = "x86_64"))]
fn refuse_x32() -> Vec<sock_filter> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_of_all_kinds_compile_and_stay_small() {
        for bits in 0..16 {
            let is = |bit: u32| bits & (1 << bit) != 0;
            let kind = FilterKind { strict: is(0), network: is(1), exec: is(2), watch: is(3) };
            let filters = kind.compile(StartSecret(7)).unwrap();
            assert!(filters.iter().all(|filter| (4..2_000).contains(&filter.len())));
        }
    }
}
