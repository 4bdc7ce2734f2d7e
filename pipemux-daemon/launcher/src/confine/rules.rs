//! The directories and files that a process may use, as a Landlock ruleset.
//!
//! Rules are for directories rather than for files where that is possible: a rule belongs to what it was made for, not
//! to its name, and ends to hold for a file that another one is renamed over.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope,
};
use nix::libc;

use super::program::Needs;
use crate::sandbox::{Clash, Grant, Sandbox};

/// The newest version whose rights are asked for; an older kernel holds what it knows.
const NEWEST: ABI = ABI::V9;
/// How many entries of a directory are granted in its place at most.
const ENTRIES_MAX: usize = 1024;

/// What every program may read: programs and libraries of the system.
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
/// The configuration that programs commonly read. None of it holds a secret.
const CONFIGURATION: [&str; 17] = [
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
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
];
/// What every program may read at each level.
const ESSENTIAL: [&str; 3] = ["/etc/ld.so.cache", "/etc/ld-musl-x86_64.path", "/etc/localtime"];
/// Devices without a state, readable and writable.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Directories of the system, opened once.
#[derive(Debug)]
pub(super) struct BaseDirectories {
    system: Vec<OwnedFd>,
    devices: Vec<OwnedFd>,
}

impl BaseDirectories {
    pub(super) fn open() -> Self {
        let system = SYSTEM.iter().map(Path::new);
        // A link into `/usr` needs no rule of its own.
        let own = system.filter(|path| {
            path.canonicalize().is_ok_and(|found| found == **path || !found.starts_with("/usr"))
        });
        let open = |path: &Path| open_path(path).ok();
        Self {
            system: own.filter_map(open).collect(),
            devices: DEVICES.iter().filter_map(|path| open(Path::new(path))).collect(),
        }
    }
}

/// A ruleset while rules are added.
#[derive(Debug)]
pub(super) struct Rules {
    ruleset: RulesetCreated,
    left_out: Vec<String>,
}

impl Rules {
    /// Creates the ruleset of a sandbox, without any rule.
    pub(super) fn new(sandbox: &Sandbox) -> io::Result<Self> {
        let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
        if sandbox.files {
            ruleset =
                ruleset.handle_access(AccessFs::from_all(NEWEST)).map_err(io::Error::other)?;
        }
        ruleset = ruleset.scope(Scope::AbstractUnixSocket).map_err(io::Error::other)?;
        if !sandbox.signals {
            ruleset = ruleset.scope(Scope::Signal).map_err(io::Error::other)?;
        }
        let created = ruleset.create().map_err(io::Error::other)?;
        Ok(Self { ruleset: created, left_out: Vec::new() })
    }

    /// Adds the system's programs, libraries, configuration and devices.
    pub(super) fn add_system(
        &mut self,
        base: &BaseDirectories,
        sandbox: &Sandbox,
    ) -> io::Result<()> {
        for directory in &base.system {
            self.add(directory, readable(sandbox.exec))?;
        }
        for device in &base.devices {
            self.add(device, AccessFs::ReadFile | AccessFs::WriteFile)?;
        }
        let configuration = CONFIGURATION.iter().filter(|_| !sandbox.strict);
        for path in ESSENTIAL.iter().chain(configuration) {
            // Opened each time, because these files are replaced by others of the same name.
            if let Ok(found) = open_path(Path::new(path)) {
                self.add(&found, readable(false))?;
            }
        }
        Ok(())
    }

    /// Adds what the program needs to run. A directory that holds more than that is left out without a word.
    pub(super) fn add_program(&mut self, needs: &Needs, sandbox: &Sandbox) -> io::Result<()> {
        let exec = sandbox.exec || needs.starts_others;
        if needs.starts_others && !sandbox.exec {
            for directory in SYSTEM.iter().filter_map(|path| open_path(Path::new(path)).ok()) {
                self.add(&directory, readable(true))?;
            }
        }
        let private = canonical(&sandbox.private);
        let free = |path: &&PathBuf| !clashes(path, &private) && !path.starts_with("/usr");
        let mut read: Vec<&PathBuf> = needs.read.iter().filter(free).collect();
        read.sort();
        read.dedup();
        for path in read {
            if let Ok(found) = open_path(path) {
                self.add(&found, readable(exec))?;
            }
        }
        for program in &needs.programs {
            if let Ok(found) = open_path(program) {
                self.add(&found, AccessFs::ReadFile | AccessFs::Execute)?;
            }
        }
        Ok(())
    }

    /// Adds what the sandbox grants.
    pub(super) fn add_grants(&mut self, sandbox: &Sandbox) -> io::Result<()> {
        let private = canonical(&sandbox.private);
        for grant in &sandbox.grants {
            let access = match grant.write {
                true => writable(sandbox.exec),
                false => readable(sandbox.exec),
            };
            let Some(found) = granted_path(grant) else { continue };
            let Ok(opened) = open_path(&found) else { continue };
            match (grant.clash, clash_of(&found, &private)) {
                (Clash::Own, _) | (_, None) => self.add(&opened, access)?,
                (Clash::Entries, Some(Relation::Contains(_))) => {
                    self.add_entries(&found, &private, access)?;
                }
                (Clash::Refuse | Clash::Entries, Some(clash)) => {
                    if !self.add_file_itself(grant, &private, access)? {
                        self.left_out.push(left_out(grant, &clash));
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds a file whose directory can't be granted; returns whether it is one. The rule ends to hold once another file
    /// is renamed over it.
    fn add_file_itself(
        &mut self,
        grant: &Grant,
        private: &[PathBuf],
        access: BitFlags<AccessFs>,
    ) -> io::Result<bool> {
        let found = Path::new(&grant.path).canonicalize().ok();
        let file = found.filter(|path| grant.around && path.is_file() && !clashes(path, private));
        let Some(opened) = file.and_then(|path| open_path(&path).ok()) else { return Ok(false) };
        self.add(&opened, access)?;
        Ok(true)
    }

    /// Adds what is in a directory, without the private directories and those that lead to them. The directory itself
    /// can be listed, but nothing can be created in it.
    fn add_entries(
        &mut self,
        directory: &Path,
        private: &[PathBuf],
        access: BitFlags<AccessFs>,
    ) -> io::Result<()> {
        let mut pending = vec![directory.to_owned()];
        while let Some(directory) = pending.pop() {
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            for entry in entries.flatten().take(ENTRIES_MAX) {
                let path = entry.path();
                // A link is followed by whoever opens it, to where it leads.
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_symlink() {
                    continue;
                }
                match clash_of(&path, private) {
                    None => {
                        if let Ok(found) = open_path(&path) {
                            self.add(&found, access)?;
                        }
                    }
                    Some(Relation::Contains(_)) => pending.push(path),
                    Some(Relation::LiesIn(_)) => {}
                }
            }
        }
        Ok(())
    }

    /// Returns the ruleset, unless the kernel has none, and what was left out, in whole lines.
    pub(super) fn finish(self) -> (Option<OwnedFd>, Vec<String>) {
        (self.ruleset.into(), self.left_out)
    }

    fn add(&mut self, found: &OwnedFd, access: BitFlags<AccessFs>) -> io::Result<()> {
        let rule = PathBeneath::new(found.as_fd(), access);
        (&mut self.ruleset).add_rule(rule).map(drop).map_err(io::Error::other)
    }
}

/// How a path and one of the private directories lie to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Relation {
    Contains(PathBuf),
    LiesIn(PathBuf),
}

/// Returns the directory or file that a grant means, without symlinks; none if there is nothing.
fn granted_path(grant: &Grant) -> Option<PathBuf> {
    let path = Path::new(&grant.path);
    if !grant.around {
        return path.canonicalize().ok();
    }
    match path.canonicalize() {
        Ok(found) if found.is_dir() => Some(found),
        Ok(found) => found.parent().map(Path::to_owned),
        // It may be created: the nearest directory that is there.
        Err(_) => path.ancestors().skip(1).find_map(|above| above.canonicalize().ok()),
    }
}

fn clash_of(path: &Path, private: &[PathBuf]) -> Option<Relation> {
    private.iter().find_map(|one| {
        if one.starts_with(path) {
            Some(Relation::Contains(one.clone()))
        } else {
            path.starts_with(one).then(|| Relation::LiesIn(one.clone()))
        }
    })
}

fn clashes(path: &Path, private: &[PathBuf]) -> bool {
    clash_of(path, private).is_some()
}

fn canonical(paths: &[String]) -> Vec<PathBuf> {
    paths
        .iter()
        .map(|path| Path::new(path).canonicalize().unwrap_or_else(|_| path.into()))
        .collect()
}

fn left_out(grant: &Grant, clash: &Relation) -> String {
    let path = &grant.path;
    match clash {
        Relation::Contains(private) => format!(
            "the sandbox leaves out {path}: it contains {}, which is PipeMux's own; open a folder inside it",
            private.display()
        ),
        Relation::LiesIn(private) => format!(
            "the sandbox leaves out {path}: it lies in {}, which is PipeMux's own",
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

/// Opens a path only to name it; this neither waits for nor changes what is there.
fn open_path(path: &Path) -> io::Result<OwnedFd> {
    Ok(File::options().read(true).custom_flags(libc::O_PATH | libc::O_CLOEXEC).open(path)?.into())
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
        assert_eq!(clash("/home/ann/.local/state/pipemux/sessions"), Some(Relation::LiesIn(own)));
        assert_eq!(clash("/home/ann/.local/state/pipemux2"), None);
        assert_eq!(clash("/home/ann/proj"), None);
    }
}
