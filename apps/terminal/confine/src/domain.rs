//! A thread in a Landlock domain of its own, from which commands are started.
//!
//! A process is in the domain of the thread that starts it, with all that it starts, for good. All commands of a session are
//! started from one thread as long as what they may write to is the same, so that a debugger or a tracer among them, which the
//! kernel keeps from processes of other domains, reaches the others.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use crate::grants::Grants;

type Work = Box<dyn FnOnce() + Send>;

/// A thread that only writes to what is granted. It ends when this is dropped; what it started goes on.
#[derive(Debug)]
pub struct Domain {
    grants: Grants,
    network: bool,
    work: Sender<Work>,
}

impl Domain {
    /// Starts a thread, and confines it.
    ///
    /// # Errors
    /// The system gives no thread, or the kernel can't confine it; then nothing runs unconfined.
    pub fn enter(grants: Grants, network: bool) -> io::Result<Self> {
        let (work, todo) = channel::<Work>();
        let (told, confined) = channel();
        let places = grants.clone();
        thread::Builder::new().name("confined".into()).spawn(move || {
            let result = kernel::confine(&places, network);
            let is_confined = result.is_ok();
            if told.send(result).is_ok() && is_confined {
                todo.into_iter().for_each(|work| work());
            }
        })?;
        confined
            .recv()
            .unwrap_or_else(|_| Err(io::Error::other("the thread that starts commands ended")))?;
        Ok(Self { grants, network, work })
    }

    /// Returns what is granted.
    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    /// Returns true if it holds commands to exactly this.
    pub fn is_of(&self, grants: &Grants, network: bool) -> bool {
        self.grants == *grants && self.network == network
    }

    /// Calls a function on the thread, and waits for what it returns.
    ///
    /// # Errors
    /// The thread has ended: an earlier function panicked.
    pub fn run<T: Send + 'static>(
        &self,
        function: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        let (told, result) = channel();
        let work: Work = Box::new(move || drop(told.send(function())));
        let ended = || io::Error::other("the thread that starts commands has ended");
        self.work.send(work).map_err(|_| ended())?;
        result.recv().map_err(|_| ended())
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::collections::BTreeMap;
    use std::io;

    use landlock::{
        ABI, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetStatus,
    };
    use nix::libc;
    use rustix::fs::{FileType, fstat};
    use seccompiler::SeccompCmpArgLen::Dword;
    use seccompiler::SeccompCmpOp::Ne;
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    };

    use crate::grants::Grants;
    use crate::real_path::open;

    /// Where the numbers of system calls begin: on x86-64 a second interface (x32) has the same ones.
    const INTERFACES: &[i64] = if cfg!(target_arch = "x86_64") { &[0, 0x4000_0000] } else { &[0] };

    /// Confines the calling thread and all that it starts from now on.
    pub(super) fn confine(grants: &Grants, network: bool) -> io::Result<()> {
        // Neither reading nor running is among them, nor commands to devices: a terminal needs those.
        let rights = AccessFs::from_write(ABI::V3);
        let of_files: BitFlags<AccessFs> = rights & AccessFs::from_file(ABI::V3);
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(rights)
            .and_then(Ruleset::create)
            .map_err(io::Error::other)?;
        for place in &grants.places {
            // What is gone meanwhile, or became a link, needs no rule.
            let Ok(opened) = open(place) else { continue };
            let is_folder =
                fstat(&opened).is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_dir());
            let rights = if is_folder { rights } else { of_files };
            rules = rules.add_rule(PathBeneath::new(opened, rights)).map_err(io::Error::other)?;
        }
        let status = rules.restrict_self().map_err(io::Error::other)?;
        if status.ruleset == RulesetStatus::NotEnforced {
            return Err(io::Error::other("the kernel has no Landlock"));
        }
        match network {
            true => Ok(()),
            false => seccompiler::apply_filter(&without_network()?).map_err(io::Error::other),
        }
    }

    /// Makes a filter that lets a process open only sockets of this machine's files and of the kernel's own tables.
    fn without_network() -> io::Result<BpfProgram> {
        const AF_UNIX: u64 = 1;
        const AF_NETLINK: u64 = 16;
        let other = |family| SeccompCondition::new(0, Dword, Ne, family);
        let refused = other(AF_UNIX)
            .and_then(|unix| SeccompRule::new(vec![unix, other(AF_NETLINK)?]))
            .map_err(io::Error::other)?;
        // It opens sockets past the filter; programs go on without it.
        let calls = [(libc::SYS_socket, vec![refused]), (libc::SYS_io_uring_setup, Vec::new())];
        let refused: BTreeMap<i64, Vec<SeccompRule>> = calls
            .into_iter()
            .flat_map(|(call, rules)| {
                INTERFACES.iter().map(move |begin| (begin + call, rules.clone()))
            })
            .collect();
        let target = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
        let denied = SeccompAction::Errno(rustix::io::Errno::ACCESS.raw_os_error().unsigned_abs());
        SeccompFilter::new(refused, SeccompAction::Allow, denied, target)
            .and_then(BpfProgram::try_from)
            .map_err(io::Error::other)
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::io;

    use crate::grants::Grants;

    pub(super) fn confine(_: &Grants, _: bool) -> io::Result<()> {
        Err(io::Error::other("this system confines no commands"))
    }
}
