//! Fuzz targets: laws that hold for any bytes at all.
//!
//! Each module has one function `check`, which panics when a law is broken.
//!
//! | module | takes |
//! |---|---|
//! | [`frames`] | a stream of bytes, as a peer sends it |
//! | [`bodies`] | a message of every kind |
//! | [`refs`] | a ref |
//! | [`calls`] | code of a `run`, a model's message, words of a command line |
//! | [`slots`] | whatever an app may show or answer, to Markdown |
//! | [`manifest`] | a provider's manifest |
//!
//! `cargo install cargo-fuzz --locked`, then from the top of the repository
//!
//! ```sh
//! RUSTC_BOOTSTRAP=1 cargo fuzz run --fuzz-dir tests/fuzz --sanitizer none refs -- -max_total_time=600
//! ```
//!
//! Seeds are `regressions/<target>/`: what once broke a law, and one input of each kind. An ordinary
//! test (`tests/fuzz_regressions.rs` of the crate above) includes this file and replays all of them, on
//! the stable toolchain and without cargo-fuzz. What a target finds, `cargo fuzz tmin` makes small; it
//! goes there with the fix.

pub mod bodies;
pub mod calls;
pub mod frames;
pub mod manifest;
pub mod refs;
pub mod slots;

/// A target's name and its law.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("bodies", bodies::check),
    ("calls", calls::check),
    ("frames", frames::check),
    ("manifest", manifest::check),
    ("refs", refs::check),
    ("slots", slots::check),
];
