//! The meaning of quotes in an argument: a parameter may take a text verbatim, or treat a quoted
//! ref as the ref.

use pipemux_proto::Value;
use pipemux_proto::call::{Call, Expr, Span};
use pipemux_proto::prototype::Prototype;
use pipemux_proto::refs::{Ref, RefKind};

/// Returns the value that a call gives to a boolean parameter, if it is written in the call.
pub fn given_flag(call: &Call, prototype: &Prototype, flag: &str) -> Option<bool> {
    let position = prototype.params.iter().position(|param| param.name == flag)?;
    let given = call.args.iter().enumerate().find(|(index, argument)| match &argument.name {
        Some((name, _)) => name == flag,
        None => *index == position,
    });
    match given {
        Some((_, argument)) => (argument.value == Expr::Value(Value::Bool(true))).into(),
        None => Some(prototype.params[position].default == Some(Value::Bool(true))),
    }
}

/// Returns the argument of a parameter that takes quoted texts as they are written.
pub fn raw_texts(value: &Expr) -> Expr {
    match value {
        Expr::Quoted(text) => Expr::Value(Value::Str(text.raw.clone())),
        Expr::List(items) => {
            Expr::List(items.iter().map(|(item, span)| (raw_texts(item), *span)).collect())
        }
        other => other.clone(),
    }
}

/// Returns the argument of a parameter that takes paths without the quotes of its refs, if it has
/// any: no path looks like a ref to an object.
pub fn unquoted(value: &Expr) -> Option<Expr> {
    match value {
        Expr::Value(Value::Str(text)) => {
            let of = text.parse::<Ref>().ok().filter(|of| of.kind == RefKind::Obj);
            of.map(Expr::Ref)
        }
        Expr::List(items) => {
            let item = |(item, span): &(Expr, Span)| match unquoted(item) {
                Some(of) => (of, *span),
                None => (item.clone(), *span),
            };
            Some(Expr::List(items.iter().map(item).collect()))
        }
        _ => None,
    }
}
