//! What a process is confined to, as the daemon orders it, and what the kernel can hold it to.

use serde::{Deserialize, Serialize};

/// The permissions of a process; everything else that the kernel can refuse is refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// True for the strict level: none of the system's configuration, no capability, and no system
    /// call but those that are listed as allowed.
    pub strict: bool,
    /// True if access to files is confined to the grants and to what the program needs to run.
    pub files: bool,
    /// The directories and files that the process may use.
    pub grants: Vec<Grant>,
    /// Directories that no grant may contain or lie in, except those of [`Grant::own`].
    pub private: Vec<String>,
    /// Directories and files that no grant may contain or lie in, except those of [`Grant::own`]:
    /// the person forbids them.
    pub forbidden: Vec<String>,
    /// True if it may open network connections.
    pub network: bool,
    /// True if it may start other programs.
    pub exec: bool,
    /// True if it may watch files by the kernel's queues of events, of which each user has few.
    pub watch: bool,
    /// True if it may signal processes that it didn't start.
    pub signals: bool,
}

/// A directory or a file that a process may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// An absolute path. A path that doesn't exist grants nothing.
    pub path: String,
    /// True if it may change what is there, false if it may only read it.
    pub write: bool,
    /// The treatment of a grant that contains one of the private directories.
    pub clash: Clash,
    /// True if of a file, or of one that may be created, its directory is meant: what is renamed
    /// over a file is not what was granted.
    pub around: bool,
}

/// The treatment of a grant that contains or is in one of PipeMux's own directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Clash {
    /// The grant is left out and listed in [`crate::Report::Spawned`].
    Refuse,
    /// It holds if it contains one: rules only allow, so nothing can be taken out of a directory,
    /// and what can't create a file in the home directory is no editor. It is left out if it lies
    /// in one.
    Whole,
    /// The grant applies all the same, because it is the session's own directory.
    Own,
}

impl Grant {
    /// Read access to a directory or file.
    pub fn read(path: impl Into<String>) -> Self {
        Self { path: path.into(), write: false, clash: Clash::Refuse, around: false }
    }

    /// Read and write access to a directory or file.
    pub fn write(path: impl Into<String>) -> Self {
        Self { path: path.into(), write: true, clash: Clash::Refuse, around: false }
    }

    /// Read and write access to the directory that belongs to the process's session.
    pub fn own(path: impl Into<String>) -> Self {
        Self { path: path.into(), write: true, clash: Clash::Own, around: false }
    }
}

/// The confinement that this system supports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SandboxSupport {
    /// The version of Landlock, which confines file access; 0 if there is none.
    pub landlock: u32,
    /// True if system calls can be refused by a filter.
    pub seccomp: bool,
}

/// The first version of Landlock that confines signals.
const SIGNALS: u32 = 6;
/// The first version of Landlock that confines the truncation of files.
const TRUNCATION: u32 = 3;

impl SandboxSupport {
    /// True if signals to processes that an app didn't start can be refused.
    pub fn signals(self) -> bool {
        self.landlock >= SIGNALS
    }

    /// Describes in words what is held and what is not.
    pub fn describe(self) -> String {
        let mut held = Vec::new();
        let mut missing = Vec::new();
        let files = if self.landlock > 0 { &mut held } else { &mut missing };
        files.push("files");
        let calls = if self.seccomp { &mut held } else { &mut missing };
        calls.extend(["network", "sockets", "tracing"]);
        let signals = if self.signals() { &mut held } else { &mut missing };
        signals.push("signals");
        if (1..TRUNCATION).contains(&self.landlock) {
            missing.push("truncation of files");
        }
        let by = format!("Landlock {}, seccomp", self.landlock);
        match (held.as_slice(), missing.as_slice()) {
            ([], _) => "this system can't confine apps".to_owned(),
            (held, []) => format!("confines {} ({by})", held.join(", ")),
            (held, missing) => {
                format!(
                    "confines {}; this system can't confine {}",
                    held.join(", "),
                    missing.join(", ")
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_the_kernel_lacks_are_reported() {
        let all = SandboxSupport { landlock: 7, seccomp: true };
        assert_eq!(
            all.describe(),
            "confines files, network, sockets, tracing, signals (Landlock 7, seccomp)"
        );
        let old = SandboxSupport { landlock: 2, seccomp: true };
        assert_eq!(
            old.describe(),
            "confines files, network, sockets, tracing; this system can't confine signals, truncation of files"
        );
        assert_eq!(SandboxSupport::default().describe(), "this system can't confine apps");
    }
}
