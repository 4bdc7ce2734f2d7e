//! Arguments that may be the name of a thing instead of a ref: its app finds it, also where no
//! window shows it.

use pipemux_proto::call::{Expr, Span};
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Type;
use pipemux_proto::{Fault, Value};

use crate::scripts::plan::Planner;
use crate::scripts::plan_argument::resolve_escapes;
use crate::scripts::step::Argument;

impl Planner<'_> {
    /// An argument of a parameter that takes refs and names. Names are passed to the app as they
    /// are.
    pub(super) fn named_argument(
        &mut self,
        value: &Expr,
        ty: &Type,
        span: Span,
        param: &str,
    ) -> Result<Argument, Fault> {
        match (value, ty) {
            (Expr::Quoted(text), _) => {
                let text = resolve_escapes(text, self.code)?;
                self.named_argument(&text, ty, span, param)
            }
            (Expr::Value(Value::Str(name)), _) if !is_ref(name) => {
                Ok(Argument::Fixed(Arg::from(Value::Str(name.clone()))))
            }
            (Expr::List(items), Type::List(item_type)) => {
                let items = items.iter();
                let item = |(item, span): &(Expr, Span)| {
                    self.named_argument(item, item_type, *span, param)
                };
                items.map(item).collect::<Result<_, _>>().map(Argument::List)
            }
            (Expr::Value(Value::Int(_)), Type::List(of) | Type::Optional(of)) => {
                self.named_argument(value, of, span, param)
            }
            (Expr::Value(Value::Int(id)), Type::Anchor(_)) if *id >= 0 => {
                Err(self.bare_number(id.unsigned_abs(), Some("name"), (param, ty, span)))
            }
            _ => self.argument(value, ty, span, param),
        }
    }
}

/// True for a text that is written as a ref and can't be meant as a name.
fn is_ref(text: &str) -> bool {
    let text = text.trim();
    ["obj:", "link:", "[["].iter().any(|start| text.starts_with(start))
}
