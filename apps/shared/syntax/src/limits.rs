//! Every bound of the crate.

/// The longest text that is parsed, in bytes.
pub const SOURCE_MAX: usize = 4 * 1024 * 1024;
/// How deeply the nodes of a text may be nested.
pub const DEPTH_MAX: usize = 600;
/// The most parameters that an extracted function may get.
pub const PARAMETERS_MAX: usize = 24;
/// The longest first sentence of a section that is told, in characters.
pub const SUMMARY_MAX: usize = 160;
/// The longest beginning of a text that is told to say what it is about, in characters.
pub const LEAD_MAX: usize = 240;
/// Up to how many characters a first sentence is so short that the next one is told as well.
pub const SENTENCES_MIN: usize = 40;
/// How many lines of a declaration above its body are its signature.
pub const SIGNATURE_LINES_MAX: usize = 12;
/// How many similar names are told where a symbol isn't found.
pub const NEAREST_MAX: usize = 3;
