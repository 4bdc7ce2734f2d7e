//! Fuzz targets: properties that hold for any bytes.
//!
//! Each module has one function `check`, which panics when a property doesn't hold.
//!
//! | module | input |
//! |---|---|
//! | [`frames`] | a stream of bytes as a peer sends it |
//! | [`bodies`] | a message of every kind |
//! | [`refs`] | a ref |
//! | [`calls`] | code of a `run`, a message of a model, words of a command line |
//! | [`slots`] | windows and answers of an app, which become Markdown |
//! | [`manifest`] | the manifest of a provider |
//!
//! To fuzz a target, run `cargo install cargo-fuzz --locked`, and then from the top of the
//! repository:
//!
//! ```sh
//! RUSTC_BOOTSTRAP=1 cargo fuzz run --fuzz-dir tests/fuzz --sanitizer none refs -- -max_total_time=600
//! ```
//!
//! The seeds are in `regressions/<target>/`: inputs that once broke a property, and one input of
//! each kind. The ordinary test `tests/fuzz_regressions.rs` of the crate above includes this file
//! and replays all of them with the stable toolchain and without cargo-fuzz. Make a new finding
//! small with `cargo fuzz tmin`, and add it there together with its fix.

pub mod bodies;
pub mod calls;
pub mod frames;
pub mod manifest;
pub mod refs;
pub mod slots;

/// The name of a target and its check.
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
