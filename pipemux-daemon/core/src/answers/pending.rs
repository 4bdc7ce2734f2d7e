//! An answer that waits for windows.

use crate::keys::SessionKey;
use crate::views::requested_window::{AnswerKind, RequestedWindow, WindowStatus};
use crate::workspaces::EmbedDetail;

/// The windows that an answer waits for.
#[derive(Debug)]
pub(crate) struct PendingView {
    /// The windows, in the order of the answer.
    pub windows: Vec<RequestedWindow>,
    /// The windows that these show inside of theirs.
    pub embeds: Vec<PendingEmbed>,
    /// The kind of the answer.
    pub kind: AnswerKind,
}

/// A window that was asked for because another one shows it.
#[derive(Debug)]
pub(crate) struct PendingEmbed {
    /// The session that it shows.
    pub session: SessionKey,
    /// The level of detail and the budget.
    pub detail: EmbedDetail,
    /// What is known of it so far.
    pub state: WindowStatus,
    /// True once it was asked for a second time.
    pub again: bool,
}
