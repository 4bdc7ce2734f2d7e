//! The verbs: one file for each that has substance, and the steps that several of them share.
//!
//! | module | purpose |
//! |---|---|
//! | `require` | the request, workspace and task that a handler needs, or the fault that the request ends with |
//! | `next` | what the function of a verb leaves to be done |
//! | [`tasks`] | plain state of requests that wait; imports no verb |
//! | `open`, `view`, `read`, `run`, `click`, `logs`, `trace`, `watch`, `history`, `undo`, `help`, `set`, `stop`, `providers`, `bounds`, `consent`, `pause` | the verbs |
//! | `permission` | whether a request may act |
//! | `opens` | the way of an app from an `open` to its window |
//! | `run_driver`, `end_run` | drive a run to its end |
//! | `questions` with `run_questions`, `answer`, `answer_form` | ask for what a run needs, and take the answers |
//! | `lookups` | takes the replies to what was looked up in apps |
//! | `incarnations`, `job_events` | what becomes of readers' knowledge and of jobs when processes come and go |
//! | `waits`, `wait_checks` | requests that wait for something to happen |
//! | `concurrent_changes` | what other runs changed in files while one ran |
//! | `jobs` | waits for the ends of jobs, reads their output, cancels them |
//! | `kept_rests` | keep what a failed run left, and go on with it |
//! | `viewed_state` | whether what a request views has changed since its reader saw it |

mod answer;
mod answer_form;
pub(crate) mod bounds;
pub(crate) mod click;
pub(crate) mod concurrent_changes;
pub(crate) mod consent;
pub(crate) mod end_run;
pub(crate) mod find_session;
pub(crate) mod help;
pub(crate) mod hidden_link;
pub(crate) mod history;
pub(crate) mod incarnations;
pub(crate) mod job_events;
pub(crate) mod jobs;
mod kept_rests;
pub(crate) mod logs;
pub(crate) mod lookups;
pub(crate) mod next;
pub(crate) mod open;
pub(crate) mod opens;
pub(crate) mod pause;
pub(crate) mod permission;
pub(crate) mod providers;
pub(crate) mod questions;
pub(crate) mod read;
pub(crate) mod require;
pub(crate) mod resolve;
pub(crate) mod run;
pub(crate) mod run_driver;
mod run_questions;
pub(crate) mod set;
pub(crate) mod stop;
pub(crate) mod store_window;
pub(crate) mod tasks;
pub(crate) mod trace;
pub(crate) mod undo;
pub(crate) mod usage;
pub(crate) mod view;
pub(crate) mod viewed_state;
mod wait_checks;
pub(crate) mod waits;
pub(crate) mod watch;
