//! Determines whether commands are confined on this machine, and if not, why.

use std::path::Path;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;

#[cfg(target_os = "linux")]
use landlock::{ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};

use crate::policy::{Confine, Policy};

/// Whether commands are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// They are.
    Confined,
    /// They may do what the user may.
    Off(WhyOff),
    /// They should be, and this system can't.
    Impossible,
}

/// The reason why commands aren't confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyOff {
    /// The user configured it.
    Set,
    /// The user is root in a container: the whole machine is the agent's.
    Container,
    /// `CI` is set: the whole machine is the job's.
    Ci,
}

impl Mode {
    /// Returns the mode of an opener whose environment has, or hasn't, these variables.
    pub fn of(policy: &Policy, variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_ci = variable("CI").is_some_and(|ci| is_true(&ci));
        Self::decided(policy.confine, is_root_in_container(), is_ci, can_confine())
    }

    fn decided(confine: Option<Confine>, is_container: bool, is_ci: bool, is_able: bool) -> Self {
        match confine {
            Some(Confine::Off) => Self::Off(WhyOff::Set),
            None if is_container => Self::Off(WhyOff::Container),
            None if is_ci => Self::Off(WhyOff::Ci),
            _ if is_able => Self::Confined,
            _ => Self::Impossible,
        }
    }
}

fn is_true(value: &str) -> bool {
    matches!(value, "true" | "1" | "TRUE" | "True")
}

fn is_root_in_container() -> bool {
    rustix::process::geteuid().is_root()
        && (["/.dockerenv", "/run/.containerenv"].iter().any(|path| Path::new(path).exists())
            || is_started_as_container()
            || root_is_overlay())
}

/// Whether the environment of the first process names a container runtime.
fn is_started_as_container() -> bool {
    let environment = std::fs::read("/proc/1/environ").unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(b"container="))
}

/// Whether the root is an overlay of image layers, as in any container.
fn root_is_overlay() -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut roots = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ');
        (fields.nth(1)? == "/").then(|| fields.next().unwrap_or_default())
    });
    roots.next_back().is_some_and(|kind| kind == "overlay" || kind == "fuse.fuse-overlayfs")
}

/// Returns true if the kernel has Landlock 2 or newer: before, files can't be moved between folders
/// at all, and builds fail. It is looked up once.
#[cfg(target_os = "linux")]
pub fn can_confine() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| knows(ABI::V2))
}

/// Returns true if the kernel also holds the truncation of files by their path, which it does from
/// Landlock 3 on.
#[cfg(target_os = "linux")]
pub fn holds_truncation() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| knows(ABI::V3))
}

#[cfg(target_os = "linux")]
fn knows(version: ABI) -> bool {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    rules.handle_access(AccessFs::from_write(version)).and_then(Ruleset::create).is_ok()
}

/// Returns false: this system confines no commands.
#[cfg(not(target_os = "linux"))]
pub fn can_confine() -> bool {
    false
}

/// Returns false: this system confines no commands.
#[cfg(not(target_os = "linux"))]
pub fn holds_truncation() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decision_of_a_person_comes_before_containers_and_ci() {
        let decided = Mode::decided;
        let (confine, off) = (Some(Confine::Workspace), Some(Confine::Off));
        assert_eq!(decided(off, false, false, true), Mode::Off(WhyOff::Set));
        assert_eq!(decided(off, true, true, false), Mode::Off(WhyOff::Set));
        assert_eq!(decided(confine, true, true, true), Mode::Confined);
        assert_eq!(decided(confine, true, true, false), Mode::Impossible);
        assert_eq!(decided(None, true, true, true), Mode::Off(WhyOff::Container));
        assert_eq!(decided(None, false, true, true), Mode::Off(WhyOff::Ci));
        assert_eq!(decided(None, false, false, true), Mode::Confined);
        assert_eq!(decided(None, false, false, false), Mode::Impossible);
    }

    #[test]
    fn values_that_say_no_are_not_ci() {
        assert!(["true", "1"].into_iter().all(is_true));
        assert!(!["", "false", "0"].into_iter().any(is_true));
    }
}
