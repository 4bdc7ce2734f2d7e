//! The same types for systems without control groups.

use std::io;
use std::path::PathBuf;

use crate::message::{ExceededLimit, Limits};

/// A part of the cgroup hierarchy, which doesn't exist on this system.
#[derive(Debug)]
pub struct CgroupTree;

/// A control group, which doesn't exist on this system.
#[derive(Debug)]
pub(crate) struct SessionCgroup;

impl CgroupTree {
    /// Finds nothing.
    pub fn find() -> Option<PathBuf> {
        None
    }

    /// Takes over nothing.
    ///
    /// # Errors
    /// Always: this system has no control groups.
    pub fn take_over(_: PathBuf) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The controllers; there are none on this system.
    pub fn controllers(&self) -> &[&'static str] {
        &[]
    }

    pub(crate) fn create(&self, _: u64, _: Limits) -> io::Result<SessionCgroup> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl SessionCgroup {
    pub(crate) fn exceeded(&self, _: Limits) -> Option<ExceededLimit> {
        None
    }

    pub(crate) fn kill(&self) {}

    pub(crate) fn remove(&self) {}
}
