//! Prepares what confines a process, before it is started.
//!
//! | module | contents |
//! |---|---|
//! | `confine` | the whole: rules for files, filters for system calls, capabilities |
//! | `confine::rules` | the directories and files that a process may use, as a Landlock ruleset |
//! | `confine::program` | the files that a program needs to run |
//! | `confine::filters` | the system calls that are refused |
//!
//! Nothing is prepared in the child: it only makes system calls with what is here.

mod filters;
mod program;
mod rules;

use std::io;
use std::os::fd::OwnedFd;

use seccompiler::sock_filter;

use crate::sandbox::{Sandbox, SandboxSupport};

use filters::FilterCache;
use rules::{BaseDirectories, Rules};

/// `CAP_CHOWN`, `CAP_DAC_OVERRIDE`, `CAP_FOWNER`: what a root user needs to work in a folder of another user. Where it
/// may do so, the rules for files say.
const FILE_CAPABILITIES: u32 = 1 << 0 | 1 << 1 | 1 << 3;

/// What confines one process.
#[derive(Debug)]
pub(crate) struct Confinement<'a> {
    /// The rules for files and signals; none where the kernel has no Landlock.
    pub ruleset: Option<OwnedFd>,
    /// True if the process may read its own directory of `/proc`.
    pub own_proc: bool,
    /// The programs that filter system calls; empty where the kernel has no filters.
    pub filters: [&'a [sock_filter]; 2],
    /// The capabilities that a root user keeps, as a bit mask.
    pub capabilities: u32,
}

/// Prepares confinements. It keeps what all of them share.
#[derive(Debug)]
pub(crate) struct Confiner {
    support: SandboxSupport,
    base: BaseDirectories,
    filters: FilterCache,
}

/// A confinement, and what was left out of it, in whole lines.
pub(crate) type Prepared<'a> = (Confinement<'a>, Vec<String>);

impl Confiner {
    pub(crate) fn new() -> Self {
        let support = SandboxSupport::of_this_system();
        Self { support, base: BaseDirectories::open(), filters: FilterCache::default() }
    }

    /// Prepares the confinement of a program: the `files` are its candidate paths, `path` is its search path.
    ///
    /// # Errors
    /// The kernel refuses what it is known to support.
    pub(crate) fn prepare(
        &mut self,
        sandbox: &Sandbox,
        files: &[String],
        args: &[String],
        cwd: &str,
        path: &str,
    ) -> io::Result<Prepared<'_>> {
        let mut rules = Rules::new(sandbox)?;
        if sandbox.files && self.support.landlock > 0 {
            let needs = program::needs(files, args, cwd, path);
            rules.add_system(&self.base, sandbox)?;
            rules.add_program(&needs, sandbox)?;
            rules.add_grants(sandbox)?;
        }
        let own_proc = sandbox.files && !sandbox.strict;
        let (ruleset, left_out) = rules.finish();
        // What can't be refused here isn't; `status` and `doctor` say so.
        let filters = match self.support.seccomp {
            true => self.filters.get(sandbox)?,
            false => [&[][..], &[][..]],
        };
        let capabilities = if sandbox.strict { 0 } else { FILE_CAPABILITIES };
        Ok((Confinement { ruleset, own_proc, filters, capabilities }, left_out))
    }
}
