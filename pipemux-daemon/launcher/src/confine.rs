//! Prepares what confines a process, before it is started.
//!
//! | module | contents |
//! |---|---|
//! | `confine` | the whole: rules for files, filters for system calls, capabilities |
//! | `confine::rules` | the directories and files that a process may use, as a Landlock ruleset |
//! | `confine::program` | the files that a program needs to run |
//! | `confine::kept` | descriptors of paths that are kept between starts, and what tells that a path changed |
//! | `confine::filters` | the system calls that are refused |
//!
//! Nothing is prepared in the child: it only makes system calls with what is here.

mod filters;
mod kept;
mod program;
mod rules;

use std::io;
use std::os::fd::OwnedFd;

use crate::sandbox::{Sandbox, SandboxSupport};

pub(crate) use filters::FilterKind;
use program::Programs;
use rules::{PrivateDirectories, Rules, SystemPaths};

/// `CAP_CHOWN`, `CAP_DAC_OVERRIDE`, `CAP_FOWNER`: what a root user needs to work in a folder of another user. Where it
/// may do so, the rules for files say.
const FILE_CAPABILITIES: u32 = 1 << 0 | 1 << 1 | 1 << 3;

/// What confines one process.
#[derive(Debug)]
pub(crate) struct Confinement {
    /// The rules for files and signals; none where the kernel has no Landlock.
    pub ruleset: Option<OwnedFd>,
    /// True if the process may read its own directory of `/proc`.
    pub own_proc: bool,
    /// The system calls that it is refused; none where the kernel has no filters.
    pub filter: Option<FilterKind>,
    /// The capabilities that a root user keeps, as a bit mask.
    pub capabilities: u32,
}

/// Prepares confinements. It keeps what several of them need.
#[derive(Debug)]
pub(crate) struct Confiner {
    support: SandboxSupport,
    system: SystemPaths,
    programs: Programs,
    private: PrivateDirectories,
}

/// A confinement, and what was left out of it, in whole lines.
pub(crate) type Prepared = (Confinement, Vec<String>);

impl Confiner {
    pub(crate) fn new() -> Self {
        Self {
            support: SandboxSupport::of_this_system(),
            system: SystemPaths::default(),
            programs: Programs::default(),
            private: PrivateDirectories::default(),
        }
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
    ) -> io::Result<Prepared> {
        let mut rules = Rules::new(sandbox, self.support.landlock)?;
        if sandbox.files && self.support.landlock > 0 {
            let private = self.private.resolve(&sandbox.private);
            let needs = self.programs.needs(files, args, cwd, path);
            let exec = sandbox.exec || needs.starts_others;
            rules.add_system(&mut self.system, sandbox.strict, exec)?;
            rules.add_program(needs, private, exec)?;
            rules.add_grants(sandbox, private)?;
        }
        let own_proc = sandbox.files && !sandbox.strict;
        let (ruleset, left_out) = rules.finish();
        // What can't be refused here isn't; `status` and `doctor` say so.
        let filter = self.support.seccomp.then(|| FilterKind::of(sandbox));
        let capabilities = if sandbox.strict { 0 } else { FILE_CAPABILITIES };
        Ok((Confinement { ruleset, own_proc, filter, capabilities }, left_out))
    }
}
