//! Making text inert: escaping what looks like the daemon's anchors, fences and window headings.
//! Apps may write other headings.
//!
//! An app's text could otherwise forge an anchor, and an agent would follow it: anchors come from
//! the anchor table only (PROTOCOL.md).

mod blocks;
mod text;
mod writer;

pub use text::{labelled_line, line, lines, sentence_with_ref, whole_line};
pub use writer::{RefTokens, Writer, longest_run, printable};
