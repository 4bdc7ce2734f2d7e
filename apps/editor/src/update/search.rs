//! Finding and replacing in any number of files.
//!
//! | module | holds |
//! |---|---|
//! | [`scope`] | which files, and which parts of them |
//! | [`query`] | what is searched for, and the search itself |
//! | [`find`], [`uses`] | the matches by file; the uses of a name with the symbols around them |
//! | [`listing`], [`budget`], [`repeat_call`] | the answer of a query: what fits in, and the call for the rest |
//! | [`replace`], [`match_question`] | replacing them, and the question which ones |
//! | [`first_lines`], [`blocks`] | the same lines of many files, and lists of files |
//! | [`words`] | counts, and what the filters left out, in words |
//! | [`shown_lines`] | counting the numbers in an answer as seen |

pub(super) mod blocks;
pub(super) mod budget;
pub(super) mod find;
pub(super) mod first_lines;
pub(super) mod found_lines;
pub(super) mod listing;
pub(super) mod markup;
pub(super) mod match_question;
pub(super) mod query;
pub(super) mod repeat_call;
pub(super) mod replace;
pub(super) mod scope;
pub(super) mod shown_lines;
pub(super) mod uses;
pub(super) mod words;

pub(super) use blocks::{Blocks, Notes, pieces};
pub(super) use budget::Budget;
pub(super) use first_lines::{left_out, line_matcher, lines_without};
pub(super) use listing::Listing;
pub(super) use query::{Searched, Wanted, search};
pub(super) use repeat_call::quoted;
pub(super) use scope::SearchScope;
pub(super) use shown_lines::ShownLines;
