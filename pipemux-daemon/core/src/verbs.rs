//! The verbs: one file for each that has substance, and the steps that several of them share.
//!
//! | module | purpose |
//! |---|---|
//! | `require` | the request, workspace and task that a handler needs, or the fault that the request ends with |
//! | `next` | what the function of a verb leaves to be done |
//! | [`tasks`] | plain state of requests that wait; imports no verb |
//! | `open`, `view`, `read`, `run`, `click`, `logs`, `trace`, `watch`, `history`, `undo`, `help`, `set`, `stop`, `providers`, `bounds`, `consent`, `pause` | the verbs |
//! | `run_driver`, `run_questions` | drive a run, and keep it with its open question |
//! | `concurrent_changes` | what other runs changed in files while one ran |
//! | `jobs` | waits for the ends of jobs, reads their output, cancels them |
//! | `kept_rests` | keep what a failed run left, and go on with it |
//! | `viewed_state` | whether what a request views has changed since its reader saw it |
//! | `session_updates` | keeps workspaces informed of their sessions |

mod answer;
mod answer_form;
pub(crate) mod bounds;
mod click;
mod concurrent_changes;
pub(crate) mod consent;
pub(crate) mod find_session;
pub(crate) mod help;
mod hidden_link;
pub(crate) mod history;
mod jobs;
mod kept_rests;
pub(crate) mod logs;
pub(crate) mod next;
pub(crate) mod open;
pub(crate) mod pause;
pub(crate) mod providers;
mod read;
pub(crate) mod require;
pub(crate) mod resolve;
mod run;
mod run_driver;
mod run_questions;
mod session_updates;
pub(crate) mod set;
mod stop;
pub(crate) mod tasks;
pub(crate) mod trace;
pub(crate) mod undo;
pub(crate) mod usage;
pub(crate) mod view;
pub(crate) mod viewed_state;
pub(crate) mod watch;
