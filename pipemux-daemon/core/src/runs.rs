//! Runs: a script is checked as a whole, then carried out step by step.
//!
//! A [`Run`] is a value that sends nothing and knows neither clients nor the core: [`Run::resume`] takes what
//! happened, a [`RunInput`], with a [`RunContext`] to look at, and returns what the run needs next, a
//! [`RunOutput`]. Whoever drives it carries that out.
//!
//! | module | decides |
//! |---|---|
//! | [`plan`], `resolve_target`, `coerce`, `named_argument`, `quoting` | whether a script can run: sessions, actions, arguments, types, what quotes mean |
//! | [`step`] | a checked call, its arguments, its outcome |
//! | [`protocol`] | what a run is told, and what it needs next |
//! | [`run`], `phase`, `resume`, `send` | how far a run has come; its next step |
//! | [`put_back`] | an undo that can't be finished: what it took back is made again |
//! | [`baseline`], [`source`] | what numbers and refs of a step mean; the script that a run was made from |
//! | [`arguments`], [`resolve_ref`] | what arguments are when their step runs; what refs mean |
//! | [`lookup`], [`rebase`] | what is asked of apps before a step is sent, or sent again |
//! | `labels` | things that are named by their labels |
//! | [`missing_argument`], [`question`], [`saved_question`] | questions to the reader, their answers, their saved form |
//! | [`form`], `form_text`, `form_example`, `field_rules`, `record` | several arguments in one question; records; what a field's value has to fulfil |
//! | [`secrets`] | what is secret in a script, and in what is told of it |
//! | `answer_text`, `selection` | what a typed answer is, and what it chooses |
//! | [`kept_rest`] | the steps that a failed run leaves, until their reader corrects the failed one |
//! | `snapshot` | what is saved of open questions and kept steps |
//! | `join` | what becomes of a run that comes while a question is open |
//! | [`followup`], [`history_round`], `written_call` | what a run leaves behind: a kept run, advice, a round of history |
//! | [`ref_errors`] | the exact sentences for refs that lead nowhere |

mod answer_text;
pub mod arguments;
mod bare_number;
pub mod baseline;
mod coerce;
pub mod context;
mod field_rules;
pub mod followup;
pub mod form;
mod form_example;
mod form_text;
pub mod history_round;
mod join;
pub mod kept_rest;
mod labels;
pub mod link;
pub mod lookup;
pub mod missing_argument;
mod named_argument;
pub mod neighbours;
pub mod open_questions;
mod phase;
pub mod plan;
pub mod protocol;
pub mod put_back;
pub mod question;
mod quoting;
pub mod rebase;
mod record;
pub mod ref_errors;
pub mod resolve_ref;
pub mod resolve_target;
mod resume;
pub mod run;
pub mod saved_question;
pub mod secrets;
mod selection;
mod send;
mod snapshot;
pub mod source;
pub mod step;
mod written_call;

pub use answer_text::TypedAnswer;
pub use context::RunContext;
pub use protocol::{ArrivedWindow, RunInput, RunOutput, StepReply};
pub use run::Run;
pub use step::{Argument, MissingArgument, Step, StepOrigin, StepOutcome, fixed};

#[cfg(test)]
mod tests;
