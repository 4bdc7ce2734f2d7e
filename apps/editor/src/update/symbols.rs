//! Symbols where lines are asked for: which item of which file a written name means.
//!
//! | module | holds |
//! |---|---|
//! | `target`, `target_argument` | what an argument says, before any file is read |
//! | `resolved` | the lines that an argument means, or why it means none |
//! | `resolver` | which lines of which file that is, found on another thread |
//! | `project` | the files of the project |
//! | `arranging` | moving, swapping, deleting and inserting items; replacing bodies |
//! | `deleting` | several items at once |
//! | `surroundings` | the lines around what was done, which an outcome shows |
//! | `outline` | the symbols of files |
//! | `ranges` | the lines of a symbol or a range, and what stands between braces |
//! | `several_ranges`, `excerpt` | several of them at once; what of each is shown |
//! | `rename`, `occurrences` | another name for a symbol |
//! | `imports` | the imports of all files after an item moved to another one |
//! | `users` | the files that use such an item, in languages whose imports aren't mended |

pub(super) mod arranged_lines;
pub(super) mod arranging;
pub(super) mod asked_symbol;
pub(super) mod deleting;
pub(super) mod excerpt;
pub(super) mod imports;
pub(super) mod new_text;
pub(super) mod occurrences;
pub(super) mod open_symbol;
pub(super) mod outline;
pub(super) mod place;
pub(super) mod project;
pub(super) mod ranges;
pub(super) mod rename;
pub(super) mod resolved;
pub(super) mod resolver;
pub(super) mod several_ranges;
pub(in crate::update) mod surroundings;
pub(super) mod target;
pub(super) mod target_argument;
pub(super) mod users;

pub(super) use resolved::Unresolved;
pub(super) use resolver::Resolver;
pub(super) use target::{SymbolScope, Target, numbered};
