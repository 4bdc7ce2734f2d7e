//! Every decision of the PipeMux daemon, and no IO.
//!
//! [`Core::handle`] takes an [`Event`] and the time and gives [`Effect`]s; [`Core::handle_timeout`]
//! is called when [`Core::next_timeout`] has come. ARCHITECTURE.md at the top of the repository has
//! the whole picture.
//!
//! | module | decides |
//! |---|---|
//! | `core` | which component an event is for; the order of what follows; requests from their arrival to their answer |
//! | `verbs` | what each verb does, as functions over components; only `core` names [`Core`] |
//! | `pipeline` | what comes before a run: apps are opened and started, calls planned, folders granted |
//! | `answers` | what an answer shows of windows, within its budget; what its reader will have seen |
//! | `runs` | the steps of a run, one after the other; open questions |
//! | `scripts` | what a reader wrote: its steps, their arguments and what they name |
//! | `views` | projections to Markdown, deltas, Contexts, answers |
//! | `workspaces` | windows, anchors, readers, notices, history |
//! | `clients`, [`exchange`] | connections, requests and their one answer; bytes that aren't read |
//! | `processes` | sessions and their processes, requests to apps, health, hibernation, quarantine |
//! | `consents` | what only a person may allow |
//! | `pauses` | what a person holds |
//! | `rules` | what the settings forbid |
//! | `authoring`, [`lint`] | frames of sessions for authors of apps, and what is wrong with them |
//! | `jobs` | work of apps that outlasts the requests that began it |
//! | `persist`, [`saved`], [`Loss`] | records on disk, reserved numbers, what is known of losses |
//! | `intake`, `foreign` | what apps send, brought within its bounds; text that nobody may take for PipeMux's own |
//! | `feed` | what happened, for those who watch |
//! | `turn` | what components share while one event is taken in |
//!
//! Dependencies point one way: verbs → pipeline, answers → runs, views → scripts → workspaces,
//! processes, jobs, consents → persist. `tests/tests/structure.rs` fails on a circle.
//!
//! **Invariant: nothing here waits.** No runtime, no socket, no file, no clock and no randomness:
//! the same events and times give the same effects. `tests/dependencies.rs` checks the dependency
//! tree and the sources.
//!
//! **Invariant: nothing re-enters.** A component never calls back; see `core/process_events.rs`.
//!
//! **Invariant: values pass undecoded.** Arguments and results are placed by name and forwarded as
//! bytes; only what is shown to a reader is decoded, for showing.
//!
//! **Invariant: exactly one answer.** A request of a client leaves its table only with its answer
//! (`clients`), and a request to an app ends with one reply unless whoever sent it dropped it
//! (`processes`).
// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are
// checked otherwise.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
#![forbid(unsafe_code)]

mod announcements;
mod answers;
pub mod audit;
mod authoring;
pub mod bounds;
mod clients;
mod config;
mod consents;
mod core;
pub mod event;
mod feed;
mod foreign;
mod intake;
mod jobs;
mod keys;
pub mod limits;
pub mod manifest;
mod measurement;
mod pauses;
pub mod peer;
mod persist;
mod pipeline;
mod processes;
mod providers;
mod rate;
pub mod rules;
mod runs;
mod scripts;
mod text;
mod timers;
mod turn;
mod usage;
mod verbs;
mod views;
mod workspaces;

pub use self::core::Core;
pub use authoring::lint;
pub use clients::pseudonyms::Pseudonyms;
pub use config::Config;
pub use event::{
    ClientId, Confinement, Effect, Event, Exit, Limit, LogText, ManifestProblem, Manifests, Now,
    Signal, Start,
};
pub use foreign::ForeignText;
pub use manifest::{
    BuiltIn, FolderAccess, Idle, Isolation, Limits, Manifest, PinnedPrograms, Restart,
    SandboxLevel, Scope, Size, State, Transport,
};
pub use measurement::Measurement;
pub use persist::DiskFailure;
pub use persist::loss::{HighWater, Loss};
pub use processes::denials::tells_of_denial;

/// Bytes between a client and an app that the daemon does not read.
pub mod exchange {
    pub use crate::clients::exchange::{End, Forward};
}
/// The records on disk.
pub use persist::records as saved;
pub use usage::{Usage, UsageQuery, UsageReport};
