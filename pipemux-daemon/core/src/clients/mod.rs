//! TODO

pub mod connections;
pub mod exchange;
pub mod idempotency;
pub mod requests;
