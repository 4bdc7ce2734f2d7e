//! The prepared confinement of one process; `sys` applies it.

use std::os::fd::OwnedFd;

use super::filters::FilterKind;

/// The confinement of one process.
#[derive(Debug)]
pub(crate) struct Confinement {
    /// The rules for files and signals; `None` if the kernel has no Landlock.
    pub ruleset: Option<OwnedFd>,
    /// True if the process may read its own directory of `/proc`.
    pub own_proc: bool,
    /// The filter of refused system calls; `None` if the kernel has no filters.
    pub filter: Option<FilterKind>,
    /// The capabilities that a root user keeps, as a bit mask.
    pub capabilities: u32,
}
