//! Every bound of the crate.

/// The longest text that is parsed, in bytes.
pub const SOURCE_MAX: usize = 4 * 1024 * 1024;
/// Maximum nesting depth of the nodes of a text.
pub const DEPTH_MAX: usize = 600;
/// Maximum number of parameters of an extracted function.
pub const PARAMETERS_MAX: usize = 24;
/// The longest first sentence of a section that is reported, in characters.
pub const SUMMARY_MAX: usize = 160;
/// The longest description of a text taken from its beginning, in characters.
pub const LEAD_MAX: usize = 240;
/// Up to how many characters a first sentence is so short that the next one is told as well.
pub const SENTENCES_MIN: usize = 40;
/// Maximum number of lines of a declaration above its body that count as its signature.
pub const SIGNATURE_LINES_MAX: usize = 12;
/// Maximum number of similar names reported for a symbol that isn't found.
pub const NEAREST_MAX: usize = 3;
