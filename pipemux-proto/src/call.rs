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
//! | `lexer`, `text` | tokens with their positions; quoted texts and raw blocks |
//! | `parser`, `record`, `name` | the grammar above, by recursive descent |
//! | `error`, `excerpt` | [`CallError`], and the line of code that it shows |
//! | `alone` | each step as code of its own, and as it is repeated to its reader |
//! | `shorten`, `nearest`, `stdin`, `value_end` | a call on one line; "did you mean"; whether code uses `stdin`; where a value ends |
//! | [`mask`] | code without its secrets |
//! | [`blocks`] | the blocks of a model's message that run |
//!
//! **Invariant: bounded.** [`limits`](crate::limits) bounds the nesting, the steps, the items of a list
//! and the length of the code; no input makes the parser recurse deeper than `NESTING_MAX`.

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
mod record;
mod shorten;
mod stdin;
mod text;
mod value_end;

pub use alone::{alone, shown, size, split};
pub use apart::texts_apart;
pub use error::CallError;
pub use markdown::markdown_link;
pub use nearest::nearest;
pub use parser::{parse, parse_undecided};
pub use shorten::shorten;
pub use stdin::stdin_at;
pub use text::{Quoted, write_raw};
pub use value_end::value_end;

use crate::ids::{ProviderId, SessionId};
use crate::refs::Ref;
use crate::value::Value;

/// A range of the code, in bytes from its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// The steps of a `run`, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    /// The steps.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A call.
    Call(Call),
    /// A ref without a call: a link to click.
    Ref(Ref, Span),
}

/// A call expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The owner of the action; absent for the open window that has it.
    pub owner: Option<Owner>,
    /// The action's name.
    pub action: String,
    /// The range of owner and action.
    pub name: Span,
    /// The arguments as written.
    pub args: Vec<Argument>,
    /// The range of the whole call.
    pub span: Span,
}

/// The app or session before the dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The app.
    pub provider: ProviderId,
    /// The session, if given.
    pub session: Option<SessionId>,
}

/// One argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// The parameter's name, if given.
    pub name: Option<(String, Span)>,
    /// The value.
    pub value: Expr,
    /// The range of the value.
    pub span: Span,
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A number, a bool, null, or a text: in quotes, in a raw block, or from `stdin`.
    Value(Value),
    /// A quoted text with a backslash, whose meaning depends on its parameter: see [`parse_undecided`].
    Quoted(Box<Quoted>),
    /// A ref.
    Ref(Ref),
    /// A list.
    List(Vec<(Expr, Span)>),
    /// A record.
    Record(Vec<Entry>),
    /// A nested call.
    Call(Box<Call>),
    /// A name that an app defines: `editor.selection`.
    Name {
        /// The owner of the name; absent for the window that defines it.
        owner: Option<Owner>,
        /// The name.
        name: String,
    },
}

/// One field of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The field's name.
    pub name: String,
    /// The range of the name.
    pub name_span: Span,
    /// The value.
    pub value: Expr,
    /// The range of the value.
    pub span: Span,
}
