//! What the core tells whoever measures it. Nothing is noted unless somebody does.

use pipemux_proto::ProviderId;
use pipemux_proto::client::Verb;

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
        /// What was asked, as [`verb_name`] has it; [`UNREAD`] for what was refused unread.
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

/// Returns the name of a verb, as the command line has it.
pub fn verb_name(verb: &Verb) -> &'static str {
    match verb {
        Verb::Open(_) => "open",
        Verb::View(view) if view.inject.is_some() => "inject",
        Verb::View(_) => "view",
        Verb::Click { .. } => "click",
        Verb::Run { only_queries: true, .. } => "ask",
        Verb::Run { .. } => "run",
        Verb::Answer { .. } => "answer",
        Verb::Read { .. } => "read",
        Verb::Resolve { .. } => "resolve",
        Verb::Help { .. } => "help",
        Verb::Close { .. } => "close",
        Verb::Apps => "apps",
        Verb::Sessions => "sessions",
        Verb::Trace { .. } => "trace",
        Verb::Logs { .. } => "logs",
        Verb::Restart { .. } => "restart",
        Verb::End { .. } => "end",
        Verb::History(_) => "history",
        Verb::Undo { .. } => "undo",
        Verb::Set { .. } => "set",
        Verb::Status | Verb::Limits => "status",
        Verb::Watch(_) => "watch",
        Verb::Providers(_) => "app",
        Verb::Consent(_) => "consent",
        Verb::Pause(_) => "pause",
        Verb::Down => "down",
    }
}
