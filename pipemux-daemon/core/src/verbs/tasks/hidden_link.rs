//! A click on a link that its window doesn't show.

use pipemux_proto::refs::Ref;

use crate::keys::SessionKey;

/// A link that is looked for in its window as it is now.
#[derive(Debug)]
pub(crate) struct HiddenLink {
    /// The link as the reader wrote it.
    pub link: Ref,
    pub session: SessionKey,
}
