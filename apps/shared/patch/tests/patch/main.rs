//! Patches of every format, applied as a caller would.

#![allow(clippy::unwrap_used)]

mod awkward;
mod envelope;
mod generator;
mod laws;
mod search_replace;
mod support;
mod unified;
