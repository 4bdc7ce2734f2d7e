//! Runs: the steps of a script, carried out one after the other.
//!
//! A [`Run`] is a value that sends nothing and knows neither clients nor the core: [`Run::resume`]
//! takes what happened, a [`RunInput`], with a [`RunContext`] to look at, and returns what the run
//! needs next, a [`RunOutput`]. Whoever drives it carries that out. A run that asks its reader ends
//! its request: a [`suspended::Suspended`] keeps what goes on with the answer, and no question or
//! kept run holds a [`Run`].
//!
//! | module | decides |
//! |---|---|
//! | [`protocol`] | what a run is told, and what it needs next |
//! | [`run`], `phase`, `resume`, `send` | its state; its next step |
//! | [`caller`], [`origin`], [`progress`], [`step_outcome`], [`step_job`] | whose run it is; what it was made from; how far it has come |
//! | [`baseline`], [`own_changes`] | what numbers and refs of its steps mean; what it changed itself |
//! | `arguments` | what arguments are when their step runs |
//! | [`lookup`], `resume_lookup`, `rebase` | what is asked of apps before a step is sent, or sent again |
//! | [`undone_round`], `undo_rollback` | an undo, and one that can't be finished: what it took back is made again |
//! | [`suspended`], [`questions`] | what waits for an answer; questions to the reader, their answers, their saved form |
//! | [`kept_run`], [`kept_steps`] | a run that is sent again; the steps that a failed run leaves, until its reader corrects the failed one |
//! | [`open_runs`], `snapshot` | all that waits for readers, and its records |
//! | [`followup`], [`history_round`] | what a run leaves behind: a kept run, advice, a round of history |

mod arguments;
pub mod baseline;
pub mod caller;
pub mod followup;
pub mod history_round;
pub mod kept_run;
pub mod kept_steps;
pub mod lookup;
pub mod open_runs;
pub mod origin;
pub mod own_changes;
mod phase;
pub mod progress;
pub mod protocol;
pub mod questions;
mod rebase;
mod refused_ref;
mod resume;
mod resume_lookup;
pub mod run;
mod send;
mod snapshot;
pub mod step_job;
pub mod step_outcome;
pub mod suspended;
mod undo_rollback;
pub mod undone_round;

pub use protocol::{ArrivedWindow, LookupReply, LookupRequest, RunInput, RunOutput, StepReply};
pub use questions::answer_text::TypedAnswer;
pub use run::Run;
pub use step_outcome::StepOutcome;

pub use crate::scripts::context::RunContext;
pub use crate::scripts::step::{Argument, Step, StepOrigin};

#[cfg(test)]
mod tests;
