//! TODO

pub mod records;
