//! The constants of the merge.

use crate::size::Size;

/// The default size of a document; agents' harnesses cut longer output.
pub const TOTAL: Size = Size { tokens: u64::MAX, chars: u64::MAX, bytes: 10_240, lines: 256 };

/// The least that is worth a source's place in the document. A source that there isn't as much for
/// is left out.
pub const MIN_SHARE: Size = Size { tokens: 32, chars: 96, bytes: 128, lines: 2 };

/// Tokens that are kept for the line `… over N more lines` and for closing a fence.
pub const MORE_TOKENS: u64 = 8;

/// The size that is reserved for the line `… over N more lines`.
pub const MORE: Size = Size { tokens: MORE_TOKENS, chars: 28, bytes: 30, lines: 1 };

/// The size reserved besides a share, for the mark of a source that failed or is late.
pub const MARK: Size = Size { tokens: 24, chars: 72, bytes: 200, lines: 1 };

/// The divisor of the total that gives the most that is reserved for the lines at the end.
pub const NOTES_PART: u64 = 8;

/// The size reserved per source for the lines at the end, as far as [`NOTES_PART`] allows.
pub const NOTE: Size = Size { tokens: 40, chars: 140, bytes: 200, lines: 1 };

/// The steps in which a source that shows all it has is granted room. A line that grows by a word
/// changes no other source.
pub const STEP: Size = Size { tokens: 16, chars: 64, bytes: 64, lines: 2 };

/// Sources that one document may have; those after them are left out.
pub const SOURCES_MAX: usize = 256;

/// Nodes that are asked for at once when a budget is filled from a tree.
pub const PAGE: usize = 64;
