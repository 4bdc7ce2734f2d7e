//! A step of a run: a checked call and its arguments.

use pipemux_proto::Value;
use pipemux_proto::projection::{Arg, Args};
use pipemux_proto::prototype::{Field, Param, Prototype, Risk, Type};
use pipemux_proto::refs::{Local, Ref};

use crate::keys::SessionKey;

/// A call that was checked against its prototype.
#[derive(Debug, Clone)]
pub struct Step {
    pub session: SessionKey,
    /// The sessions that have the same action, when the call didn't name one: the reader is asked
    /// before anything runs.
    pub candidates: Vec<SessionKey>,
    pub prototype: Prototype,
    pub args: Vec<(String, Argument)>,
    /// The call as it was written, on one line; the link for a click.
    pub call: String,
    /// The origin of the step.
    pub origin: StepOrigin,
    /// True for a call inside another call's arguments.
    pub nested: bool,
}

impl Step {
    /// True for a step that changes nothing, and whose result is the whole answer.
    pub fn is_query(&self) -> bool {
        self.prototype.risk == Risk::Query
    }

    /// Fills in the arguments given in a form. A missing argument that isn't given gets the field's
    /// default: for an argument of another type, that is the value that was probably meant.
    pub fn complete(&mut self, fields: &[Field], given: Vec<(String, Argument)>) {
        for (name, argument) in &mut self.args {
            let field = fields.iter().find(|field| field.name == *name);
            if let (Argument::Missing(_), Some(default)) =
                (&argument, field.and_then(|f| f.default.as_ref()))
            {
                *argument = Argument::Fixed(Arg::from(default.clone()));
            }
        }
        for (name, value) in given {
            match self.args.iter_mut().find(|(other, _)| *other == name) {
                Some((_, argument)) => *argument = value,
                None => self.args.push((name, value)),
            }
        }
    }

    /// True when an argument was given that is never printed, logged or kept.
    pub fn holds_secret(&self) -> bool {
        self.args.iter().any(|(name, argument)| {
            !matches!(argument, Argument::Missing(_)) && self.is_secret(name)
        })
    }

    /// True for a parameter whose argument, or a part of it, is never printed, logged or kept.
    pub fn is_secret(&self, name: &str) -> bool {
        let params = &self.prototype.params;
        params.iter().any(|param| param.name == name && param.holds_secret())
    }

    /// True for a query, and for a call inside another call's arguments that changes nothing.
    pub fn only_reads(&self) -> bool {
        self.is_query() || (self.nested && self.prototype.risk.only_looks())
    }

    /// True when it names lines by bare numbers. Unlike refs they don't follow what they mean, so
    /// the step can't be sent against another state.
    pub fn has_line_numbers(&self) -> bool {
        fn are_lines(ty: &Type) -> bool {
            match ty {
                Type::Line => true,
                Type::List(item) | Type::Optional(item) | Type::Map(item) => are_lines(item),
                Type::Record(fields) => fields.iter().any(|field| are_lines(&field.ty)),
                _ => false,
            }
        }
        fn is_bare(argument: &Argument) -> bool {
            match argument {
                Argument::Ref { .. } | Argument::Name { .. } => false,
                Argument::List(_) | Argument::Record(_) => argument.parts().any(is_bare),
                Argument::Fixed(_) | Argument::Result(_) | Argument::Missing(_) => true,
            }
        }
        self.args.iter().any(|(name, argument)| {
            let param = self.prototype.params.iter().find(|param| param.name == *name);
            param.is_some_and(|param| are_lines(&param.ty)) && is_bare(argument)
        })
    }
}

/// The origin of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOrigin {
    /// A call that the reader wrote.
    Call,
    /// A link, which binds its arguments.
    Link,
}

#[derive(Debug, Clone)]
pub enum Argument {
    /// A value that is ready to use.
    Fixed(Arg),
    /// A ref, resolved when the step runs.
    Ref {
        /// The ref as it was written.
        of: Ref,
        /// The parameter's type; it decides whether the object or its value is passed.
        ty: Type,
    },
    /// A name that an app binds, resolved when the step runs.
    Name {
        /// The session that binds the name.
        session: SessionKey,
        name: String,
        /// The parameter's type.
        ty: Type,
    },
    /// The result of an earlier step, by its index.
    Result(usize),
    /// A missing or mistyped argument; the reader is asked before anything runs.
    Missing(MissingArgument),
    List(Vec<Argument>),
    /// A record that isn't only values.
    Record(Vec<(String, Argument)>),
}

impl Argument {
    /// Returns the value that was probably meant by an argument of the wrong type whose reader
    /// can't be asked: one inside a list or, with `nested`, anywhere.
    pub fn first_meant(&self, nested: bool) -> Option<&Value> {
        match self {
            Self::Missing(missing) if nested => missing.meant.as_ref(),
            _ => self.parts().find_map(|part| part.first_meant(true)),
        }
    }

    /// Returns the first ref in it.
    pub fn first_ref(&self) -> Option<&Ref> {
        match self {
            Argument::Ref { of, .. } => Some(of),
            _ => self.parts().find_map(Argument::first_ref),
        }
    }

    /// Iterates over the parts of a list or a record.
    pub fn parts(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        match self {
            Self::List(items) => Box::new(items.iter()),
            Self::Record(entries) => Box::new(entries.iter().map(|(_, part)| part)),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Returns the value of an argument that is nothing but one, also of a list or a record of
    /// values.
    pub fn to_value(&self) -> Option<Value> {
        Some(match self {
            Self::Fixed(Arg::Value(blob)) => blob.to_value().ok()?,
            Self::List(items) => {
                Value::List(items.iter().map(Self::to_value).collect::<Option<_>>()?)
            }
            Self::Record(entries) => {
                let entry = |(name, part): &(String, Self)| Some((name.clone(), part.to_value()?));
                Value::Map(entries.iter().map(entry).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    /// Makes results of earlier steps count from a step that is so many further on.
    pub fn shift_results(&mut self, by: usize) {
        match self {
            Self::Result(index) => *index += by,
            Self::List(items) => items.iter_mut().for_each(|item| item.shift_results(by)),
            Self::Record(entries) => {
                entries.iter_mut().for_each(|(_, item)| item.shift_results(by));
            }
            Self::Fixed(_) | Self::Ref { .. } | Self::Name { .. } | Self::Missing(_) => {}
        }
    }

    /// Returns the ref among the argument's parts that names an object by its id or its key.
    pub fn ref_to(&self, id: u64, key: &str) -> Option<&Ref> {
        match self {
            Argument::Ref { of, .. } => match &of.local {
                Local::Id(other) => (*other == id).then_some(of),
                Local::Key(other) => (other == key).then_some(of),
            },
            _ => self.parts().find_map(|part| part.ref_to(id, key)),
        }
    }
}

/// An argument that is missing or doesn't have its parameter's type.
#[derive(Debug, Clone)]
pub struct MissingArgument {
    /// The parameter's type.
    pub ty: Type,
    /// The value that was probably meant, if one of another type was given.
    pub meant: Option<Value>,
    /// True when a quoted text is taken as it is written.
    pub raw: bool,
    /// True when the value is never printed, logged or kept.
    pub secret: bool,
}

impl MissingArgument {
    /// The missing argument of a parameter.
    pub fn of(param: &Param, raw: bool) -> Self {
        Self { ty: param.ty.clone(), meant: None, raw, secret: param.holds_secret() }
    }
}

/// True for the value `true`.
pub fn is_true(arg: &Arg) -> bool {
    matches!(arg, Arg::Value(blob) if blob.to_value() == Ok(Value::Bool(true)))
}

/// Arguments that need nothing more.
pub fn fixed(args: &Args) -> Vec<(String, Argument)> {
    args.iter().map(|(name, arg)| (name.clone(), Argument::Fixed(arg.clone()))).collect()
}
