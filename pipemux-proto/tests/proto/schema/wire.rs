//! Messages as JSON, and messages with a field less or with another value.

use pipemux_proto::Value;
use serde_json::Value as Json;

use crate::schema::check::Schema;

/// A MessagePack value as the schema describes it: bytes are base64.
pub fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        Value::Float(value) => (*value).into(),
        Value::Str(text) => text.as_str().into(),
        Value::Bin(bytes) => base64(bytes).into(),
        Value::List(items) => items.iter().map(to_json).collect(),
        Value::Map(entries) => {
            entries.iter().map(|(name, value)| (name.clone(), to_json(value))).collect()
        }
    }
}

/// The value with integers that [`Value`] can hold only as floats made smaller, so that it can be
/// encoded as integers.
pub fn with_smaller_integers(value: Value) -> Value {
    match value {
        Value::Float(float) if float >= i64::MAX as f64 => Value::Int(i64::MAX),
        Value::List(items) => Value::List(items.into_iter().map(with_smaller_integers).collect()),
        Value::Map(entries) => {
            let smaller = |(name, value)| (name, with_smaller_integers(value));
            Value::Map(entries.into_iter().map(smaller).collect())
        }
        other => other,
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit) & 63) as usize;
            out.push(if digit <= chunk.len() { char::from(DIGITS[index]) } else { '=' });
        }
    }
    out
}

/// A message that differs from a sample in one field.
pub struct Variation {
    /// What was done to which field: `content.0.object.rev left out`.
    pub what: String,
    /// Whether the schema allows it.
    pub allowed: bool,
    pub message: Value,
}

/// The sample with each field in turn left out, or `nil`.
pub fn variations(schema: &Schema, of: &Json, sample: &Value) -> Vec<Variation> {
    let of = schema.form(of, &to_json(sample));
    let mut all = Vec::new();
    match sample {
        Value::List(items) => {
            let rule = &of["items"];
            for (index, item) in items.iter().enumerate().filter(|_| rule.is_object()) {
                for inner in variations(schema, rule, item) {
                    let mut items = items.clone();
                    items[index] = inner.message;
                    let what = format!("{index}.{}", inner.what);
                    all.push(Variation { what, message: Value::List(items), ..inner });
                }
            }
        }
        Value::Map(entries) => {
            for (index, (name, value)) in entries.iter().enumerate() {
                let named = of["properties"].get(name);
                let Some(rule) = named.or(of.get("additionalProperties")).filter(|r| r.is_object())
                else {
                    continue;
                };
                let with = |value: Option<Value>| {
                    let mut entries = entries.clone();
                    match value {
                        Some(value) => entries[index].1 = value,
                        None => drop(entries.remove(index)),
                    }
                    Value::Map(entries)
                };
                for inner in variations(schema, rule, value) {
                    let what = format!("{name}.{}", inner.what);
                    all.push(Variation { what, message: with(Some(inner.message)), ..inner });
                }
                // A map has no fields, and the one member of a variant is no field.
                if named.is_none() || of.get("additionalProperties").is_some() {
                    continue;
                }
                let required = of["required"].as_array();
                let required = required.is_some_and(|all| all.iter().any(|of| of == name.as_str()));
                let nullable = schema.check(rule, &Json::Null).is_ok();
                // What is always written may still be missing for who reads it, if it may be null.
                if !(required && nullable) {
                    let (what, allowed) = (format!("{name} left out"), !required);
                    all.push(Variation { what, allowed, message: with(None) });
                }
                let (what, allowed) = (format!("{name} nil"), nullable);
                all.push(Variation { what, allowed, message: with(Some(Value::Null)) });
            }
        }
        _ => {}
    }
    all
}
