//! What survives the daemon: the types of its records, and numbers that are reserved on disk.
//!
//! Records have types of their own, apart from the wire: what an older release wrote is read for ever.

pub mod numbers;
pub mod records;
