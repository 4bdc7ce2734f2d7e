//! An answer that waits for windows.

use crate::views::requested_window::{AnswerKind, RequestedWindow};

/// The windows that an answer waits for.
#[derive(Debug)]
pub(crate) struct PendingView {
    /// The windows, in the order of the answer.
    pub windows: Vec<RequestedWindow>,
    /// The kind of the answer.
    pub kind: AnswerKind,
}
