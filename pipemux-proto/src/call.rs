//! The call syntax of `run`: call expressions, and nothing else.
//!
//! ```text
//! script = [ step ] { ( ";" | newline ) [ step ] }
//! step   = call | ref
//! call   = [ provider [ "/" session ] "." ] action "(" [ arg { "," arg } [ "," ] ] ")"
//! arg    = [ name ( "=" | ":" ) ] expr
//! expr   = text | raw block | "stdin" | number | "true" | "false" | "null" | ref | list | call | name
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `lexer`, `text` | tokens with their places; quoted texts and raw blocks |
//! | `parser`, `name` | the grammar above, by recursive descent |
//! | `error`, `excerpt` | [`CallError`], and how it shows its place |
//! | `shorten`, `nearest`, `stdin` | a call on one line; "did you mean"; whether `stdin` is asked for |
//! | [`blocks`] | a whole model message: which of its code runs |
//!
//! **Invariant: bounded.** Nesting, steps, list items and the code's length have their limits in
//! [`limits`](crate::limits); no input makes the parser recurse deeper than `NESTING_MAX`.

pub mod blocks;
mod error;
mod excerpt;
mod lexer;
mod name;
mod nearest;
mod parser;
mod shorten;
mod stdin;
mod text;

pub use error::CallError;
pub use nearest::nearest;
pub use parser::parse;
pub use shorten::shorten;
pub use stdin::stdin_at;

use crate::ids::{ProviderId, SessionId};
use crate::refs::Ref;
use crate::value::Value;

/// A part of the code, in bytes from its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// What a `run` asks for, in order.
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
    /// A ref alone: a link to click.
    Ref(Ref, Span),
}

/// A call expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Whose action; none: the open window that has it.
    pub owner: Option<Owner>,
    /// The action's name.
    pub action: String,
    /// Where owner and action stand.
    pub name: Span,
    /// The arguments as written.
    pub args: Vec<Argument>,
    /// The whole call.
    pub span: Span,
}

/// What stands before the dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The app.
    pub provider: ProviderId,
    /// The instance, when given.
    pub session: Option<SessionId>,
}

/// One argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// The parameter, when named.
    pub name: Option<(String, Span)>,
    /// What it is.
    pub value: Expr,
    /// The value's place.
    pub span: Span,
}

/// What an argument is.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// Number, bool, null, or text in quotes, a raw block or `stdin`.
    Value(Value),
    /// A bare ref.
    Ref(Ref),
    /// A list.
    List(Vec<(Expr, Span)>),
    /// A nested call.
    Call(Box<Call>),
    /// A name that an app binds: `editor.selection`.
    Name {
        /// Whose; none: the window that binds it.
        owner: Option<Owner>,
        /// The name.
        name: String,
    },
}
