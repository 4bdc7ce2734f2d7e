//! The answers of requests that show windows: from the windows that apps sent to the frame for the
//! client.
//!
//! An answer is made in four steps, each of which consumes what the one before returned, so that
//! none can be left out or taken in another order:
//!
//! | step | value | what it may change |
//! |---|---|---|
//! | [`collect`] | a [`PendingView`](pending::PendingView) → `AnswerInput` | nothing |
//! | [`mint`] | → `MintedAnswer`: windows, outcome, questions and jobs, rendered | anchors, renderings, versions of Contexts, the epoch; what a failed run leaves is kept |
//! | [`compose`] | → `ComposedAnswer`: the text within its budget (`fit`, `fit_injection`), or the report | nothing |
//! | [`commit`] | → `OutgoingAnswer`, for the client | the delivery that its reader confirms, reserved numbers, counted tokens |
//!
//! **Invariant: an answer never shows an id that isn't reserved on disk.** Only `commit` returns
//! what can be sent.
//!
//! Minting can't be a list of things to do that a pure step returns: a text holds the ids that are
//! minted while it is written, and which ids one window has decides how the next one names the same
//! things.

pub(crate) mod collect;
pub(crate) mod commit;
pub(crate) mod compose;
pub(crate) mod mint;

mod cancelled_steps;
mod cut_windows;
pub(crate) mod delivery;
pub(crate) mod document;
mod draft;
mod embed_requests;
mod embeds;
mod fit;
mod fit_injection;
pub(crate) mod held_window;
mod job_lines;
pub(crate) mod kept_rest;
mod next_epoch;
mod notices;
mod panels;
pub(crate) mod pending;
pub(crate) mod per_reader;
mod prefetch_requests;
pub(crate) mod prefetches;
mod project_reply;
mod questions;
mod recap;
mod render_input;
mod report;
mod request;
mod run_outcome;
mod send;
pub(crate) mod window_requests;
mod windows;
