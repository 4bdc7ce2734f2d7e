//! The verbs: one file where one has substance.

mod abandon_pending_views;
mod begin;
pub(crate) mod bounds;
mod click;
pub(crate) mod deliver;
mod history;
mod list;
pub(crate) mod logs;
mod long_answer;
mod open;
pub(crate) mod prefetch;
pub(crate) mod providers;
pub(crate) mod read;
mod run;
mod run_driver;
mod run_questions;
mod session_updates;
mod set;
pub(crate) mod show;
mod stop;
pub(crate) mod tasks;
pub(crate) mod wait;

pub(crate) use open::lod_name;
pub(crate) use run::exit_status as run_exit_status;
