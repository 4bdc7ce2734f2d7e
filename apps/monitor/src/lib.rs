//! The state of the machine at three levels of detail: CPU, memory, swap, disks, load, processes.
//!
//! | module | purpose |
//! |---|---|
//! | [`action`] | the actions |
//! | [`model`] | a session: its settings and the last sample |
//! | [`update`] | carries out an action on the model |
//! | [`view`] | renders a sample as a window |
//! | [`app`] | connects model, update and view to docui |
//! | [`sample`] | the figures of one moment, as plain data |
//! | [`sampler`], [`disks`] | take samples from the system; from disks on another thread |
//! | [`resource`] | the resources that are shown |
//! | [`detail`] | describes the machine and its resources in words |
//! | [`mod@format`] | formats figures |
//! | [`settings`] | what is expanded, kept across restarts |
//! | [`top`], [`watch`], [`samples`], `watch_top` | answer queries: the largest processes, a figure or these over some seconds |
//! | [`kill`] | terminates one process, if that is allowed |
//! | [`limits`] | the bounds |
//!
//! **Invariant: a view takes no sample.** Only [`sampler`] and [`model`] look at the system or the
//! clock, so that the same sample and settings give the same view.
//!
//! **Invariant: a signal reaches the process that was shown, or none.** [`kill`] opens a handle on
//! the process before it compares the start time, so a process that reuses the pid is not hit.
//!
//! **Invariant: nothing waits for a figure.** A share of CPU time is taken over the time since the
//! previous sample, and for the first sample since boot. Unless that is the last few seconds, the
//! view says so.

// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are
// checked otherwise.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

pub mod action;
pub mod app;
pub mod detail;
pub mod disks;
pub mod format;
pub mod kill;
pub mod limits;
pub mod model;
pub mod resource;
pub mod sample;
pub mod sampler;
pub mod samples;
pub mod settings;
pub mod top;
pub mod update;
pub mod view;
pub mod watch;
mod watch_top;

pub use action::Action;
pub use model::Monitor;

/// Serves the app on the connection that this process inherited, as [`docui::run`] does. It is
/// compiled here, together with what it uses, and not once more with the program.
pub fn run() -> std::process::ExitCode {
    docui::run::<Monitor>()
}
