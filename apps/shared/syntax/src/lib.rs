//! Parses source files and answers questions about them: which symbols a file has, which of them
//! enclose a range, and how statements become a function of their own.
//!
//! | module | holds |
//! |---|---|
//! | [`language`] | the languages, by the path of a file |
//! | [`source`] | a parsed file |
//! | [`outline`] | its symbols |
//! | [`lookup`] | symbols by the names that people write |
//! | `scopes`, `bind` | which name means which variable, one binder per language |
//! | [`regions`] | its comments and strings |
//! | [`rename`] | which occurrences of a name are a symbol |
//! | [`arrange`] | items moved, swapped, taken out and added |
//! | `edit` | replacements in a text |
//! | [`extract`] | statements that become a function |
//! | [`imports`] | what is imported from where after an item moved to another file |
//! | [`limits`] | every bound |
//!
//! All ranges are of bytes. Nothing here reads a file, keeps state, or knows of an editor.
//!
//! **Invariant: an extraction is right or refused.** It is planned only for what the syntax tree
//! tells, and its result is parsed again: it must have no error that the file didn't have.
//!
//! **Invariant: any text is accepted.** A text that is too long or nested too deeply is refused
//! before anything walks it, so that no input exhausts the stack.
#![forbid(unsafe_code)]

pub mod arrange;
mod bind;
mod edit;
pub mod extract;
pub mod imports;
pub mod language;
pub mod limits;
pub mod lookup;
pub mod outline;
pub mod regions;
pub mod rename;
mod scopes;
pub mod source;

pub use arrange::{
    Arrangement, Block, InsertionPoint, keeps_items_apart, plan_delete, plan_insert, plan_move,
    plan_replace_body, plan_swap, whole_items,
};
pub use edit::Edit;
pub use extract::{Extraction, Refusal, Request, Untyped, plan_extraction};
pub use imports::{
    ImportsLeft, MendedImports, MovedItem, compose, mend_imports, module_name, shifted,
};
pub use language::Language;
pub use lookup::{FoundSymbol, Wanted};
pub use outline::{Symbol, SymbolKind};
pub use regions::{Region, Regions, regions, regions_of};
pub use rename::{
    Files, Form, Mention, Occurrence, Project, Renaming, Unit, plan_rename, rename_edits,
};
pub use source::{ParseError, Source};
