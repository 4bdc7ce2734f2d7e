//! What the core tells whoever measures it. Nothing is noted unless somebody does.

use pipemux_proto::ProviderId;

use crate::event::ClientId;

/// Something that is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measurement {
    /// A request got its one answer.
    Answered {
        /// Who asked.
        client: ClientId,
        /// The number that the client gave the request.
        request: u64,
        /// What was asked, by its [name](pipemux_proto::client::VerbKind::name); [`UNREAD`] for
        /// what was refused unread.
        verb: &'static str,
        /// The exit status.
        exit: u8,
    },
    /// An answer with windows was written: its tokens, of those that all of it would have had.
    Shown {
        /// Tokens of the answer.
        shown: u64,
        /// Tokens that there were to show.
        available: u64,
    },
    /// A session's process was ordered.
    Started {
        /// Which app.
        provider: ProviderId,
        /// True after a crash.
        again: bool,
    },
}

/// The verb of requests that were refused before they were read.
pub const UNREAD: &str = "unread";
