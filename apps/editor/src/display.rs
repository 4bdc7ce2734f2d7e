//! Formats text and line numbers for readers: in views, outcomes and errors.
//!
//! | module | holds |
//! |---|---|
//! | [`language`] | the language of a file's code fence |
//! | [`lines`] | lines and matches, clipped, with invisible characters made visible |
//! | [`wording`] | counts and line numbers in sentences |

pub(crate) mod language;
pub(crate) mod lines;
pub(crate) mod wording;
