//! What survives the daemon: the types of its records, numbers that are reserved on disk, and what
//! is known of the disk itself.
//!
//! Records have types of their own, apart from the wire: what an older release wrote is read for
//! ever. Each component restores itself from records and gives the records that restore it; the
//! core only hands them around.

pub mod loss;
pub mod numbers;
pub mod records;
mod saved_anchor;
mod saved_job;
mod saved_options;
mod saved_round;

use loss::PastLosses;

/// The state of the disk and of the data saved on it.
#[derive(Debug, Default)]
pub struct Persist {
    /// The reason why writing fails now: acts are then refused, while views still work.
    pub failing: Option<DiskFailure>,
    /// The losses of saved state.
    pub losses: PastLosses,
}

/// The reason why records can't be written to disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskFailure {
    pub why: String,
    /// The remedy, as a whole sentence or command.
    pub next: String,
}
