//! The verbs: one file for each that has substance, and the steps that several of them share.
//!
//! | module | purpose |
//! |---|---|
//! | `begin` | a request from its arrival to its one answer |
//! | `require` | the request, workspace and task that a handler needs, or the fault that the request ends with |
//! | [`tasks`] | plain state of requests that wait; imports no verb |
//! | `open`, `view`, `read`, `run`, `click`, `logs`, `trace`, `wait`, `history`, `undo`, `list`, `set`, `stop`, `providers`, `bounds`, `consent`, `pause` | the verbs |
//! | `run_driver`, `run_questions` | drive a run, and keep it with its open question |
//! | `beside` | what other runs changed in files while one ran |
//! | `jobs` | waits for the ends of jobs, reads their output, cancels them |
//! | `kept_rests` | keep what a failed run left, and go on with it |
//! | `project_reply` | takes the windows that apps send |
//! | `prefetch` | requests windows ahead of time |
//! | `end_pending_views` | windows that an answer stops waiting for |
//! | `write_answer`, `answer_builder` | write an answer that shows windows, from parts that are made one after the other |
//! | `answer_jobs` | what an answer says of jobs |
//! | `answer_in_parts` | sends long answers without copying |
//! | `render_window` | renders one window, for an answer or for a run that needs the ids in it |
//! | `delivery` | what a reader will have seen once it has received an answer |
//! | `session_updates` | keeps workspaces informed of their sessions |

mod answer;
mod answer_form;
mod begin;
mod beside;
pub(crate) mod bounds;
mod click;
mod consent;
mod embeds;
mod end_pending_views;
mod hidden_link;
mod history;
mod jobs;
mod kept_rests;
mod list;
mod logs;
mod open;
mod pause;
mod prefetch;
mod project_reply;
mod providers;
mod read;
mod require;
mod resolve;
mod run;
mod run_driver;
mod run_questions;
mod session_updates;
mod set;
mod stop;
pub(crate) mod tasks;
mod trace;
mod turn_windows;
mod undo;
mod usage;
mod view;
mod wait;
mod wait_checks;
mod write_answer;
