//! The conversion of arguments to Rust types, and the faults for values that don't fit.

use pipemux_proto::projection::{Arg, Copied};
use pipemux_proto::prototype::{Raw, Type};
use pipemux_proto::{Fault, Value};

/// A type that a parameter may have. Implement it to give your own types to actions.
pub trait ArgType: Sized {
    /// True when an object of another app is passed as the path of its file, not as its value.
    const IS_PATH: bool = false;

    /// True when a string names one of the app's objects, which [`crate::App::named`] finds.
    const IS_NAMED: bool = false;

    /// Whether a text in quotes is taken as it is written, as a regular expression is.
    const RAW: RawTexts = RawTexts::Never;

    /// True for a value that is never printed, logged or kept.
    const IS_SECRET: bool = false;

    /// Returns the type as signatures show it.
    fn ty() -> Type;

    /// Converts an argument to this type.
    ///
    /// # Errors
    /// The argument has another type. Make the fault with [`expected`], which names both.
    fn from_arg(arg: Arg) -> Result<Self, Fault>;

    /// Returns the argument from which [`ArgType::from_arg`] makes this value.
    fn to_arg(&self) -> Arg;

    /// Returns true when this value names a change: see [`crate::Change`].
    fn names_change(&self) -> bool {
        false
    }
}

/// Which quoted texts a parameter takes as they are written: see [`pipemux_proto::prototype::Raw`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawTexts {
    /// None of them: their escapes are resolved.
    Never,
    /// All of them: a backslash in them stands for itself.
    Always,
    /// Those of calls that give this parameter as `true`.
    If(&'static str),
}

impl RawTexts {
    /// Returns it as it is sent.
    pub fn to_wire(self) -> Raw {
        match self {
            Self::Never => Raw::Never,
            Self::Always => Raw::Always,
            Self::If(flag) => Raw::If(flag.to_owned()),
        }
    }
}

/// Returns the value of an argument.
///
/// # Errors
/// The argument is a ref, or its bytes can't be decoded.
pub fn value_of(arg: &Arg) -> Result<Value, Fault> {
    match arg {
        Arg::Value(blob) | Arg::Copied(Copied { value: blob, .. }) => {
            blob.to_value().map_err(|error| Fault::usage(format!("unreadable value: {error}")))
        }
        Arg::List(items) => items.iter().map(value_of).collect::<Result<_, _>>().map(Value::List),
        Arg::Record(fields) => {
            let field = |(name, part): (&String, &Arg)| Ok((name.clone(), value_of(part)?));
            fields.iter().map(field).collect::<Result<_, _>>().map(Value::Map)
        }
        Arg::Ref(found) => {
            Err(Fault::usage("expected a value, not a ref").about(found.key.clone()))
        }
    }
}

/// Returns where an argument was copied from: the session, and the label that its app gave it.
/// `None` when it was written in the call.
pub(super) fn origin(arg: &Arg) -> Option<(String, String)> {
    match arg {
        Arg::Copied(copied) => Some((copied.from.clone(), copied.label.clone())),
        _ => None,
    }
}

/// Makes the argument of a value, with the origin that [`origin`] returned for it.
pub(super) fn with_origin(value: Value, origin: Option<&(String, String)>) -> Arg {
    match origin.cloned() {
        None => value.into(),
        Some((from, label)) => {
            Arg::Copied(Copied { value: value.to_blob(), from, label, file: None })
        }
    }
}

/// Makes the fault for an argument that has another type than expected: `expected int, not a ref`.
pub fn expected(ty: &Type, arg: &Arg) -> Fault {
    let given = match arg {
        Arg::Ref(_) => "a ref".to_owned(),
        Arg::List(_) => "a list".to_owned(),
        Arg::Record(_) => "a record".to_owned(),
        Arg::Value(blob) => {
            blob.to_value().map_or("an unreadable value".into(), |v| v.kind().into())
        }
        Arg::Copied(_) => "a copied value".to_owned(),
    };
    Fault::usage(format!("expected {ty}, not {given}"))
}
