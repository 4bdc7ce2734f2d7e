//! Parameters that take refs to the app's own objects.

use std::marker::PhantomData;

use pipemux_proto::projection::{Arg, RefArg};
use pipemux_proto::prototype::Type;
use pipemux_proto::{Fault, Value};

use super::arg_type::{ArgType, expected, value_of};

/// The type of an object, as in `Anchor<enemy>`. Declare one with [`crate::kind!`].
pub trait Kind {
    /// The type's name, or `None` for objects of any type.
    const NAME: Option<&'static str>;

    /// True when such objects also have names that calls may use: [`crate::App::named`] finds them.
    const NAMED: bool = false;
}

/// Stands for objects of any type, as in `Anchor<Any>`, which may be written `Anchor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Any;

impl Kind for Any {
    const NAME: Option<&'static str> = None;
}

/// A reference to one of the app's own objects.
///
/// In an action that reaches [`crate::App::update`], the SDK has checked that the object exists and
/// that nobody else changed it since the reader saw it.
#[derive(Debug)]
pub struct Anchor<K = Any> {
    /// The app's own name for the object.
    pub key: String,
    /// The object's rev. In an action: its current rev. In a link: the rev that the link is valid
    /// for.
    pub rev: u64,
    kind: PhantomData<fn() -> K>,
}

impl<K> Anchor<K> {
    /// Refers to the object with this key and rev. Use it to fill in the arguments of a link.
    pub fn new(key: impl Into<String>, rev: u64) -> Self {
        Self { key: key.into(), rev, kind: PhantomData }
    }
}
impl<K> Clone for Anchor<K> {
    fn clone(&self) -> Self {
        Self::new(self.key.clone(), self.rev)
    }
}
impl<K> PartialEq for Anchor<K> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.rev == other.rev
    }
}

impl<K: Kind> ArgType for Anchor<K> {
    const IS_NAMED: bool = K::NAMED;

    fn ty() -> Type {
        Type::Anchor(K::NAME.map(Into::into))
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        let Arg::Ref(found) = arg else {
            return Err(expected(&Self::ty(), &arg).hint("write a ref as shown: obj:23"));
        };
        match (K::NAME, &found.ty) {
            (Some(wanted), Some(given)) if wanted != given => {
                let message = format!("expected an anchor of type {wanted}, not of type {given}");
                Err(Fault::usage(message).about(found.key))
            }
            _ => Ok(Self::new(found.key, found.rev)),
        }
    }
    fn to_arg(&self) -> Arg {
        let (key, rev) = (self.key.clone(), self.rev);
        Arg::Ref(RefArg { key, rev, ty: K::NAME.map(Into::into) })
    }
}

/// A line of a numbered text.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// A line number, as the reader saw it: [`crate::Context::seen_numbers`].
    Number(i64),
    /// The line of an object, such as a selection or a match.
    At(Anchor<Any>),
    /// Text for the app to interpret, such as `other.rs:20`.
    Text(String),
}

impl ArgType for Line {
    fn ty() -> Type {
        Type::Line
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        match arg {
            Arg::Ref(found) => Ok(Line::At(Anchor::new(found.key, found.rev))),
            other => match value_of(&other)? {
                Value::Int(number) => Ok(Line::Number(number)),
                Value::Str(text) => Ok(Line::Text(text)),
                _ => Err(expected(&Type::Line, &other).hint("a number, obj:23 or 'file.rs:20'")),
            },
        }
    }
    fn to_arg(&self) -> Arg {
        match self {
            Line::Number(number) => Value::Int(*number).into(),
            Line::At(anchor) => anchor.to_arg(),
            Line::Text(text) => Value::from(text.as_str()).into(),
        }
    }
}
