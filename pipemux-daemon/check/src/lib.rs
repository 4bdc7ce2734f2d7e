//! The conformance run of `pipemux app check`: speaks the protocol to an app as a daemon would, and
//! finds what its author should mend. It needs no daemon and can send what a daemon never does.
//!
//! | module | contents |
//! |---|---|
//! | `run` | the run: what is done in which order |
//! | `subject` | the app that is checked |
//! | `session` | requests, with the rules that hold for each; starts the app again when it is lost |
//! | `process` | the connection to the app's process: frames and answers |
//! | `observer` | looks at windows, and tells what an action did from what changes by itself |
//! | `shown_objects` | the objects that windows showed, and the rules for keys and revisions |
//! | `arguments` | arguments of actions, made from their prototypes |
//! | `actions` | rules for actions: their outcomes and questions |
//! | `versions` | rules for the effect of actions |
//! | `refusals` | rules for what an action must refuse |
//! | `jobs`, `job_table` | rules for jobs: their ends; their keys and reports |
//! | `lookups` | rules for `Locate` and `AppRead` |
//! | `lifecycle` | rules for sleep, waking, kills and ends |
//! | `garbage` | what a later or a broken peer might send |
//! | [`report`] | what was found, as text and as data |
//! | [`launch`] | what starts the app's process |
//! | `limits` | how long is waited, how much is tried |
//!
//! **Invariant: nothing of the user's is touched by this crate.** The app gets an empty state
//! directory, home and working directory. A destructive action is sent only for things that the run
//! itself made.
#![forbid(unsafe_code)]

mod actions;
mod arguments;
mod garbage;
mod job_table;
mod jobs;
pub mod launch;
mod lifecycle;
mod limits;
mod lookups;
mod observer;
mod process;
mod refusals;
pub mod report;
mod run;
mod session;
mod shown_objects;
mod subject;
mod versions;

pub use launch::{Launch, Start};
pub use report::{Finding, Report};
pub use run::check;
pub use subject::Subject;
