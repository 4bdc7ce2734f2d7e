//! Plans an argument: a value of its parameter's type, or a ref, name or call that gives one when
//! the step runs.

use std::borrow::Cow;

use pipemux_proto::call::{Expr, Owner, Quoted, Span, markdown_link};
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Type;
use pipemux_proto::refs::{Local, Ref, RefKind};
use pipemux_proto::{Fault, Value};

use crate::keys::SessionKey;
use crate::scripts::coerce::{TypeMismatch, coerce, digits};
use crate::scripts::plan::Planner;
use crate::scripts::step::{Argument, MissingArgument};
use crate::workspaces::Window;

impl Planner<'_> {
    /// Checks the value of a parameter. Calls in it become steps.
    ///
    /// # Errors
    /// It is of another type.
    pub(super) fn argument(
        &mut self,
        value: &Expr,
        ty: &Type,
        span: Span,
        param: &str,
    ) -> Result<Argument, Fault> {
        match (value, ty) {
            (Expr::Quoted(text), _) => {
                let text = resolve_escapes(text, self.code)?;
                self.argument(&text, ty, span, param)
            }
            (_, Type::Optional(inner)) if *value != Expr::Value(Value::Null) => {
                self.argument(value, inner, span, param)
            }
            (Expr::List(items), Type::List(item_type)) => self.list(items, item_type, param),
            (Expr::List(items), Type::Any) => {
                let items = items.iter().map(|(item, span)| self.argument(item, ty, *span, param));
                items.collect::<Result<_, _>>().map(Argument::List)
            }
            (Expr::Record(entries), Type::Record(fields)) => {
                self.record(entries, fields, span, param)
            }
            (Expr::Record(entries), Type::Map(of)) => self.map(entries, of, param),
            (Expr::Record(entries), Type::Any) => self.any_record(entries, span, param),
            // A call may give the list itself: its type tells.
            (Expr::Call(call), Type::List(_)) => {
                let index = self.call(call, true)?;
                let result = Argument::Result(index);
                Ok(match self.steps[index].prototype.returns {
                    Some(Type::List(_) | Type::Any) => result,
                    _ => Argument::List(vec![result]),
                })
            }
            // A single value stands for a list of one.
            (_, Type::List(item_type)) => {
                Ok(Argument::List(vec![self.argument(value, item_type, span, param)?]))
            }
            (Expr::Ref(of), _) => self.reference(of, ty, span, param),
            (Expr::Value(Value::Str(text)), Type::Anchor(_)) => {
                self.named_object(text, ty, span, param)
            }
            (Expr::Value(Value::Int(id)), Type::Anchor(_)) if *id >= 0 => {
                Err(self.bare_number(id.unsigned_abs(), None, (param, ty, span)))
            }
            (Expr::Value(value), _) => match coerce(value, ty) {
                Ok(value) => Ok(Argument::Fixed(Arg::from(value))),
                Err(TypeMismatch { meant: Some(meant), .. }) => {
                    Ok(Argument::Missing(MissingArgument {
                        ty: ty.clone(),
                        meant: Some(meant),
                        raw: false,
                        secret: false,
                    }))
                }
                Err(TypeMismatch { note, .. }) => {
                    Err(self.error("wrong type", span, format!("{param} is {ty}{note}")))
                }
            },
            (Expr::Call(call), _) => self.call(call, true).map(Argument::Result),
            (Expr::Name { owner, name }, _) => self.name(owner.as_ref(), name, ty, span),
            (Expr::List(_), _) => {
                Err(self.error("wrong type", span, format!("{param} is {ty}, not a list")))
            }
            (Expr::Record(_), _) => {
                Err(self.error("wrong type", span, format!("{param} is {ty}, not a record")))
            }
        }
    }

    fn list(
        &mut self,
        items: &[(Expr, Span)],
        item_type: &Type,
        param: &str,
    ) -> Result<Argument, Fault> {
        let mut all = Vec::with_capacity(items.len());
        for (index, (item, span)) in items.iter().enumerate() {
            // Of records, the place in the list tells which one is meant.
            let place = match item {
                Expr::Record(_) => Cow::Owned(format!("{param}[{index}]")),
                _ => Cow::Borrowed(param),
            };
            all.push(self.argument(item, item_type, *span, &place)?);
        }
        Ok(Argument::List(all))
    }

    /// Resolves a text where only a thing can stand: a ref, a Markdown link, or a label.
    fn named_object(
        &mut self,
        text: &str,
        ty: &Type,
        span: Span,
        param: &str,
    ) -> Result<Argument, Fault> {
        if let Some(id) = digits(text) {
            return self.numeral(id, text, ty, (param, span));
        }
        let link = markdown_link(text).map_or(text, |(target, _)| target);
        let of = match Ref::parse_loose(link, RefKind::Obj) {
            Ok(of) => of,
            Err(error) => self.labelled(text, ty, (param, span, &error.to_string()))?,
        };
        self.reference(&of, ty, span, param)
    }

    /// Checks a ref's kind and type. Whether it leads anywhere is only known when its step runs.
    pub(super) fn reference(
        &self,
        of: &Ref,
        ty: &Type,
        span: Span,
        param: &str,
    ) -> Result<Argument, Fault> {
        if of.kind == RefKind::Link {
            let note = format!("{param} is {ty}: a link is clicked, not passed");
            return Err(self.error("wrong kind of ref", span, note));
        }
        let known = match of.local {
            Local::Id(id) => self.workspace.anchors.get(RefKind::Obj, id),
            Local::Key(_) => None,
        };
        if let (Type::Anchor(Some(wanted)), Some(known)) = (ty, known)
            && known.ty.as_deref().is_some_and(|given| given != wanted)
        {
            let given = known.ty.as_deref().unwrap_or_default();
            let note = format!("{param} is {ty}, {of} is of type {given}");
            return Err(self.error("wrong type of thing", span, note));
        }
        if matches!(ty, Type::Int | Type::Float | Type::Bool | Type::Union(_)) {
            return Err(self.error("wrong type", span, format!("{param} is {ty}, not a ref")));
        }
        Ok(Argument::Ref { of: of.clone(), ty: ty.clone() })
    }

    fn name(
        &self,
        owner: Option<&Owner>,
        name: &str,
        ty: &Type,
        span: Span,
    ) -> Result<Argument, Fault> {
        let candidates: Vec<&Window> = match owner {
            Some(owner) => self.owned(owner, span)?,
            None => self.workspace.windows.iter().collect(),
        };
        let binds = |window: &Window| {
            let held = window.projection.as_ref();
            held.is_some_and(|held| held.projection.names.contains_key(name))
        };
        let known = |window: &&Window| self.has_session(window);
        let of = |window: &Window| window.session.clone();
        let binding = candidates.iter().copied().filter(|window| binds(window)).filter(known);
        let mut bound: Vec<SessionKey> = binding.map(of).collect();
        if bound.is_empty() {
            // An earlier step of the same run may bind the name: it is looked up when its step
            // runs.
            let acts = |window: &&Window| self.steps.iter().any(|s| s.session == window.session);
            bound.extend(candidates.iter().copied().filter(acts).filter(known).map(of));
        }
        match bound.as_slice() {
            [session] => {
                Ok(Argument::Name { session: session.clone(), name: name.into(), ty: ty.clone() })
            }
            [] => {
                let mut names = Vec::new();
                for window in candidates.into_iter().filter(known) {
                    let held = window.projection.as_ref();
                    let held = held.into_iter().flat_map(|held| held.projection.names.keys());
                    names.extend(held.map(|known| format!("{}.{known}", window.session)));
                }
                let known = if names.is_empty() {
                    "text goes in quotes".to_owned()
                } else {
                    format!("bound now: {}; text goes in quotes", names.join(", "))
                };
                Err(self.error("unknown name", span, known))
            }
            several => {
                let note: Vec<String> = several.iter().map(|s| format!("{s}.{name}")).collect();
                Err(self.error("ambiguous name", span, format!("say whose: {}", note.join(" · "))))
            }
        }
    }
}

/// Returns a quoted text as a value, for a parameter that takes no text as it is written.
pub(super) fn resolve_escapes(text: &Quoted, code: &str) -> Result<Expr, Fault> {
    let text = text.text.clone().map_err(|error| error.to_fault(code))?;
    Ok(Expr::Value(Value::Str(text)))
}
