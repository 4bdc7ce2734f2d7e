//! MessagePack values: decoded ([`Value`]), or as bytes that are passed on undecoded ([`Blob`]).

use std::fmt::{self, Write as _};

use bytes::Bytes;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::codec::{DecodeError, decode, encode};
use crate::limits::VALUE_DEPTH_MAX;
use crate::text::{is_deceptive_in_prose, write_code_point};

/// The value of an argument, a result or custom state.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true`, `false`
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// Text in UTF-8.
    Str(String),
    /// Bytes of any kind.
    Bin(Bytes),
    /// Values in order.
    List(Vec<Value>),
    /// Named values, in the order of the message.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Encodes the value, so that it can be passed on undecoded.
    pub fn to_blob(&self) -> Blob {
        // Encoding can't fail: MessagePack can represent every Value.
        Blob(encode(self).unwrap_or_default().into())
    }

    /// Returns the name of the value's type for error messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "string",
            Value::Bin(_) => "bytes",
            Value::List(_) => "list",
            Value::Map(_) => "map",
        }
    }

    /// Returns the value of a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// Returns the text, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }
}

/// Writes the value in the call syntax, as an agent would write it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Str(text) => write_quoted(f, text),
            Value::Bin(bytes) => write!(f, "<{} bytes>", bytes.len()),
            Value::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
            Value::Map(entries) => {
                f.write_str("{")?;
                for (index, (key, item)) in entries.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    write_key(f, key)?;
                    write!(f, ": {item}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Writes the key without quotes if the call syntax reads it as a word.
fn write_key(f: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    let named = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let begins = key.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if begins && key.chars().all(named) { f.write_str(key) } else { write_quoted(f, key) }
}

fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("'")?;
    for c in text.chars() {
        match c {
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\\' => f.write_str("\\\\")?,
            '\'' => f.write_str("\\'")?,
            hidden if is_deceptive_in_prose(hidden) => write_code_point(f, hidden)?,
            other => f.write_char(other)?,
        }
    }
    f.write_str("'")
}

macro_rules! from {
    ($($Type:ty => $Variant:ident,)*) => {
        $(impl From<$Type> for Value {
            fn from(value: $Type) -> Value { Value::$Variant(value.into()) }
        })*
    };
}
from! { bool => Bool, i64 => Int, i32 => Int, u32 => Int, u8 => Int, f64 => Float, &str => Str, String => Str, }

impl From<u64> for Value {
    fn from(value: u64) -> Value {
        i64::try_from(value).map_or(Value::Float(value as f64), Value::Int)
    }
}
impl From<usize> for Value {
    fn from(value: usize) -> Value {
        Value::from(value as u64)
    }
}
impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Value {
        Value::List(items.into_iter().map(Into::into).collect())
    }
}
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(value) => serializer.serialize_i64(*value),
            Value::Float(value) => serializer.serialize_f64(*value),
            Value::Str(text) => serializer.serialize_str(text),
            Value::Bin(bytes) => serializer.serialize_bytes(bytes),
            Value::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Value::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(DepthLimit(VALUE_DEPTH_MAX))
    }
}

/// Decodes a value that nests at most this deep.
#[derive(Clone, Copy)]
struct DepthLimit(usize);

impl<'de> de::DeserializeSeed<'de> for DepthLimit {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl DepthLimit {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        let left = self.0.checked_sub(1);
        left.map(Self).ok_or_else(|| {
            E::custom(format_args!("a value may nest at most {VALUE_DEPTH_MAX} deep"))
        })
    }
}

impl<'de> Visitor<'de> for DepthLimit {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a bool, a number, a string, bytes, a list, or a map with string keys")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }
    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Str(text.to_owned()))
    }
    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Str(text))
    }
    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Value, E> {
        Ok(Value::Bin(Bytes::copy_from_slice(bytes)))
    }
    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Value, E> {
        Ok(Value::Bin(bytes.into()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut entries = Vec::new();
        while let Some(key) = map.next_key()? {
            entries.push((key, map.next_value_seed(inner)?));
        }
        Ok(Value::Map(entries))
    }
}

/// An encoded MessagePack value that is forwarded undecoded; on the wire a `bin`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Blob(pub Bytes);

impl Blob {
    /// Decodes the value, for the app that receives it or for display.
    ///
    /// # Errors
    /// The bytes are not one MessagePack value.
    pub fn to_value(&self) -> Result<Value, DecodeError> {
        decode(&self.0)
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}
impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Blob, D::Error> {
        Bytes::deserialize(deserializer).map(Blob)
    }
}
