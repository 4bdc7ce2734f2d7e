//! The types of values, and the fields of records and forms.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::value::Value;

/// The type of a parameter or a return value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// Text in UTF-8.
    String,
    /// An integer.
    Int,
    /// A floating-point number.
    Float,
    /// `true` or `false`.
    Bool,
    /// `null`; as a return type `void`.
    Null,
    /// A position in numbered lines: a number as last seen, an anchor, or `'file:20'`.
    Line,
    /// Any value.
    #[default]
    Any,
    /// One of these strings.
    Union(Vec<String>),
    /// A visible thing, of this type if one is given.
    Anchor(Option<String>),
    /// A list of values of this type.
    List(Box<Type>),
    /// Such a value or `null`.
    Optional(Box<Type>),
    /// Named values, each with its own type: `{count: int, note?: string}`.
    Record(Vec<Field>),
    /// Values of one type by names that the caller chooses: `{[key: string]: int}`.
    Map(Box<Type>),
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::String => f.write_str("string"),
            Type::Int => f.write_str("int"),
            Type::Float => f.write_str("float"),
            Type::Bool => f.write_str("bool"),
            Type::Null => f.write_str("null"),
            Type::Line => f.write_str("line"),
            Type::Any => f.write_str("any"),
            Type::Union(options) => {
                for (index, option) in options.iter().enumerate() {
                    let option = Value::Str(option.clone());
                    write!(f, "{}{option}", if index > 0 { "|" } else { "" })?;
                }
                Ok(())
            }
            Type::Anchor(None) => f.write_str("Anchor"),
            Type::Anchor(Some(of)) => write!(f, "Anchor<{of}>"),
            Type::List(item) => match **item {
                Type::Union(_) | Type::Optional(_) => write!(f, "({item})[]"),
                _ => write!(f, "{item}[]"),
            },
            Type::Optional(inner) => write!(f, "{inner}?"),
            Type::Record(fields) => {
                f.write_str("{")?;
                for (index, field) in fields.iter().enumerate() {
                    write!(f, "{}{field}", if index > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
            Type::Map(of) => write!(f, "{{[key: string]: {of}}}"),
        }
    }
}

impl Type {
    /// Returns true when a part of such a value is never printed, logged or kept.
    pub fn holds_secret(&self) -> bool {
        match self {
            Type::Record(fields) => fields.iter().any(Field::holds_secret),
            Type::List(of) | Type::Optional(of) | Type::Map(of) => of.holds_secret(),
            _ => false,
        }
    }
}

/// A field of a record or of a form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// The name, `[A-Za-z_][A-Za-z0-9_]*`, of at most 64 bytes, which no other field beside it has.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// The value of an absent field. A field without one is required, unless its type is optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The meaning of the field, in one sentence; empty if the name is enough.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// True for a value that is never printed, logged or kept, such as a password.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// A regular expression that must match the whole text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The minimum: of a number, of a text's characters, or of a list's items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The maximum: of a number, of a text's characters, or of a list's items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

impl Field {
    /// Returns true when a value has to be given.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && !matches!(self.ty, Type::Optional(_))
    }

    /// Returns true when the value, or a part of it, is never printed, logged or kept.
    pub fn holds_secret(&self) -> bool {
        self.secret || self.ty.holds_secret()
    }

    /// Returns what a value has to fulfil besides its type, in words: `1 to 9`,
    /// `at most 80 characters`.
    pub fn bounds(&self) -> String {
        let one = self.min.or(self.max) == Some(1.0) && self.max.is_none_or(|max| max == 1.0);
        let unit = match self.value_type() {
            Type::String if one => " character",
            Type::String => " characters",
            Type::List(_) if one => " item",
            Type::List(_) => " items",
            _ => "",
        };
        let range = match (self.min, self.max) {
            (Some(min), Some(max)) if min == max && !unit.is_empty() => {
                format!("exactly {min}{unit}")
            }
            (Some(min), Some(max)) => format!("{min} to {max}{unit}"),
            (Some(min), None) => format!("at least {min}{unit}"),
            (None, Some(max)) => format!("at most {max}{unit}"),
            (None, None) => String::new(),
        };
        let pattern = self.pattern.as_ref().map(|pattern| format!("matches /{pattern}/"));
        let parts = [Some(range).filter(|range| !range.is_empty()), pattern];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns the type of a value that is given.
    pub fn value_type(&self) -> &Type {
        match &self.ty {
            Type::Optional(inner) => inner,
            ty => ty,
        }
    }

    /// Returns the field with its meaning behind it: `count: int = 1 // how many; 1 to 9`.
    pub fn documented(&self) -> String {
        let parts = [comment_line(&self.doc), self.bounds()];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        match parts.is_empty() {
            true => self.to_string(),
            false => format!("{self} // {}", parts.join("; ")),
        }
    }
}

/// Writes the field as a declaration does: `count: int = 1`, `note?: string`.
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if matches!(self.ty, Type::Optional(_)) { "?" } else { "" };
        let ty = match self.secret {
            true => secret_type(self.value_type()),
            false => self.value_type().to_string(),
        };
        write!(f, "{}{mark}: {ty}", self.name)?;
        match &self.default {
            Some(default) if !self.holds_secret() => write!(f, " = {default}"),
            _ => Ok(()),
        }
    }
}

/// Writes the type of a secret: a text is just that.
pub(super) fn secret_type(ty: &Type) -> String {
    match ty {
        Type::String => "secret".to_owned(),
        ty => format!("secret {ty}"),
    }
}

/// Writes a text for the inside of a comment, on one line.
pub fn comment_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "* /")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, ty: Type) -> Field {
        Field { name: name.into(), ty, ..Field::default() }
    }

    #[test]
    fn record_is_written_as_typescript_does() {
        let note = field("note", Type::Optional(Box::new(Type::String)));
        let count = Field { default: Some(Value::Int(1)), ..field("count", Type::Int) };
        let key = Field { secret: true, ..field("key", Type::String) };
        let item = Type::Record(vec![count, note, key]);
        assert_eq!(item.to_string(), "{count: int = 1, note?: string, key: secret}");
        let list = Type::List(Box::new(item.clone()));
        assert_eq!(list.to_string(), "{count: int = 1, note?: string, key: secret}[]");
        assert!(list.holds_secret());
        assert_eq!(Type::Map(Box::new(Type::Int)).to_string(), "{[key: string]: int}");
        assert_eq!(Type::Record(Vec::new()).to_string(), "{}");
    }

    #[test]
    fn meaning_and_bounds_follow_the_field() {
        let mut count = field("count", Type::Int);
        assert_eq!(count.documented(), "count: int");
        (count.min, count.max) = (Some(1.0), Some(9.5));
        count.doc = "How many.".into();
        assert_eq!(count.documented(), "count: int // How many.; 1 to 9.5");
        let mut code = field("code", Type::Optional(Box::new(Type::String)));
        (code.min, code.max, code.pattern) = (Some(4.0), Some(4.0), Some("[0-9]+".into()));
        assert_eq!(code.documented(), "code?: string // exactly 4 characters, matches /[0-9]+/");
    }
}
