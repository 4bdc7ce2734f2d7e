//! Notes in one SQLite file: three levels of detail for each entry, full-text search in any script.
//!
//! | module | holds |
//! |---|---|
//! | [`action`] | what can be done |
//! | [`asleep`] | which state of the store was shown before a sleep |
//! | [`app`] | the model: a store and what of it is shown |
//! | [`update`] | carrying out an action |
//! | [`view`], [`block`] | showing entries within a budget |
//! | [`entry`] | an entry's parts, their bounds, keys and levels |
//! | [`shown`] | search, filter and folding of one session, kept in its state directory |
//! | [`schema`] | opening a store: refusals, migrations |
//! | [`store`] | reading entries |
//! | [`change`] | writing entries, and taking that back |
//! | [`words`] | text as search tokens, queries, snippets |
//!
//! **Invariant: an answer given is on disk.** Each action is one transaction, committed before
//! `update` returns.
//!
//! **Invariant: a key names one entry for ever.** Ids are AUTOINCREMENT; a removed entry's is not
//! given again.

pub mod action;
pub mod app;
pub mod asleep;
pub mod block;
pub mod change;
pub mod entry;
pub mod schema;
pub mod shown;
pub mod store;
pub mod update;
pub mod view;
pub mod words;

pub use action::Action;
pub use app::Notebook;
