//! The launcher: parent of every app, and small for ever.
//!
//! A process of its own (`pipemuxd launcher`), single-threaded and blocking. The daemon sends it
//! [`Order`]s and hears [`Report`]s on a socket that is the launcher's standard input. When that socket
//! closes, for whatever cause, the launcher kills every descendant until none is left, and ends.
//!
//! | module | holds |
//! |---|---|
//! | [`message`] | orders and reports |
//! | [`channel`] | how they and file descriptors travel |
//! | `run` | the loop: orders in, exits out |
//! | `spawn` | one process: its program, descriptors, environment |
//! | `child` | what it needs until its program takes its place |
//! | `lives` | the apps that run; the end of each, with all that it started |
//! | `looks` | when the apps' processes are counted: next to never on an idle desk |
//! | [`mark`] | which life a process belongs to, whatever it did to hide it |
//! | `processes` | the machine's processes, by mark and parent |
//! | [`orphans`] | killing descendants until none is left |
//! | [`leftovers`] | what is left when daemon and launcher were both killed |
//! | [`fds`] | closing what a parent left open by accident |
//! | `sys` | the few calls that need `unsafe`, each with its reason |
//!
//! **Invariant: no process is signalled by a number that may be someone else's.** A process id is used
//! only while its process is a child that isn't reaped, and only the launcher reaps; any other process is
//! held by a handle while its mark is looked at, and signalled through that.
//!
//! **Invariant: no runtime, no threads.** A parent-death signal is bound to the thread that forked, and
//! a child borrows its parent's memory until its program takes its place: so this stays one thread.

pub mod channel;
#[cfg(target_os = "linux")]
mod child;
pub mod fds;
pub mod leftovers;
mod lives;
mod looks;
pub mod mark;
pub mod message;
pub mod orphans;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(not(target_os = "linux"))]
#[path = "processes_elsewhere.rs"]
mod processes;
mod run;
#[cfg(target_os = "linux")]
mod spawn;
#[cfg(not(target_os = "linux"))]
#[path = "spawn_elsewhere.rs"]
mod spawn;
mod sys;

pub use channel::{Inbox, encode, send};
pub use leftovers::Leftover;
pub use mark::{Mark, Origin};
pub use message::{Ended, Force, Limits, Order, Over, Report, Spawn};
pub use run::run;
