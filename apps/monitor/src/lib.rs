//! What the machine is doing: CPU, memory, swap, disks, load, processes, at three levels of detail.
//!
//! | module | holds |
//! |---|---|
//! | [`action`] | what can be done |
//! | [`app`] | the model: settings and the last sample |
//! | [`sample`] | figures of one moment, as plain data |
//! | [`sampler`] | taking them from the system |
//! | [`kill`] | ending one process: who may be ended, and by what |
//! | [`settings`] | what is expanded, kept across restarts |
//! | [`figures`] | numbers as a reader wants them |
//! | [`detail`] | a resource in one line, and in full |
//! | [`view`] | the window |
//!
//! **Invariant: a view shows a sample, it takes none.** Only [`sampler`] looks at the system or the
//! clock, so that the same sample and settings give the same bytes.
//!
//! **Invariant: a signal reaches the process that was shown, or none.** [`kill`] holds a handle to it
//! before it compares the start time; a pid that the system has given again is another process.
//!
//! **Invariant: nothing waits for a figure.** A share of CPU time is that of the time since the sample
//! before; for the first one since boot. Where that isn't the last few seconds, the view says so.

pub mod action;
pub mod app;
pub mod detail;
pub mod figures;
pub mod kill;
pub mod sample;
pub mod sampler;
pub mod settings;
pub mod view;

pub use action::Action;
pub use app::Monitor;
