//! Parameters that take plain values: strings, numbers, truth values, lists, optional values, and
//! any value.

use pipemux_proto::projection::{Arg, Copied};
use pipemux_proto::prototype::Type;
use pipemux_proto::{Fault, Value};

use super::arg_type::{ArgType, RawTexts, expected, value_of};

impl ArgType for Value {
    fn ty() -> Type {
        Type::Any
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        value_of(&arg)
    }
    fn to_arg(&self) -> Arg {
        self.clone().into()
    }
}

impl<T: ArgType> ArgType for Vec<T> {
    const IS_PATH: bool = T::IS_PATH;
    const IS_NAMED: bool = T::IS_NAMED;
    const RAW: RawTexts = T::RAW;
    const IS_SECRET: bool = T::IS_SECRET;

    fn ty() -> Type {
        Type::List(Box::new(T::ty()))
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        match arg {
            Arg::List(items) => items.into_iter().map(T::from_arg).collect(),
            // A single item is accepted as a list of one.
            Arg::Ref(_) | Arg::Record(_) => T::from_arg(arg).map(|item| vec![item]),
            Arg::Value(_) | Arg::Copied(_) => match value_of(&arg)? {
                Value::List(items) => {
                    let item = |item: Value| match &arg {
                        // Each item comes from where the list comes from.
                        Arg::Copied(list) => {
                            Arg::Copied(Copied { value: item.to_blob(), ..list.clone() })
                        }
                        _ => item.into(),
                    };
                    items.into_iter().map(|value| T::from_arg(item(value))).collect()
                }
                _ => T::from_arg(arg).map(|item| vec![item]),
            },
        }
    }
    fn to_arg(&self) -> Arg {
        Arg::List(self.iter().map(T::to_arg).collect())
    }
}

impl<T: ArgType> ArgType for Option<T> {
    const IS_PATH: bool = T::IS_PATH;
    const IS_NAMED: bool = T::IS_NAMED;
    const RAW: RawTexts = T::RAW;
    const IS_SECRET: bool = T::IS_SECRET;

    fn ty() -> Type {
        Type::Optional(Box::new(T::ty()))
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        match &arg {
            Arg::Value(blob) if blob.to_value() == Ok(Value::Null) => Ok(None),
            _ => T::from_arg(arg).map(Some),
        }
    }
    fn to_arg(&self) -> Arg {
        self.as_ref().map_or_else(|| Value::Null.into(), T::to_arg)
    }
    fn names_change(&self) -> bool {
        self.as_ref().is_some_and(T::names_change)
    }
}

macro_rules! scalar {
    ($($Type:ty, $ty:expr, $($pattern:pat => $take:expr),+;)*) => {
        $(impl ArgType for $Type {
            fn ty() -> Type { $ty }
            fn from_arg(arg: Arg) -> Result<Self, Fault> {
                match value_of(&arg)? {
                    $($pattern => Ok($take),)+
                    _ => Err(expected(&$ty, &arg)),
                }
            }
            fn to_arg(&self) -> Arg { Value::from(self.clone()).into() }
        })*
    };
}

scalar! {
    String, Type::String, Value::Str(text) => text;
    i64, Type::Int, Value::Int(number) => number;
    bool, Type::Bool, Value::Bool(value) => value;
    f64, Type::Float, Value::Float(number) => number, Value::Int(number) => number as f64;
}
