//! Every decision of the PipeMux daemon, and no IO.
//!
//! [`Core::handle`] takes an [`Event`] and the time and gives [`Effect`]s; [`Core::handle_timeout`] is
//! called when [`Core::next_timeout`] has come.
//!
//! | module | decides |
//! |---|---|
//! | `clients`, `jobs`, `records` | who asks, a request and its one answer, answers kept |
//! | `verbs` | what each verb does |
//! | `act` | runs: checked as a whole, carried out step by step, questions |
//! | `requests` | a request to an app, ended exactly once |
//! | [`exchange`] | bytes between a client and an app |
//! | `lifecycle`, `opening`, `session` | a process from start to end |
//! | `hosts` | processes that sessions share |
//! | `health`, `suspects`, `sleep` | whether it still answers, what it dies of, when it rests |
//! | `workspace`, `anchors` | windows, ids, epochs, what each reader has seen |
//! | `shown` | what the windows of a session are told of it |
//! | `sent` | a window as its app sent it, within its bounds |
//! | `deliver`, `render`, `context` | slots to Markdown, deltas, answers |
//! | `feed` | what happened, for those who watch |
//! | `saved`, `restore`, [`Loss`], `history` | what survives the daemon, what was done |
//!
//! **Invariant: nothing here waits.** No runtime, no socket, no file, no clock and no randomness: the
//! same events and times give the same effects. `tests/dependencies.rs` holds the dependency tree to
//! that.
//!
//! **Invariant: values pass undecoded.** Arguments and results are placed by name and forwarded as
//! bytes; only what is shown to a reader is decoded, for showing.
//!
//! **Invariant: exactly one answer.** A request of a client leaves `jobs` only through
//! `Core::answer`, a request to an app leaves `pending` only through `Core::end_request`.
#![forbid(unsafe_code)]

pub mod bounds;
mod clients;
mod core;
pub mod event;
mod feed;
mod keys;
pub mod limits;
pub mod manifest;
mod persist;
mod processes;
mod rate;
mod runs;
mod timers;
mod turn;
mod verbs;
mod views;
mod workspaces;

pub use self::core::{Config, Core};
pub use event::{
    ClientId, Effect, Event, Exit, Limit, LogText, ManifestProblem, Manifests, Now, Signal, Start,
};
pub use manifest::{Idle, Isolation, Limits, Manifest, Restart, Scope, Size, State, Transport};
pub use persist::loss::Loss;

/// Bytes between a client and an app that the daemon does not read.
pub mod exchange {
    pub use crate::clients::exchange::{End, Forward};
}
/// The records on disk.
pub use persist::records as saved;
