//! The directories and files that a process may use, as a Landlock ruleset.
//!
//! Rules are for directories rather than for files where that is possible: a rule belongs to what
//! it was made for, not to its name, and ends to hold for a file that another one is renamed over.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope,
};

use super::kept::{KeptPaths, Opened, Probe};
use super::program::Needs;
use crate::sandbox::{Clash, Grant, Sandbox};
use crate::sys;

/// The newest version whose rights are requested; an older kernel enforces those it knows.
const NEWEST: ABI = ABI::V9;

/// The programs and libraries of the system, which every program may read.
const SYSTEM: [&str; 9] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/nix/store",
    "/gnu/store",
    "/etc/ssl/certs",
];
/// The configuration that programs commonly read. It contains no secrets.
const CONFIGURATION: [&str; 16] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/fonts",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki/tls",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/timezone",
];
/// The files that every program may read at each level.
const ESSENTIAL: [&str; 4] =
    ["/etc/ld.so.cache", "/etc/ld-musl-x86_64.path", "/etc/localtime", "/etc/ssl/openssl.cnf"];
/// Devices without a state, readable and writable.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The paths of the system that every program may use.
#[derive(Debug)]
pub(super) struct SystemPaths {
    programs: KeptPaths,
    essential: KeptPaths,
    configuration: KeptPaths,
    devices: KeptPaths,
}

impl Default for SystemPaths {
    fn default() -> Self {
        // A link into `/usr` needs no rule of its own.
        let own = SYSTEM.into_iter().filter(|path| {
            let found = Path::new(path).canonicalize();
            found.is_ok_and(|found| found == Path::new(path) || !found.starts_with("/usr"))
        });
        Self {
            programs: KeptPaths::new(own),
            essential: KeptPaths::new(ESSENTIAL),
            configuration: KeptPaths::new(CONFIGURATION),
            devices: KeptPaths::new(DEVICES),
        }
    }
}

impl SystemPaths {
    /// Looks again at what may have changed. Returns a number that differs from an earlier one if
    /// anything did.
    pub(super) fn refresh(&mut self) -> u64 {
        let Self { programs, essential, configuration, devices } = self;
        let all = [programs, essential, configuration, devices];
        all.into_iter()
            .map(|paths| {
                paths.refresh();
                paths.looks
            })
            .sum()
    }
}

/// PipeMux's own directories, without symlinks.
#[derive(Debug, Default)]
pub(super) struct PrivateDirectories {
    asked: Vec<String>,
    found: Vec<PathBuf>,
    probe: Probe,
}

impl PrivateDirectories {
    pub(super) fn resolve(&mut self, paths: &[String]) -> &[PathBuf] {
        if self.asked != paths || !self.probe.still_holds() {
            let mut probe = Probe::default();
            self.found = paths.iter().map(|path| probe.canonical(Path::new(path))).collect();
            (self.asked, self.probe) = (paths.to_vec(), probe);
        }
        &self.found
    }
}

/// A ruleset under construction.
#[derive(Debug)]
pub(super) struct Rules {
    /// The ruleset; `None` if the kernel has no Landlock.
    ruleset: Option<OwnedFd>,
    /// The file system rights that the kernel knows, and those that apply to files.
    known: BitFlags<AccessFs>,
    of_files: BitFlags<AccessFs>,
    left_out: Vec<String>,
}

impl Rules {
    /// Creates a ruleset without any rule for a kernel with this version of Landlock. It is for
    /// `files` if it confines access to files; with it a process may signal others if it has the
    /// right to `signals`.
    pub(super) fn new(files: bool, signals: bool, version: u32) -> io::Result<Self> {
        let abi = ABI::from(version as i32).min(NEWEST);
        let (known, of_files) = (AccessFs::from_all(abi), AccessFs::from_file(abi));
        let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
        if files {
            ruleset =
                ruleset.handle_access(AccessFs::from_all(NEWEST)).map_err(io::Error::other)?;
        }
        ruleset = ruleset.scope(Scope::AbstractUnixSocket).map_err(io::Error::other)?;
        if !signals {
            ruleset = ruleset.scope(Scope::Signal).map_err(io::Error::other)?;
        }
        let ruleset = ruleset.create().map_err(io::Error::other)?.into();
        Ok(Self { ruleset, known, of_files, left_out: Vec::new() })
    }

    /// Adds the system's programs, libraries, configuration and devices.
    pub(super) fn add_system(
        &mut self,
        system: &SystemPaths,
        strict: bool,
        exec: bool,
    ) -> io::Result<()> {
        for found in system.programs.opened() {
            self.add(found, readable(exec))?;
        }
        for found in system.essential.opened() {
            self.add(found, readable(false))?;
        }
        if !strict {
            for found in system.configuration.opened() {
                self.add(found, readable(false))?;
            }
        }
        for found in system.devices.opened() {
            self.add(found, AccessFs::ReadFile | AccessFs::WriteFile)?;
        }
        Ok(())
    }

    /// Adds what the program needs to run. A directory that holds more than that is left out
    /// without a word.
    pub(super) fn add_program(
        &mut self,
        needs: &mut Needs,
        private: &[PathBuf],
        exec: bool,
    ) -> io::Result<()> {
        for path in &mut needs.read {
            if !clashes(&path.path, private)
                && let Some(found) = path.refreshed()
            {
                self.add(found, readable(exec))?;
            }
        }
        for program in &mut needs.programs {
            if let Some(found) = program.refreshed() {
                self.add(found, AccessFs::ReadFile | AccessFs::Execute)?;
            }
        }
        Ok(())
    }

    /// Adds what the sandbox grants.
    pub(super) fn add_grants(
        &mut self,
        sandbox: &Sandbox,
        private: &[PathBuf],
        forbidden: &[PathBuf],
    ) -> io::Result<()> {
        for grant in &sandbox.grants {
            let access = match grant.write {
                true => writable(sandbox.exec),
                false => readable(sandbox.exec),
            };
            let Some((found, opened)) = granted_path(grant) else { continue };
            let clash = match (grant.clash, clash_of(&found, private), clash_of(&found, forbidden))
            {
                (Clash::Own, ..) => None,
                (_, _, Some(clash)) => Some((clash, "forbidden")),
                (_, None, None) | (Clash::Whole, Some(Relation::Contains(_)), None) => None,
                (_, Some(clash), None) => Some((clash, "PipeMux's own")),
            };
            let Some((clash, whose)) = clash else {
                self.add(&opened, access)?;
                continue;
            };
            let apart = [private, forbidden].concat();
            if !self.add_file_itself(grant, &apart, access)? {
                self.left_out.push(left_out(grant, &clash, whose));
            }
        }
        Ok(())
    }

    /// Adds a file whose directory can't be granted; returns whether it is one. The rule ends to
    /// hold once another file is renamed over it.
    fn add_file_itself(
        &mut self,
        grant: &Grant,
        apart: &[PathBuf],
        access: BitFlags<AccessFs>,
    ) -> io::Result<bool> {
        let found = Path::new(&grant.path).canonicalize().ok();
        let file = found.filter(|path| grant.around && path.is_file() && !clashes(path, apart));
        let Some(opened) = file.and_then(|path| Opened::at(&path).ok()) else { return Ok(false) };
        self.add(&opened, access)?;
        Ok(true)
    }

    /// Returns the ruleset, unless the kernel has none, and what was left out, in whole lines.
    pub(super) fn finish(self) -> (Option<OwnedFd>, Vec<String>) {
        (self.ruleset, self.left_out)
    }

    /// Adds a rule. This is a system call of its own, since the library asks the kernel each time
    /// what was opened.
    fn add(&mut self, found: &Opened, access: BitFlags<AccessFs>) -> io::Result<()> {
        let allowed = access & if found.is_directory { self.known } else { self.of_files };
        match &self.ruleset {
            Some(ruleset) if !allowed.is_empty() => {
                sys::add_rule(ruleset, &found.descriptor, allowed.bits())
            }
            _ => Ok(()),
        }
    }
}

/// The relation of a path to one of the private directories.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Relation {
    Contains(PathBuf),
    LiesIn(PathBuf),
}

/// Opens the directory or file that a grant means, and returns its path without symlinks; none if
/// there is nothing.
///
/// What was opened is what is compared with the private directories, so a path that is changed
/// meanwhile gains nothing.
fn granted_path(grant: &Grant) -> Option<(PathBuf, Opened)> {
    let path = Path::new(&grant.path);
    let open = |path: &Path| {
        let opened = Opened::at(path).ok()?;
        Some((opened.path(path).ok()?, opened))
    };
    match open(path) {
        Some((found, opened)) if grant.around && !opened.is_directory => open(found.parent()?),
        Some(found) => Some(found),
        // It may be created: the nearest directory that is there.
        None if grant.around => path.ancestors().skip(1).find_map(open),
        None => None,
    }
}

fn clash_of(path: &Path, private: &[PathBuf]) -> Option<Relation> {
    private.iter().find_map(|one| {
        if path.starts_with(one) {
            Some(Relation::LiesIn(one.clone()))
        } else {
            one.starts_with(path).then(|| Relation::Contains(one.clone()))
        }
    })
}

fn clashes(path: &Path, private: &[PathBuf]) -> bool {
    clash_of(path, private).is_some()
}

fn left_out(grant: &Grant, clash: &Relation, whose: &str) -> String {
    let path = &grant.path;
    match clash {
        Relation::Contains(private) => format!(
            "the sandbox leaves out {path}: it contains {}, which is {whose}; open a folder inside it",
            private.display()
        ),
        Relation::LiesIn(private) => format!(
            "the sandbox leaves out {path}: it lies in {}, which is {whose}",
            private.display()
        ),
    }
}

fn readable(exec: bool) -> BitFlags<AccessFs> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    if exec { read | AccessFs::Execute } else { read }
}

fn writable(exec: bool) -> BitFlags<AccessFs> {
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock;
    let all = AccessFs::from_all(NEWEST) & !devices & !AccessFs::ResolveUnix;
    if exec { all } else { all & !AccessFs::Execute }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_that_contain_or_lie_in_private_directories_are_found() {
        let private = [PathBuf::from("/home/ann/.local/state/pipemux")];
        let clash = |path: &str| clash_of(Path::new(path), &private);
        let own = private[0].clone();
        assert_eq!(clash("/home/ann"), Some(Relation::Contains(own.clone())));
        assert_eq!(clash("/"), Some(Relation::Contains(own.clone())));
        let inside = Some(Relation::LiesIn(own));
        assert_eq!(clash("/home/ann/.local/state/pipemux/sessions"), inside);
        assert_eq!(clash("/home/ann/.local/state/pipemux"), inside);
        assert_eq!(clash("/home/ann/.local/state/pipemux2"), None);
        assert_eq!(clash("/home/ann/proj"), None);
    }
}
