//! The core in dialogue with clients and apps: what an agent does, and what the answer is.

#[path = "../world/mod.rs"]
mod world;

mod answers;
mod audit;
mod authors;
mod bounded_apps;
mod budgets;
mod built_in;
mod changed_windows;
mod clients;
mod contexts;
mod environment;
mod exchange;
mod forged_lines;
mod forms;
mod health;
mod hibernation;
mod hostile_text;
mod injection;
mod jobs;
mod kept_rests;
mod kept_runs;
mod labels;
mod link_calls;
mod links;
mod names;
mod opening;
mod options;
mod prefetch;
mod processes;
mod queries;
mod questions;
mod raw_texts;
mod refs;
mod reopened_windows;
mod secrets;
mod shared_processes;
mod typed_refs;
mod undo;
mod waiting_views;
mod wake_times;
mod watch;
mod who_acts;
mod work;
