//! TODO

pub mod health;
pub mod hibernation;
mod lifecycle;
pub mod opening;
pub mod quarantine;
pub mod requests;
pub mod session;
pub mod shared_processes;
