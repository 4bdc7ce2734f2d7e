//! The common base of note stores: the notebook and the memory tree are built on it.
//!
//! | module | purpose |
//! |---|---|
//! | [`tokenizer`] | splits texts in any script into the tokens that the index holds |
//! | [`query`] | parses what a user searches for, and writes it in the query syntax of the index |
//! | [`excerpts`] | shows the lines of a text where words of a query were found |
//! | [`full_text`] | writes a note into the full-text index |
//! | [`migrations`] | brings the tables of a store to the newest version |
//! | [`rows`] | reads JSON rows of input |
//! | [`text`] | counts and lists as readers see them |
//!
//! **Invariant: nothing that a user writes reaches the query syntax of the index.** Index and
//! queries are made of the same tokens, and a token has no character of that syntax.
//!
//! **Invariant: this library knows no app.** It names no wire type; whoever uses it turns its
//! errors into answers.
#![forbid(unsafe_code)]

pub mod excerpts;
pub mod full_text;
pub mod migrations;
pub mod query;
pub mod rows;
pub mod text;
pub mod tokenizer;
