//! A bridge to [`rustc_hash`] until all users name that crate itself.

pub use rustc_hash::FxHashMap as Table;
