//! Outputs of real tools, hostile outputs, and what holds for all of them.

#![allow(clippy::unwrap_used)]

mod builds;
mod completeness;
mod forms;
mod git;
mod hostile;
mod java_and_node;
mod laws;
mod runners;
mod runs;
mod support;
