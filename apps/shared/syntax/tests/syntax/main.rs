//! The crate from outside: what it says of source texts, and what its extractions do when they run.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod arranging;
mod ecmascript;
mod executed;
mod go;
mod import_graph;
mod imports;
mod lookups;
mod moves;
mod outlines;
mod python;
mod regions;
mod renaming;
mod rust;
mod support;
mod workspace;
