//! Every bound of the crate.

/// The longest text that is parsed, in bytes.
pub const SOURCE_MAX: usize = 4 * 1024 * 1024;
/// How deeply the nodes of a text may be nested.
pub const DEPTH_MAX: usize = 600;
/// The most parameters that an extracted function may get.
pub const PARAMETERS_MAX: usize = 24;
