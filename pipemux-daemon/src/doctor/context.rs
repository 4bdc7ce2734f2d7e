//! The environment that the checks examine.

use pipemux_proto::paths::Paths;

use crate::manifests::ManifestDirs;

#[derive(Debug, Clone)]
pub(super) struct DoctorContext {
    pub(super) paths: Paths,
    pub(super) uid: u32,
    pub(super) manifests: ManifestDirs,
    /// The search path for commands.
    pub(super) path: String,
    /// The process id of the running daemon, if the caller knows it.
    pub(super) daemon: Option<i32>,
    pub(super) fix: bool,
}
