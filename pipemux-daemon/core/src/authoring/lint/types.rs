//! Checks values against the types that an app declares.

use pipemux_proto::Value;
use pipemux_proto::prototype::Type;

/// Returns true when a value is of a type. What only a daemon can know, such as a ref, counts as
/// fitting.
pub(super) fn fits(value: &Value, ty: &Type) -> bool {
    match (ty, value) {
        (Type::Any | Type::Anchor(_), _)
        | (Type::String, Value::Str(_))
        | (Type::Int, Value::Int(_))
        | (Type::Float, Value::Float(_) | Value::Int(_))
        | (Type::Bool, Value::Bool(_))
        | (Type::Null | Type::Optional(_), Value::Null)
        | (Type::Line, Value::Int(_) | Value::Str(_)) => true,
        (Type::Union(options), Value::Str(text)) => options.contains(text),
        (Type::List(of), Value::List(items)) => items.iter().all(|item| fits(item, of)),
        (Type::Map(of), Value::Map(values)) => values.iter().all(|(_, value)| fits(value, of)),
        (Type::Record(fields), Value::Map(values)) => {
            let declared = |name: &str| fields.iter().find(|field| field.name == name);
            let is_given = |name: &str| values.iter().any(|(given, _)| given == name);
            let fitting = |(name, value): &(String, Value)| {
                declared(name).is_some_and(|field| fits(value, &field.ty))
            };
            values.iter().all(fitting)
                && fields.iter().all(|field| !field.is_required() || is_given(&field.name))
        }
        (Type::Optional(of), value) => fits(value, of),
        _ => false,
    }
}
