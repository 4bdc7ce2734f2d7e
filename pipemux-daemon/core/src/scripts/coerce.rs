//! Fits literals to the types of parameters.

use pipemux_proto::Value;
use pipemux_proto::call::nearest;
use pipemux_proto::prototype::Type;

/// A literal that doesn't match its parameter's type.
pub struct TypeMismatch {
    /// The part of the error message after the type.
    pub note: String,
    /// The value that was obviously meant.
    pub meant: Option<Value>,
}

/// Returns a literal as a value of a type.
///
/// # Errors
/// Why the literal doesn't fit, and the value that was obviously meant.
pub fn coerce(value: &Value, ty: &Type) -> Result<Value, TypeMismatch> {
    let note = |note: String| TypeMismatch { note, meant: None };
    let meant = |meant: Value| TypeMismatch { note: String::new(), meant: Some(meant) };
    match (ty, value) {
        (Type::Any, _)
        | (Type::String, Value::Str(_))
        | (Type::Int, Value::Int(_))
        | (Type::Float, Value::Float(_))
        | (Type::Bool, Value::Bool(_))
        | (Type::Null | Type::Optional(_), Value::Null)
        | (Type::Line, Value::Int(_) | Value::Str(_)) => Ok(value.clone()),
        (Type::Float, Value::Int(number)) => Ok(Value::Float(*number as f64)),
        (Type::Int, Value::Float(number)) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Ok(Value::Int(*number as i64))
        }
        (Type::Union(options), Value::Str(text)) if options.contains(text) => Ok(value.clone()),
        (Type::Union(options), Value::Str(text)) => {
            match nearest(text, options.iter().map(String::as_str)) {
                Some(guess) => Err(meant(guess.into())),
                None => Err(note(format!(", not '{text}'"))),
            }
        }
        (Type::String, Value::Int(_) | Value::Float(_) | Value::Bool(_)) => {
            Err(meant(value.to_string().into()))
        }
        (Type::Int | Type::Float | Type::Bool, Value::Str(text)) => match literal(text, ty) {
            Some(value) => Err(meant(value)),
            None => Err(note(format!(", not '{}'", clip(text)))),
        },
        (Type::Anchor(_), _) => Err(note(": write a ref as shown, for example obj:23".into())),
        _ => Err(note(format!(", not {}", value.kind()))),
    }
}

/// Returns true if an empty text is a valid value of a type. Otherwise an empty text stands for a
/// missing value, where the value is optional.
pub fn takes_empty_text(ty: &Type) -> bool {
    match ty {
        Type::Union(options) => options.iter().any(String::is_empty),
        Type::Int | Type::Float | Type::Bool | Type::Null | Type::Anchor(_) => false,
        Type::Optional(inner) | Type::List(inner) => takes_empty_text(inner),
        _ => true,
    }
}

/// Reads a text as a value of a simple type.
pub fn literal(text: &str, ty: &Type) -> Option<Value> {
    let text = text.trim();
    match ty {
        Type::Int => text.parse().ok().map(Value::Int),
        Type::Float => text.parse().ok().filter(|n: &f64| n.is_finite()).map(Value::Float),
        Type::Bool => text.to_lowercase().parse().ok().map(Value::Bool),
        _ => None,
    }
}

fn clip(text: &str) -> String {
    let clipped: String = text.chars().take(30).collect();
    if clipped.len() < text.len() { format!("{clipped}…") } else { clipped }
}

/// Returns the number that a text consists of.
pub(super) fn digits(text: &str) -> Option<u64> {
    let text = text.trim();
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
