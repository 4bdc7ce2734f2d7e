//! Symbols where lines are asked for: which item of which file a written name means.
//!
//! | module | holds |
//! |---|---|
//! | `target` | what an argument says, before any file is read |
//! | `resolver` | which lines of which file that is, found on another thread |
//! | `project` | the files of the project |
//! | `arranging` | moving, swapping, deleting and inserting items; replacing bodies |
//! | `deleting` | several items at once |
//! | `seams` | the lines around what was done, which an outcome shows |
//! | `outline` | the symbols of files |
//! | `ranges` | the lines of a symbol or a range, and what stands between braces |
//! | `several_ranges`, `excerpt` | several of them at once; what of each is shown |
//! | `rename` | another name for a symbol |
//! | `imports` | the imports of all files after an item moved to another one |
//! | `users` | the files that use such an item, in languages whose imports aren't mended |

mod arranging;
mod asked_symbol;
mod deleting;
mod excerpt;
mod imports;
mod new_text;
mod outline;
mod place;
mod project;
mod ranges;
mod rename;
mod resolver;
pub(in crate::update) mod seams;
mod several_ranges;
mod target;
mod users;

pub(super) use asked_symbol::AskedSymbol;
pub(super) use outline::OutlineRequest;
pub(super) use place::InsertPlace;
pub(super) use rename::AskedOccurrences;
pub(super) use resolver::{Resolver, Stop};
pub(super) use several_ranges::ExcerptRequest;
pub(super) use target::{Scope as SymbolScope, Target, numbered};
