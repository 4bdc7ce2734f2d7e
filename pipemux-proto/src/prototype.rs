//! Prototypes: an action's signature, shown as a TypeScript declaration.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::value::Value;

/// A parameter's or result's type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// Text.
    String,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// `true` or `false`.
    Bool,
    /// `null`; the result type `void`.
    Null,
    /// A place in numbered lines: a number as last seen, an anchor, or `'file:20'`.
    Line,
    /// Anything.
    Any,
    /// One of these strings.
    Union(Vec<String>),
    /// A visible thing, of this type if one is named.
    Anchor(Option<String>),
    /// Any number of these.
    List(Box<Type>),
    /// This or `null`.
    Optional(Box<Type>),
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
                    write!(f, "{}'{option}'", if index > 0 { "|" } else { "" })?;
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
        }
    }
}

/// How much an action can spoil.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Changes nothing but the view.
    Safe,
    /// Changes what the app keeps; can be undone or done again.
    #[default]
    Changes,
    /// Takes away what can't be had back: is always asked first.
    Destructive,
}

/// How much room an action gets in a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prominence {
    /// A line of its own, with its documentation.
    Featured,
    /// On the shared line of signatures.
    #[default]
    Listed,
    /// Only counted; `pipemux help` and level of detail `Full` show it.
    Help,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// Its name, `[a-z][a-z0-9_]*`.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// What it is when it isn't given; without one it is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// An action's signature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prototype {
    /// Its name, `[a-z][a-z0-9_]*`.
    pub name: String,
    /// What it does: one or two sentences.
    #[serde(default)]
    pub doc: String,
    /// In the order that positional arguments fill.
    #[serde(default)]
    pub params: Vec<Param>,
    /// What a nested call gets; none for `void`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Type>,
    /// How much it can spoil.
    #[serde(default)]
    pub risk: Risk,
    /// True when doing it twice is the same as once, so that it may be sent again after a crash.
    #[serde(default)]
    pub idempotent: bool,
    /// How much room it gets in a window.
    #[serde(default)]
    pub prominence: Prominence,
}

impl Prototype {
    /// The form for windows: an untyped parameter is a string, a default gives the type.
    /// `replace_lines(first: line, last: line, text)`
    pub fn compact(&self) -> String {
        // What may be left out altogether is help's to tell.
        let spare = |param: &&Param| {
            !(matches!(param.ty, Type::Optional(_)) && param.default == Some(Value::Null))
        };
        let params = self.params.iter().filter(spare);
        let params = params.map(|param| match (&param.ty, &param.default) {
            (Type::String, None) => param.name.clone(),
            (Type::Union(_), Some(default)) => format!("{}: {} = {default}", param.name, param.ty),
            (_, Some(default)) => format!("{} = {default}", param.name),
            (ty, None) => format!("{}: {ty}", param.name),
        });
        let params = params.collect::<Vec<_>>().join(", ");
        match &self.returns {
            Some(ty) => format!("{}({params}): {ty}", self.name),
            None => format!("{}({params})", self.name),
        }
    }

    /// The whole declaration with its doc comment, for `help` and level of detail `Full`.
    /// `function cast_fireball(target: Anchor<enemy>, mana: int = 10): void;`
    pub fn declaration(&self) -> String {
        let params = self.params.iter().map(|param| match &param.default {
            Some(default) => format!("{}: {} = {default}", param.name, param.ty),
            None => format!("{}: {}", param.name, param.ty),
        });
        let params = params.collect::<Vec<_>>().join(", ");
        let returns = self.returns.as_ref().map_or("void".to_owned(), Type::to_string);
        let risk = if self.risk == Risk::Destructive { " Asks first." } else { "" };
        let doc = if self.doc.is_empty() && risk.is_empty() {
            String::new()
        } else {
            format!("/** {}{risk} */\n", self.doc).replace("/**  ", "/** ")
        };
        format!("{doc}function {}({params}): {returns};", self.name)
    }
}
