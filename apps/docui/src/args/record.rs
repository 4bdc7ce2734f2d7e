//! Records: structured arguments and the answers to forms, declared field by field.

use std::collections::BTreeMap;

use pipemux_proto::projection::{Arg, Args, Copied};
use pipemux_proto::prototype::{Field, Type};
use pipemux_proto::{Fault, Value};

use super::arg_type::{ArgType, expected, value_of};

/// A type with named fields. Declare one with [`crate::record!`]; by hand, for a type that is your
/// own, implement this trait: it is a parameter's type then ([`ArgType`]) and the content of a form
/// ([`crate::Ask::form`]).
pub trait Record: Sized {
    /// Returns the fields in their order.
    fn fields() -> Vec<Field>;

    /// Makes a record of its fields. Those with a default may be missing, as optional ones may.
    ///
    /// # Errors
    /// A field is missing, unknown or of another type. The fault names it.
    fn from_fields(fields: Args) -> Result<Self, Fault>;

    /// Returns the fields from which [`Record::from_fields`] makes this record.
    fn to_fields(&self) -> Args;
}

impl<T: Record> ArgType for T {
    fn ty() -> Type {
        Type::Record(T::fields())
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        let fields = match arg {
            Arg::Record(fields) => fields,
            Arg::Value(_) | Arg::Copied(_) => match value_of(&arg)? {
                Value::Map(entries) => {
                    let part = |value: Value| match &arg {
                        // Each field comes from where the record comes from.
                        Arg::Copied(whole) => {
                            Arg::Copied(Copied { value: value.to_blob(), ..whole.clone() })
                        }
                        _ => value.into(),
                    };
                    entries.into_iter().map(|(name, value)| (name, part(value))).collect()
                }
                _ => return Err(expected(&Self::ty(), &arg)),
            },
            Arg::Ref(_) | Arg::List(_) => return Err(expected(&Self::ty(), &arg)),
        };
        T::from_fields(fields)
    }
    fn to_arg(&self) -> Arg {
        record_arg(self.to_fields())
    }
}

/// Values of one type by names that the caller chooses: `{[key: string]: int}`.
impl<T: ArgType> ArgType for BTreeMap<String, T> {
    const IS_SECRET: bool = T::IS_SECRET;

    fn ty() -> Type {
        Type::Map(Box::new(T::ty()))
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        let fields = match arg {
            Arg::Record(fields) => fields,
            _ => match value_of(&arg)? {
                Value::Map(entries) => {
                    entries.into_iter().map(|(name, value)| (name, value.into())).collect()
                }
                _ => return Err(expected(&Self::ty(), &arg)),
            },
        };
        let entry = |(name, arg)| T::from_arg(arg).map(|value| (name, value));
        fields.into_iter().map(entry).collect()
    }
    fn to_arg(&self) -> Arg {
        record_arg(self.iter().map(|(name, value)| (name.clone(), value.to_arg())).collect())
    }
}

/// Makes one value of a record that is nothing but values, as daemons do.
fn record_arg(fields: Args) -> Arg {
    let value = |arg: &Arg| match arg {
        Arg::Value(_) | Arg::List(_) => value_of(arg).ok(),
        Arg::Ref(_) | Arg::Copied(_) | Arg::Record(_) => None,
    };
    let entries = fields.iter().map(|(name, arg)| Some((name.clone(), value(arg)?)));
    match entries.collect::<Option<_>>() {
        Some(entries) => Value::Map(entries).into(),
        None => Arg::Record(fields),
    }
}

/// Declares a record: a struct whose fields are checked by the daemon before the app is asked. It
/// is a type for parameters (`items: Vec<Item>`) and for the fields of a form
/// ([`crate::Ask::form`]).
///
/// A field is written as `name: Type [rules] = default`. Rules and default are optional; the rules
/// are `min`, `max` (a number's value, a text's characters, a list's items) and `pattern` (a
/// regular expression for the whole text). A doc comment says what the field means. An `Option` may
/// be missing; a [`crate::Secret`] is never printed or kept.
///
/// ```
/// use docui::ArgType;
/// docui::record! {
///     /// A line of an order.
///     pub struct Item {
///         /// What is ordered.
///         name: String [min 1, max 80],
///         count: i64 [min 1, max 9] = 1,
///         code: Option<String> [pattern "[A-Z]{3}"],
///     }
/// }
/// assert_eq!(Item::ty().to_string(), "{name: string, count: int = 1, code?: string}");
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[$meta:meta])* $vis:vis struct $Name:ident {
            $(
                $(#[doc = $doc:literal])*
                $field:ident: $ty:ty $([$($rule:ident $bound:expr),+ $(,)?])? $(= $default:expr)?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $Name {
            $(
                $(#[doc = $doc])*
                #[allow(missing_docs)]
                pub $field: $ty,
            )*
        }

        impl $crate::Record for $Name {
            fn fields() -> Vec<$crate::private::Field> {
                vec![$({
                    #[allow(unused_mut)]
                    let mut field = $crate::private::Field {
                        name: $crate::private::param_name(stringify!($field)).to_owned(),
                        ty: <$ty as $crate::ArgType>::ty(),
                        default: $crate::record!(@default $ty $(, $default)?),
                        doc: <[&str]>::join(&[$($doc.trim()),*], " "),
                        secret: <$ty as $crate::ArgType>::IS_SECRET,
                        ..Default::default()
                    };
                    $($($crate::record!(@rule field, $rule, $bound);)+)?
                    field
                }),*]
            }

            fn from_fields(fields: $crate::private::Args) -> Result<Self, $crate::Fault> {
                let mut fields = fields;
                let record = Self {
                    $($field: {
                        let name = $crate::private::param_name(stringify!($field));
                        match fields.remove(name) {
                            Some(arg) => <$ty as $crate::ArgType>::from_arg(arg)
                                .map_err(|fault| $crate::private::in_field(name, fault))?,
                            None => $crate::record!(@missing name, $ty $(, $default)?),
                        }
                    },)*
                };
                match fields.into_keys().next() {
                    None => Ok(record),
                    Some(extra) => {
                        Err($crate::Fault::usage(format!("there is no field {extra}")).field(extra))
                    }
                }
            }

            fn to_fields(&self) -> $crate::private::Args {
                #[allow(unused_mut)]
                let mut fields = $crate::private::Args::new();
                $(fields.insert(
                    $crate::private::param_name(stringify!($field)).to_owned(),
                    $crate::ArgType::to_arg(&self.$field),
                );)*
                fields
            }
        }
    };

    (@default $ty:ty) => { None };
    (@default $ty:ty, $default:expr) => {
        $crate::private::value_of(&$crate::ArgType::to_arg(&<$ty>::from($default))).ok()
    };
    (@rule $field:ident, min, $bound:expr) => { $field.min = Some(f64::from($bound)) };
    (@rule $field:ident, max, $bound:expr) => { $field.max = Some(f64::from($bound)) };
    (@rule $field:ident, pattern, $bound:expr) => { $field.pattern = Some(String::from($bound)) };
    // An optional field that is missing is null.
    (@missing $name:ident, $ty:ty) => {
        <$ty as $crate::ArgType>::from_arg($crate::Value::Null.into())
            .map_err(|_| $crate::private::missing_field($name, &<$ty as $crate::ArgType>::ty()))?
    };
    (@missing $name:ident, $ty:ty, $default:expr) => { <$ty>::from($default) };
}

/// Names the field that a fault is about.
#[doc(hidden)]
pub fn in_field(name: &str, mut fault: Fault) -> Fault {
    fault.message = format!("{name}: {}", fault.message);
    fault.field(name)
}

/// The fault of a record without one of its fields.
#[doc(hidden)]
pub fn missing_field(name: &str, ty: &Type) -> Fault {
    Fault::usage(format!("needs {name}: {ty}")).field(name)
}
