//! The planner, driven without a daemon.
#![allow(clippy::unwrap_used)]

mod acp;
mod agent;
mod artifacts;
mod attacks;
mod bad_input;
mod check;
mod command;
mod docs;
mod files;
mod http;
mod readers;
mod support;
mod trust;
