//! The core's measurements. Nothing is measured unless somebody collects them.

use pipemux_proto::ProviderId;

use crate::event::ClientId;

/// Something that is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measurement {
    /// A request was answered.
    Answered {
        client: ClientId,
        /// The number that the client gave the request.
        request: u64,
        /// What was asked, by its [name](pipemux_proto::client::VerbKind::name); [`UNREAD`] for
        /// what was refused unread.
        verb: &'static str,
        exit: u8,
    },
    /// An answer with windows was written: its tokens, of those that all of it would have had.
    Shown {
        /// Tokens of the answer.
        shown: u64,
        /// Tokens that there were to show.
        available: u64,
    },
    /// The start of a session's process was ordered.
    Started {
        provider: ProviderId,
        /// True after a crash.
        again: bool,
    },
}

/// The verb that is recorded for requests that were refused before they were decoded.
pub const UNREAD: &str = "unread";
