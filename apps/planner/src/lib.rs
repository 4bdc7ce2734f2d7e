//! The planner: five roles and the user bring about a plan by consensus, or a draft that says what
//! is open.
//!
//! | module | purpose |
//! |---|---|
//! | [`action`] | the actions |
//! | [`model`] | a session: its topic, its configuration, the drivers at work |
//! | `topic` | begins topics, and goes on with earlier ones |
//! | `players`, `workers` | has turns played by drivers, and applies what they answer; the drivers at work |
//! | [`app`] | connects model, update and window to docui |
//! | `update`, `speak` | carries out actions; turns that readers answer |
//! | `outcome` | what each call is answered |
//! | `query` | answers queries, which change nothing |
//! | `window`, `page` | the document of a window, within its budget |
//! | `conversation`, `payload_outline`, `decision` | parts of it: what was said, what a speaker is given, the plan or the draft |
//! | `reader` | who a reader is: which roles it took, whether it speaks for the user |
//! | `seen` | which version a reader was shown, and what can still be decided on it |
//! | `next_step` | the one thing that is expected of a reader now, with the call that does it |
//! | `frame` | the words of the frame in the language of the brief |
//! | `calls` | the calls that answer turns |
//! | `handoff` | gives a plan or a draft to a command, and keeps a record of it |
//! | `check` | runs the commands of a plan; `report`: the record of what held; `verdicts`: how that is shown |
//! | `nodes` | a plan's requirements for the memory tree |
//! | [`store`] | a topic's files below `.planning` |
//! | [`config`] | `planner.toml`: who plays which role |
//! | [`drivers`] | programs and endpoints that play roles |
//! | `prior` | reads the plan, the draft or the note that a brief comes with |
//! | `strict` | JSON in which each name of an object stands once |
//! | `cites` | finds what a verdict cites that doesn't exist |
//! | [`limits`] | every bound |
//!
//! What is decided when is the business of `pipemux-planner-course`, which knows no files and no
//! clock.
//!
//! **Invariant: what was answered is in the journal.** An entry is written there before it is taken
//! in, and all other files are made of it, so the process may be killed at any moment.
//!
//! **Invariant: the window never waits.** Drivers run on threads of their own; what they answer is
//! foreign text.
// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are
// checked otherwise.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
#![forbid(unsafe_code)]

pub mod action;
mod app;
mod calls;
mod check;
mod cites;
mod config;
mod conversation;
mod decision;
pub mod drivers;
mod frame;
mod handoff;
mod limits;
mod model;
mod next_step;
mod nodes;
mod outcome;
mod page;
mod payload_outline;
mod players;
mod prior;
mod query;
mod reader;
mod report;
mod seen;
mod speak;
mod store;
mod strict;
mod topic;
mod trust;
mod update;
mod verdicts;
mod window;
mod workers;

pub use action::Action;
pub use model::Planner;

/// Serves the app on the connection that this process inherited, as [`docui::run`] does. It is
/// compiled here, together with what it uses, and not once more with the program.
pub fn run() -> std::process::ExitCode {
    docui::run::<Planner>()
}
