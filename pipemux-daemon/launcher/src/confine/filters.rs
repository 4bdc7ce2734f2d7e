//! The system calls that a sandboxed process is refused.
//!
//! Everything is allowed that isn't refused by name: an app in any language must run. What is refused leads out of the
//! rules for files, to other processes, or to parts of the kernel that an app has no use for.

use std::collections::BTreeMap;
use std::io;

use nix::libc;
use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use crate::sandbox::Sandbox;

/// The bits of a socket's type that aren't flags.
const SOCKET_TYPE: u64 = 0xf;
/// On x86-64 the numbers from here on are those of another interface (x32) with the same system calls.
#[cfg(target_arch = "x86_64")]
const X32: u32 = 0x4000_0000;

/// `fchmodat2`, which has one number on all machines.
const FCHMODAT2: libc::c_long = 452;

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
    // Keys, which all processes of a user share, and parts of the kernel with a long history of faults.
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

/// What the strict level refuses besides. Landlock doesn't check who changes a file's mode, owner, times or attributes
/// by its path; through a descriptor it does, because the file had to be opened.
const REFUSED_STRICT: &[libc::c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// The system calls that seem not to exist. Their arguments can't be checked, and programs go on without them:
/// io_uring opens files and sockets past the filter, `clone3` makes namespaces.
const MISSING: &[libc::c_long] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_clone3,
];

/// Which system calls are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FilterKind {
    /// True for what the strict level refuses besides.
    pub strict: bool,
    /// True if connections to other machines are allowed.
    pub network: bool,
}

impl FilterKind {
    /// The kind that a sandbox has.
    pub(super) fn of(sandbox: &Sandbox) -> Self {
        Self { strict: sandbox.strict, network: sandbox.network }
    }

    /// Compiles the filters of this kind. All of them are to be installed.
    ///
    /// # Errors
    /// There are no filters for this machine.
    pub(crate) fn compile(self) -> io::Result<[BpfProgram; 2]> {
        let missing = MISSING.iter().map(|call| (*call, Vec::new())).collect();
        let refused = refused_rules(self.strict, self.network)?;
        Ok([compile(refused, libc::EPERM)?, compile(missing, libc::ENOSYS)?])
    }
}

type RulesByCall = BTreeMap<i64, Vec<SeccompRule>>;

fn refused_rules(strict: bool, network: bool) -> io::Result<RulesByCall> {
    let always = REFUSED.iter().chain(REFUSED_STRICT.iter().filter(|_| strict));
    // A call without conditions is refused whatever its arguments are.
    let mut rules: RulesByCall = always.map(|call| (*call, Vec::new())).collect();
    let unix = libc::AF_UNIX as u64;
    // A socket that can be connected to a path or an address. Landlock lets a path be connected to.
    let socket = match network {
        false => Vec::new(),
        true => vec![rule(&[
            argument(0, Dword, Ne, libc::AF_INET as u64)?,
            argument(0, Dword, Ne, libc::AF_INET6 as u64)?,
            argument(0, Dword, Ne, libc::AF_NETLINK as u64)?,
        ])?],
    };
    rules.insert(libc::SYS_socket, socket);
    // A connected pair leads nowhere else. One of datagrams can be sent from to any address; of type `SOCK_RAW` it is
    // one of datagrams.
    let pair = |kind: libc::c_int| {
        rule(&[
            argument(0, Dword, Eq, unix)?,
            argument(1, Dword, MaskedEq(SOCKET_TYPE), kind as u64)?,
        ])
    };
    let other = rule(&[argument(0, Dword, Ne, unix)?])?;
    rules.insert(libc::SYS_socketpair, vec![pair(libc::SOCK_DGRAM)?, pair(libc::SOCK_RAW)?, other]);
    // The limit that marks a process: see `mark`.
    let locks = argument(1, Dword, Eq, u64::from(libc::RLIMIT_LOCKS))?;
    rules.insert(libc::SYS_prlimit64, vec![rule(&[locks, argument(2, Qword, Ne, 0)?])?]);
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

/// Instructions before a filter that refuse the calls of x32, which the filter's numbers don't cover.
#[cfg(target_arch = "x86_64")]
fn refuse_x32() -> Vec<sock_filter> {
    let statement = |code: u32, k: u32| sock_filter { code: code as u16, jt: 0, jf: 0, k };
    vec![
        // The call's number is the first word.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
        sock_filter { jf: 1, ..statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, X32) },
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
    ]
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
        for (strict, network) in [(false, false), (false, true), (true, false), (true, true)] {
            let filters = FilterKind { strict, network }.compile().unwrap();
            assert!(filters.iter().all(|filter| (4..600).contains(&filter.len())));
        }
    }
}
