//! How text and line numbers are written for readers, in views as well as in outcomes and errors.
//!
//! | module | holds |
//! |---|---|
//! | [`language`] | the language of a file's code fence |
//! | [`lines`] | lines and matches, clipped, with invisible characters made visible |
//! | [`wording`] | counts and line numbers in sentences |

pub(crate) mod language;
pub(crate) mod lines;
pub(crate) mod wording;
