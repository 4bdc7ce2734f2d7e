//! The conformance run of `pipemux app check`: speaks the protocol to an app as a daemon would, and finds what its
//! author should mend. It needs no daemon and can send what a daemon never does.
//!
//! | module | contents |
//! |---|---|
//! | `run` | the run: what is done in which order |
//! | `checker` | requests, with the rules that hold for each of them; starts the app again when it is lost |
//! | `process` | the connection to the app's process: frames and answers |
//! | `things` | the things that windows showed, and the rules for their keys and revisions |
//! | `arguments` | arguments of actions, made from their prototypes |
//! | `windows` | rules for windows |
//! | `actions` | rules for actions: their versions and questions |
//! | `refusals` | rules for what an action must refuse |
//! | `jobs` | rules for jobs: their keys, reports and ends |
//! | `lookups` | rules for `Locate` and `AppRead` |
//! | `lives` | rules for sleep, waking, kills and ends |
//! | `garbage` | what a later or a broken peer might send |
//! | [`report`] | what was found, as text and as data |
//! | [`launch`] | what starts the app's process |
//! | `limits` | how long is waited, how much is tried |
//!
//! **Invariant: nothing of the user's is touched by this crate.** The app gets an empty state directory, home and working
//! directory. A destructive action is sent only for things that the run itself made.
#![forbid(unsafe_code)]

mod actions;
mod arguments;
mod checker;
mod garbage;
mod jobs;
pub mod launch;
mod limits;
mod lives;
mod lookups;
mod process;
mod refusals;
pub mod report;
mod run;
mod things;
mod windows;

pub use launch::{Launch, Start};
pub use report::{Finding, Report};
pub use run::{Subject, check};
