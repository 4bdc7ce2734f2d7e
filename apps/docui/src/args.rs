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

        impl $crate::ArgType for $Type {
            $($differs)*

            fn ty() -> $crate::private::Type {
                $crate::private::Type::String
            }
            fn from_arg(arg: $crate::private::Arg) -> Result<Self, ::pipemux_proto::Fault> {
                <String as $crate::ArgType>::from_arg(arg).map(Self)
            }
            fn to_arg(&self) -> $crate::private::Arg {
                ::pipemux_proto::Value::from(self.0.as_str()).into()
            }
        }
    };
}

mod anchor;
mod arg_type;
mod data;
mod raw;
mod record;
mod secret;
mod text;
mod values;

pub use anchor::{Anchor, Any, Kind, Line};
pub use arg_type::{ArgType, RawTexts, expected, value_of};
pub use data::Data;
pub use pipemux_proto::projection::Arg;
pub use pipemux_proto::prototype::Type;
pub use raw::{Pattern, TextOrPattern};
pub use record::{Record, in_field, missing_field};
pub use secret::Secret;
pub use text::{Change, FilePath, Text};

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
