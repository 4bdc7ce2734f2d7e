//! The step that follows once the manifests were read.

use pipemux_proto::client::OpenArgs;

/// The step that follows once the manifests were read.
#[derive(Debug)]
pub(crate) enum AfterLoading {
    /// List the apps.
    List,
    /// Report the change that was made to the manifests.
    Report,
    /// Open an app that wasn't registered before and may be now.
    Open(Box<OpenArgs>),
}
