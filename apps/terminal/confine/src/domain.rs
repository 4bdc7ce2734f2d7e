//! What commands are held to, and the kernel's domain that holds a process to it.
//!
//! A process is in the domain that it entered, with all that it starts, for good. Landlock lets a
//! process look into the memory of those of its own domain, thread by thread. So no thread of a
//! process that isn't confined ever enters one: a command is started by [`Launch`](crate::Launch),
//! a program that confines itself and becomes the command.

use std::io;

use crate::grants::Grants;

/// The restrictions on commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    /// The places that commands may write to.
    pub grants: Grants,
    /// Whether commands may open network connections.
    pub network: bool,
}

impl Domain {
    /// Confines the calling thread and all that it starts from now on, for good. A program that
    /// starts commands never calls it: what the thread starts could change the memory of the whole
    /// process.
    ///
    /// # Errors
    /// The kernel can't; then nothing is confined.
    pub fn enter(&self) -> io::Result<()> {
        confine(&self.grants.places, self.network)
    }
}

pub(crate) use kernel::confine;

#[cfg(target_os = "linux")]
mod kernel {
    use std::collections::{BTreeMap, BTreeSet};
    use std::io;
    use std::path::PathBuf;

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

    use crate::real_path::open;

    /// Where the numbers of system calls begin: on x86-64 a second interface (x32) has the same
    /// ones.
    const INTERFACES: &[i64] = if cfg!(target_arch = "x86_64") { &[0, 0x4000_0000] } else { &[0] };

    /// Confines the calling thread and all that it starts from now on.
    pub(crate) fn confine(places: &BTreeSet<PathBuf>, network: bool) -> io::Result<()> {
        // Neither reading nor running is among them, nor commands to devices: a terminal needs
        // those.
        let held = AccessFs::from_write(ABI::V3);
        // Who makes a device in their own folder writes to the disk that it stands for.
        let devices = AccessFs::MakeBlock | AccessFs::MakeChar;
        let granted: BitFlags<AccessFs> = held & !devices;
        let of_files = granted & AccessFs::from_file(ABI::V3);
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(held)
            .and_then(Ruleset::create)
            .map_err(io::Error::other)?;
        for place in places {
            // What is gone meanwhile, or became a link, needs no rule.
            let Ok(opened) = open(place) else { continue };
            let is_folder =
                fstat(&opened).is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_dir());
            let rights = if is_folder { granted } else { of_files };
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

    /// Makes a filter that lets a process open only sockets of this machine's files and of the
    /// kernel's own tables.
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
    use std::collections::BTreeSet;
    use std::io;
    use std::path::PathBuf;

    pub(crate) fn confine(_: &BTreeSet<PathBuf>, _: bool) -> io::Result<()> {
        Err(io::Error::other("this system confines no commands"))
    }
}
