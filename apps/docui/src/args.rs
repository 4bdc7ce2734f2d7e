//! The types that an action's parameters may have, and the conversion of arguments to them.
//!
//! | Rust type | shown to readers as | accepts |
//! |---|---|---|
//! | `String`, `i64`, `f64`, `bool` | `string`, `int`, `float`, `bool` | a value of that type; an `f64` also an integer |
//! | [`Anchor`] | `Anchor<enemy>`, `Anchor` | a ref to one of the app's own objects |
//! | [`Line`] | `line` | a line number, a ref, or text such as `'other.rs:20'` |
//! | [`Text`] | `string` | a string, or a value of another app by reference |
//! | [`Data`] | `string` | a string, or any value of another app by reference, also bytes that are no text |
//! | [`Change`] | `string` | a string, the id of a change |
//! | [`FilePath`] | `string` | a path, or an object that is a file by reference |
//! | [`Pattern`] | `string` | a regular expression, as it is written |
//! | [`TextOrPattern`] | `string` | a string; with `regex=true` a regular expression, as it is written |
//! | [`Value`] | `any` | any value |
//! | `Vec<T>`, `Option<T>` | a list, an optional value | as `T`; one `T` also stands for a list of one |
//! | [`Secret`] | `secret` | a string that is never printed or kept |
//! | [`crate::record!`] | `{name: string, count: int = 1}` | a record with these fields |
//! | `BTreeMap<String, T>` | `{[key: string]: int}` | a record with any names, each value as `T` |
//! | [`crate::choices!`] | `'cpu'\|'mem'` | one of these strings |
//!
//! Internally, `record`, `secret` and `data` (bytes of any kind) have the types of these names;
//! `values` converts those that are plain values: strings, numbers, lists, optional values; `raw`
//! has the texts that are regular expressions.

/// Implements [`ArgType`] for a text with a meaning of its own, and says in what it differs from a
/// plain one.
macro_rules! text_arg {
    ($Type:ident { $($differs:tt)* }) => {
        impl From<&str> for $Type {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl $crate::args::ArgType for $Type {
            $($differs)*

            fn ty() -> $crate::args::Type {
                $crate::args::Type::String
            }
            fn from_arg(arg: $crate::args::Arg) -> Result<Self, ::pipemux_proto::Fault> {
                <String as $crate::args::ArgType>::from_arg(arg).map(Self)
            }
            fn to_arg(&self) -> $crate::args::Arg {
                ::pipemux_proto::Value::from(self.0.as_str()).into()
            }
        }
    };
}

mod data;
mod raw;
mod record;
mod secret;
mod values;

use std::marker::PhantomData;

pub use pipemux_proto::projection::Arg;
use pipemux_proto::projection::{Copied, RefArg};
pub use pipemux_proto::prototype::Type;
use pipemux_proto::{Fault, Value};

pub use data::Data;
pub use raw::{Pattern, RawTexts, TextOrPattern};
pub use record::{Record, in_field, missing_field};
pub use secret::Secret;

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

    /// Returns true when this value names a change: see [`Change`].
    fn names_change(&self) -> bool {
        false
    }
}

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

/// A text that may have been copied from another app by reference.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Where the text was copied from: the session and the label that its app gave it, such as
    /// `("editor/main", "src/parse.rs:101-300")`. `None` when the text was written in the call.
    pub from: Option<(String, String)>,
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self { text: text.into(), from: None }
    }
}

impl ArgType for Text {
    fn ty() -> Type {
        Type::String
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        let from = match &arg {
            Arg::Copied(copied) => Some((copied.from.clone(), copied.label.clone())),
            _ => None,
        };
        String::from_arg(arg).map(|text| Self { text, from })
    }
    fn to_arg(&self) -> Arg {
        let value = Value::from(self.text.as_str());
        match &self.from {
            None => value.into(),
            Some((from, label)) => {
                let (from, label) = (from.clone(), label.clone());
                Arg::Copied(Copied { value: value.to_blob(), from, label, file: None })
            }
        }
    }
}

/// The id of a change, for the parameter of an action that takes one change back or repeats it.
///
/// A link in an outcome whose action has a value of this type stays valid after further changes,
/// since it says which change it is about. Any other link in an outcome is stale once the state has
/// changed since, if its action changes something and it refers to no object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change(pub String);

impl From<String> for Change {
    fn from(id: String) -> Self {
        Self(id)
    }
}

text_arg! { Change {
    fn names_change(&self) -> bool {
        true
    }
} }

/// The path of a file: a text as a reader writes it, or an object of another app.
///
/// A text means a path in the caller's directory. The path of an object doesn't depend on the
/// caller: it is absolute, and the app that shows the object gives it with [`crate::App::path`].
/// [`crate::Context::path`] resolves both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilePath(pub String);

text_arg! { FilePath {
    const IS_PATH: bool = true;
} }

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

/// Declares a parameter type that accepts only these strings, as an enum.
///
/// ```
/// docui::choices! {
///     /// What to sort by.
///     pub enum By { Cpu = "cpu", Mem = "mem" }
/// }
/// assert_eq!(<By as docui::ArgType>::ty().to_string(), "'cpu'|'mem'");
/// ```
#[macro_export]
macro_rules! choices {
    ($(#[$doc:meta])* $vis:vis enum $Name:ident { $($Variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $Name { $(#[doc = $text] $Variant),+ }

        impl $crate::ArgType for $Name {
            fn ty() -> $crate::private::Type {
                $crate::private::Type::Union(vec![$($text.to_owned()),+])
            }
            fn from_arg(arg: $crate::private::Arg) -> Result<Self, $crate::Fault> {
                match $crate::args::value_of(&arg)?.as_str() {
                    $(Some($text) => Ok($Name::$Variant),)+
                    _ => Err($crate::args::expected(&Self::ty(), &arg)),
                }
            }
            fn to_arg(&self) -> $crate::private::Arg {
                $crate::Value::from(match self { $($Name::$Variant => $text),+ }).into()
            }
        }
    };
}

/// Declares a type of objects, for parameters such as `Anchor<Enemy>`.
///
/// An object gets the type in the view, by the same name: `Object::new(key, label).ty("enemy")`.
///
/// ```
/// docui::kind!(/** An enemy. */ pub Enemy = "enemy");
/// ```
///
/// Objects that also have names, such as the title of a note, are declared with `named`: calls may
/// then use the name in place of a ref, and [`crate::App::named`] finds the object.
///
/// ```
/// docui::kind!(/** A note. */ pub Note = "note", named);
/// ```
#[macro_export]
macro_rules! kind {
    ($(#[$doc:meta])* $vis:vis $Name:ident = $text:literal $(, $named:ident)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis struct $Name;

        impl $crate::Kind for $Name {
            const NAME: Option<&'static str> = Some($text);
            const NAMED: bool = $crate::kind!(@named $($named)?);
        }
    };
    (@named) => { false };
    (@named named) => { true };
}
