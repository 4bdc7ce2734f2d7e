//! Prepares what confines a process, before it is started.
//!
//! | module | contents |
//! |---|---|
//! | `confine` | the whole: rules for files, filters for system calls, capabilities |
//! | `confine::confinement` | what is prepared for one process |
//! | `confine::rules` | the directories and files that a process may use, as a Landlock ruleset |
//! | `confine::program` | the files that a program needs to run |
//! | `confine::kept` | descriptors of paths that are kept between starts, and what tells that a path changed |
//! | `confine::filters` | the system calls that are refused |
//! | `confine::allowed` | those that the strict level allows |
//!
//! Nothing is prepared in the child: it only makes system calls with what is here.

mod allowed;
mod confinement;
mod filters;
mod kept;
mod program;
mod rules;

use std::borrow::Cow;
use std::io;

use crate::sandbox::{Sandbox, SandboxSupport};

pub(crate) use confinement::Confinement;
pub(crate) use filters::{FilterKind, StartSecret};
use program::Programs;
pub(crate) use program::resolved_script;
use rules::{PrivateDirectories, Rules, SystemPaths};

/// `CAP_CHOWN`, `CAP_DAC_OVERRIDE`, `CAP_FOWNER`: what a root user needs to work in a folder of
/// another user. Where it may do so, the rules for files say.
const FILE_CAPABILITIES: u32 = 1 << 0 | 1 << 1 | 1 << 3;

/// Prepares confinements. It keeps what several of them need.
#[derive(Debug)]
pub(crate) struct Confiner {
    support: SandboxSupport,
    system: SystemPaths,
    programs: Programs,
    private: PrivateDirectories,
    /// A ruleset with the paths that every program may use, for the next start.
    spare: Option<(RulesetBase, Rules)>,
    /// The base of the last ruleset.
    last: Option<RulesetBase>,
}

/// The inputs that determine the first rules of a ruleset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RulesetBase {
    signals: bool,
    strict: bool,
    exec: bool,
    /// The number of earlier checks of the system's paths.
    looks: u64,
}

/// A confinement, and the grants that were left out of it, in whole lines.
pub(crate) type Prepared = (Confinement, Vec<String>);

impl Confiner {
    pub(crate) fn new() -> Self {
        Self {
            support: SandboxSupport::of_this_system(),
            system: SystemPaths::default(),
            programs: Programs::default(),
            private: PrivateDirectories::default(),
            spare: None,
            last: None,
        }
    }

    /// Prepares the confinement of a program: the `candidates` are its possible paths, `path` is
    /// its search path.
    ///
    /// # Errors
    /// The kernel refuses what it is known to support.
    pub(crate) fn prepare(
        &mut self,
        sandbox: &Sandbox,
        candidates: &[String],
        args: &[String],
        cwd: &str,
        path: &str,
    ) -> io::Result<Prepared> {
        let version = self.support.landlock;
        let Sandbox { files, signals, strict, exec, .. } = *sandbox;
        let needs = self.programs.needs(candidates, args, cwd, path);
        let exec = exec || needs.starts_others;
        let rules = if files && version > 0 {
            let apart = match sandbox.forbidden.as_slice() {
                [] => Cow::Borrowed(&sandbox.private),
                forbidden => Cow::Owned([&*sandbox.private, forbidden].concat()),
            };
            let apart = self.private.resolve(&apart);
            let (private, forbidden) = apart.split_at(sandbox.private.len().min(apart.len()));
            let base = RulesetBase { signals, strict, exec, looks: self.system.refresh() };
            let spare = self.spare.take().filter(|(made_for, _)| *made_for == base);
            let mut rules = match spare {
                Some((_, rules)) => rules,
                None => base.rules(&self.system, version)?,
            };
            self.last = Some(base);
            rules.add_program(needs, apart, exec)?;
            rules.add_grants(sandbox, private, forbidden)?;
            rules
        } else {
            Rules::new(false, signals, version)?
        };
        let (ruleset, left_out) = rules.finish();
        // What can't be refused here isn't; `status` and `doctor` say so.
        let filter = self.support.seccomp.then(|| FilterKind::of(sandbox, exec));
        let capabilities = if strict { 0 } else { FILE_CAPABILITIES };
        Ok((Confinement { ruleset, own_proc: files && !strict, filter, capabilities }, left_out))
    }

    /// Begins a ruleset like the last one, so that the next start has it already.
    pub(crate) fn prepare_spare(&mut self) {
        if self.spare.is_none()
            && let Some(base) = self.last
        {
            self.spare =
                base.rules(&self.system, self.support.landlock).ok().map(|rules| (base, rules));
        }
    }
}

impl RulesetBase {
    /// Makes a ruleset with what every program may use.
    fn rules(self, system: &SystemPaths, version: u32) -> io::Result<Rules> {
        let mut rules = Rules::new(true, self.signals, version)?;
        rules.add_system(system, self.strict, self.exec)?;
        Ok(rules)
    }
}
