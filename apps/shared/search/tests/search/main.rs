//! What the search finds, in texts and in folders.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod folders;
mod naive;
mod texts;
