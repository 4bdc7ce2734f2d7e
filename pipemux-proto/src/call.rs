//! The call syntax of `run`: call expressions, and nothing else.
//!
//! ```text
//! script = [ step ] { ( ";" | newline ) [ step ] }
//! step   = call | ref
//! call   = [ provider [ "/" session ] "." ] action "(" [ arg { "," arg } [ "," ] ] ")"
//! arg    = [ name ( "=" | ":" ) ] expr
//! expr   = text | raw block | "stdin" | number | "true" | "false" | "null" | ref | list | record | call | name
//! record = "{" [ field { "," field } [ "," ] ] "}"
//! field  = ( name | text ) ( ":" | "=" ) expr
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `markdown` | refs as windows print them |
//! | `span`, `syntax_tree` | what code is parsed to, and where each part stands |
//! | `lexer`, `text`, `quoted` | tokens with their positions; quoted texts and raw blocks |
//! | `parser`, `record`, `name` | the grammar above, by recursive descent |
//! | `error`, `excerpt` | [`CallError`], and the line of code that it shows |
//! | `alone` | each step as code of its own, and as it is repeated to its reader |
//! | `shorten`, `nearest`, `stdin`, `value_end` | a call on one line; "did you mean"; whether code uses `stdin`; where a value ends |
//! | [`mask`] | code without its secrets |
//! | [`blocks`] | the blocks of a model's message that run |
//!
//! **Invariant: bounded.** [`limits`](crate::limits) bounds the nesting, the steps, the items of a
//! list and the length of the code; no input makes the parser recurse deeper than `NESTING_MAX`.

mod alone;
mod apart;
pub mod blocks;
mod error;
mod excerpt;
mod lexer;
mod markdown;
pub mod mask;
pub(crate) mod name;
mod nearest;
mod parser;
mod quoted;
mod record;
mod shorten;
mod span;
mod stdin;
mod syntax_tree;
mod text;
mod value_end;

pub use alone::{alone, shown, size, split};
pub use apart::texts_apart;
pub use error::CallError;
pub use markdown::markdown_link;
pub use nearest::nearest;
pub use parser::{parse, parse_undecided};
pub use quoted::{Quoted, write_raw};
pub use shorten::shorten;
pub use span::Span;
pub use stdin::stdin_at;
pub use syntax_tree::{Argument, Call, Entry, Expr, Owner, Script, Step};
pub use value_end::value_end;
