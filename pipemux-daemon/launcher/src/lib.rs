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
//! | `spawn` | one process: its descriptors, environment, group |
//! | [`orphans`] | killing descendants until none is left |
//! | [`fds`] | closing what a parent left open by accident |
//! | `sys` | the few calls that need `unsafe`, each with its reason |
//!
//! **Invariant: no process is signalled by a number that may be someone else's.** A process id is used
//! only while its process isn't reaped, and only the launcher reaps.
//!
//! **Invariant: no runtime, no threads.** A parent-death signal is bound to the thread that forked, and
//! a fork copies what its parent holds: so this stays one thread with little memory.

pub mod channel;
pub mod fds;
pub mod message;
pub mod orphans;
mod run;
mod spawn;
mod sys;

pub use channel::{Inbox, encode, send};
pub use message::{Ended, Force, Order, Report, Spawn};
pub use run::run;
