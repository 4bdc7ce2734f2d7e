//! Apps as their authors write them, in a host that takes the place of the daemon.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod blocking;
mod hibernation;
mod ide;
mod previews;
mod questions;
mod readers;
mod records;
mod unasked;
