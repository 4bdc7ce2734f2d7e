//! Scripts: what a reader wrote, checked as a whole and planned as steps before anything runs.
//!
//! Nothing here changes anything: the planner reads windows and prototypes, and an error leaves no
//! trace.
//!
//! | module | decides |
//! |---|---|
//! | [`source`] | what was sent to be run |
//! | [`plan`], `plan_call`, `plan_argument`, `plan_link` | whether it can run: the steps, their arguments |
//! | [`resolve_target`], [`neighbours`] | which session a call means |
//! | [`coerce`], `named_argument`, `bare_number`, `labels`, `record`, [`field_rules`], `quoting` | types, names, numbers and labels as arguments; what quotes mean |
//! | [`step`] | a checked call and its arguments |
//! | [`link`] | what a link leads to |
//! | [`resolve_ref`], [`ref_errors`], [`context`] | what a ref leads to, and the exact sentences for refs that lead nowhere |
//! | [`secrets`], [`written_call`] | what is secret in a script; a step as it may be told |

mod bare_number;
pub mod coerce;
pub mod context;
pub mod field_rules;
mod labels;
pub mod link;
mod named_argument;
pub mod neighbours;
pub mod plan;
mod plan_argument;
mod plan_call;
mod plan_link;
mod quoting;
mod record;
pub mod ref_errors;
pub mod resolve_ref;
pub mod resolve_target;
pub mod secrets;
pub mod source;
pub mod step;
pub mod written_call;
