//! Symbols where lines are asked for: which item of which file a written name means.
//!
//! | module | holds |
//! |---|---|
//! | `target` | what an argument says, before any file is read |
//! | `resolver` | which lines of which file that is, found on another thread |
//! | `project` | the files of the project |
//! | `arranging` | moving, swapping, deleting and inserting items; replacing bodies |
//! | `seams` | the lines around what was done, which an outcome shows |
//! | `outline` | the symbols of files |
//! | `ranges` | the lines of a symbol or a range, and what stands between braces |
//! | `rename` | another name for a symbol |

mod arranging;
mod outline;
mod project;
mod ranges;
mod rename;
mod resolver;
mod seams;
mod target;

pub(super) use arranging::InsertPlace;
pub(super) use outline::OutlineRequest;
pub(super) use rename::AskedOccurrences;
pub(super) use resolver::AskedSymbol;
