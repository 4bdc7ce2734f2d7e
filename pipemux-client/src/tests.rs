//! The clients in dialogue with a daemon that does as it is told.

mod blocking;
mod client;
mod fake_daemon;
mod start;
