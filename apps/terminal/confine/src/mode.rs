//! Whether commands are confined here, and if not, why.

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

/// Why commands aren't confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyOff {
    /// A person wrote it.
    Set,
    /// The user is root in a container: the whole machine is the agent's.
    Container,
    /// `CI` is set: the whole machine is the job's.
    Ci,
}

impl Mode {
    /// Returns the mode of an opener whose environment has, or hasn't, these variables.
    pub fn of(policy: &Policy, variable: impl Fn(&str) -> Option<String>) -> Self {
        match policy.confine {
            Some(Confine::Off) => Self::Off(WhyOff::Set),
            None if is_root_in_container() => Self::Off(WhyOff::Container),
            None if variable("CI").is_some_and(|ci| is_true(&ci)) => Self::Off(WhyOff::Ci),
            _ if can_confine() => Self::Confined,
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
            || std::env::var_os("container").is_some()
            || root_is_overlay())
}

/// The root of a container is layers of an image, whatever started it.
fn root_is_overlay() -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut roots = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ');
        (fields.nth(1)? == "/").then(|| fields.next().unwrap_or_default())
    });
    roots.next_back().is_some_and(|kind| kind == "overlay" || kind == "fuse.fuse-overlayfs")
}

/// Returns true if the kernel has Landlock 2 or newer: before, files can't be moved between folders at all, and builds fail.
/// It is looked up once.
#[cfg(target_os = "linux")]
pub fn can_confine() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| knows(ABI::V2))
}

/// Returns true if the kernel also holds the truncation of files by their path, which it does from Landlock 3 on.
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
    fn what_a_person_wrote_comes_first() {
        let of = |confine, ci: Option<&str>| {
            Mode::of(&Policy { confine, ..Policy::default() }, |_| ci.map(str::to_owned))
        };
        assert_eq!(of(Some(Confine::Off), None), Mode::Off(WhyOff::Set));
        let confined = if can_confine() { Mode::Confined } else { Mode::Impossible };
        assert_eq!(of(Some(Confine::Workspace), Some("true")), confined);
        if !is_root_in_container() {
            assert_eq!(of(None, Some("true")), Mode::Off(WhyOff::Ci));
            assert_eq!(of(None, Some("")), confined);
            assert_eq!(of(None, None), confined);
        }
    }
}
