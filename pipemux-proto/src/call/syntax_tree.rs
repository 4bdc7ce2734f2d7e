//! The syntax tree of code.

use super::quoted::Quoted;
use super::span::Span;
use crate::ids::{ProviderId, SessionId};
use crate::refs::Ref;
use crate::value::Value;

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
    /// The owner of the action; `None` for the open window that has it.
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
    /// A quoted text with a backslash, whose meaning depends on its parameter: see
    /// [`parse_undecided`](super::parse_undecided).
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
        /// The owner of the name; `None` for the window that defines it.
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
