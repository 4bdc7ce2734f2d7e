//! Values that are typed as answers.

use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Type;
use pipemux_proto::refs::{Local, Ref, RefKind};
use pipemux_proto::{Fault, Value, call};

use crate::keys::SessionKey;
use crate::runs::questions::missing_argument::names_objects;
use crate::scripts::coerce::literal;
use crate::scripts::context::RunContext;
use crate::scripts::plan::Planner;
use crate::scripts::resolve_ref::{RefScope, UnresolvedRef};
use crate::scripts::step::{Argument, MissingArgument};

/// Returns true for words that are typed in place of one of the options: refs, which have no number
/// among them.
pub fn typed_words(ty: &Type, words: &str) -> bool {
    names_objects(ty)
        && words.split(',').all(|part| match part.trim().parse::<Ref>() {
            Ok(of) => of.kind == RefKind::Obj,
            Err(_) => part.contains("obj:"),
        })
}

/// Reads values that are typed as answers.
#[derive(Clone, Copy)]
pub struct TypedValues<'a> {
    /// The context in which refs are resolved.
    pub context: &'a RunContext<'a>,
    /// The reader, whose refs have the meaning that the reader saw last.
    pub reader: &'a str,
    /// The missing argument.
    pub missing: &'a MissingArgument,
}

impl TypedValues<'_> {
    /// Words as an argument.
    ///
    /// # Errors
    /// They are no value of the type, or a ref among them leads nowhere.
    pub fn of_words(self, words: &str) -> Result<Argument, Fault> {
        let typed = typed(words, &self.missing.ty).map_err(|fault| match self.missing.secret {
            // What is said of a secret doesn't repeat it.
            true => Fault::usage(format!("expected {}", self.missing.ty)),
            false => fault,
        });
        self.pin(typed?)
    }

    /// Words that name things by their refs or labels.
    ///
    /// # Errors
    /// They name nothing that a window of the session shows.
    pub fn of_things(self, words: &str, session: &SessionKey) -> Result<Argument, Fault> {
        if let Ok(argument) = self.of_words(words) {
            return Ok(argument);
        }
        let argument = call::Argument {
            name: None,
            value: call::Expr::Value(words.into()),
            span: call::Span { start: 0, end: words.len() },
        };
        let mut planner = Planner::new(self.context.workspace, self.context.sessions, words);
        planner.targets = vec![session.clone()];
        self.pin(planner.answer(&argument, self.missing)?)
    }

    /// A value in the call syntax as an argument.
    ///
    /// # Errors
    /// It is of another type, or a ref in it leads nowhere.
    pub fn of_call(self, argument: &call::Argument, code: &str) -> Result<Argument, Fault> {
        // A quoted text may be meant as a value of another type: the quotes are the shell's.
        let text = match &argument.value {
            call::Expr::Value(Value::Str(text)) => Some(text),
            _ => None,
        };
        if let (Some(text), Type::Int | Type::Float | Type::Bool) = (text, &self.missing.ty) {
            return self.of_words(text);
        }
        let planner = Planner::new(self.context.workspace, self.context.sessions, code);
        self.pin(planner.answer(argument, self.missing)?)
    }

    /// Makes refs mean what the reader has seen by now, which the run, being older, doesn't know.
    fn pin(self, argument: Argument) -> Result<Argument, Fault> {
        match argument {
            Argument::List(items) => {
                let pinned = items.into_iter().map(|item| self.pin(item));
                pinned.collect::<Result<_, _>>().map(Argument::List)
            }
            Argument::Record(entries) => {
                let pinned = entries.into_iter().map(|(name, part)| Ok((name, self.pin(part)?)));
                pinned.collect::<Result<_, _>>().map(Argument::Record)
            }
            Argument::Ref { mut of, ty } => {
                let scope = RefScope::of(self.context.workspace, self.reader, None);
                match scope.resolve(self.context, &of, &[]) {
                    Err(UnresolvedRef::Invalid(fault, _)) => return Err(*fault),
                    Ok(_) | Err(UnresolvedRef::NotShown { .. }) => {}
                }
                if let (None, Local::Id(id)) = (of.epoch, &of.local) {
                    of.epoch = scope.known.get(id).copied();
                }
                Ok(Argument::Ref { of, ty })
            }
            other => Ok(other),
        }
    }
}

/// Parses a typed answer as an argument of a type.
fn typed(text: &str, ty: &Type) -> Result<Argument, Fault> {
    let wrong = || {
        Fault::usage(format!("expected {ty}, not `{text}`")).hint("leave it: pipemux answer cancel")
    };
    let value = match ty {
        Type::Int | Type::Float | Type::Bool => literal(text, ty).ok_or_else(wrong)?,
        Type::Line => return typed_line(text, ty).ok_or_else(wrong),
        Type::Union(options) if !options.iter().any(|option| option == text.trim()) => {
            let guess = call::nearest(text.trim(), options.iter().map(String::as_str));
            return Err(match guess {
                Some(guess) => {
                    let fault =
                        Fault::usage(format!("expected {ty}, not `{text}`: did you mean {guess}?"));
                    fault.hint("leave it: pipemux answer cancel")
                }
                None => wrong(),
            });
        }
        Type::Union(_) => text.trim().into(),
        Type::Anchor(_) => {
            let of = Ref::parse_loose(text, RefKind::Obj);
            let of = of.map_err(|error| Fault::usage(error.to_string()))?;
            return Ok(Argument::Ref { of, ty: ty.clone() });
        }
        Type::List(item) => {
            let items = text.split(',').map(|part| typed(part.trim(), item));
            return items.collect::<Result<_, _>>().map(Argument::List);
        }
        Type::Optional(inner) => return typed(text, inner),
        Type::Record(_) | Type::Map(_) => {
            let fault = Fault::usage(format!("expected {ty}, written {{name: value}}"));
            return Err(fault.hint("leave it: pipemux answer cancel"));
        }
        Type::String | Type::Null | Type::Any => text.into(),
    };
    Ok(Argument::Fixed(Arg::from(value)))
}

/// Parses a line: a number, one of another document as `b.rs:20`, or a ref.
fn typed_line(text: &str, ty: &Type) -> Option<Argument> {
    let text = text.trim();
    if let Ok(of) = text.parse::<Ref>() {
        return (of.kind == RefKind::Obj).then(|| Argument::Ref { of, ty: ty.clone() });
    }
    let (document, number) = text.rsplit_once(':').map_or((None, text), |(d, n)| (Some(d), n));
    let number: i64 = number.trim().parse().ok().filter(|number| *number >= 0)?;
    let value = match document {
        Some(document) => (!document.is_empty()).then(|| text.into())?,
        None => Value::Int(number),
    };
    Some(Argument::Fixed(Arg::from(value)))
}

/// The placeholder for an answer of a type without choices.
pub fn placeholder(ty: &Type) -> &'static str {
    match ty {
        Type::Line => "<line>",
        Type::Int | Type::Float => "<number>",
        Type::Optional(inner) => placeholder(inner),
        _ => "<text>",
    }
}
