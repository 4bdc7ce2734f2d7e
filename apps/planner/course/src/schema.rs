//! The JSON schemas in `schemas/`, and the check by them: what a payload or an answer must look
//! like.
//!
//! The check knows the keywords that the schemas use, and no others; a test reads all schemas for
//! that.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

/// The parsed schemas. They are parsed once because they never change.
static PARSED: LazyLock<BTreeMap<&'static str, Value>> = LazyLock::new(|| {
    let parsed = SCHEMAS.iter().map(|(name, text)| Some((*name, serde_json::from_str(text).ok()?)));
    parsed.flatten().collect()
});

pub const SCHEMAS: [(&str, &str); 21] = [
    ("answer_back", include_str!("../schemas/answer_back.json")),
    ("confirm", include_str!("../schemas/confirm.json")),
    ("extraction", include_str!("../schemas/extraction.json")),
    ("follow_up", include_str!("../schemas/follow_up.json")),
    ("intent", include_str!("../schemas/intent.json")),
    ("judgement", include_str!("../schemas/judgement.json")),
    ("payload.answer_back", include_str!("../schemas/payload.answer_back.json")),
    ("payload.confirm", include_str!("../schemas/payload.confirm.json")),
    ("payload.extraction", include_str!("../schemas/payload.extraction.json")),
    ("payload.follow_up", include_str!("../schemas/payload.follow_up.json")),
    ("payload.intent", include_str!("../schemas/payload.intent.json")),
    ("payload.judgement", include_str!("../schemas/payload.judgement.json")),
    ("payload.plan", include_str!("../schemas/payload.plan.json")),
    ("payload.round_1", include_str!("../schemas/payload.round_1.json")),
    ("payload.round_2", include_str!("../schemas/payload.round_2.json")),
    ("payload.round_3", include_str!("../schemas/payload.round_3.json")),
    ("payload.synthesis", include_str!("../schemas/payload.synthesis.json")),
    ("plan", include_str!("../schemas/plan.json")),
    ("planning.ai", include_str!("../schemas/planning.ai.json")),
    ("synthesis", include_str!("../schemas/synthesis.json")),
    ("verdict", include_str!("../schemas/verdict.json")),
];

/// Keywords that the check knows.
#[cfg(test)]
const KEYWORDS: [&str; 13] = [
    "$schema",
    "title",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "description",
];

/// Returns a schema by its name.
pub fn schema(name: &str) -> Option<&'static Value> {
    PARSED.get(name)
}

/// Checks a value by the schema of this name.
///
/// # Errors
/// The first thing that is wrong, with the path to it: `requirements[2].id: expected a string, got
/// a number`.
pub fn check(name: &str, value: &Value) -> Result<(), String> {
    let schema = schema(name).ok_or_else(|| format!("there is no schema {name}"))?;
    check_at("", schema, value)
}

fn check_at(path: &str, schema: &Value, value: &Value) -> Result<(), String> {
    let wrong = |what: String| match path.is_empty() {
        true => Err(what),
        false => Err(format!("{path}: {what}")),
    };
    if let Some(ty) = schema.get("type") {
        let types: Vec<&str> = match ty {
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        if !types.iter().any(|ty| has_type(ty, value)) {
            return wrong(format!("expected {}, got {}", types.join(" or "), shown(value)));
        }
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        return wrong(format!("expected one of {}, got {}", allowed.join(", "), shown(value)));
    }
    let bound = |name: &str| {
        schema
            .get(name)
            .and_then(Value::as_u64)
            .map(|most| usize::try_from(most).unwrap_or(usize::MAX))
    };
    match value {
        Value::String(text) => {
            let length = text.chars().count();
            if bound("minLength").is_some_and(|least| length < least || text.trim().is_empty()) {
                return wrong("it is empty".into());
            }
            if let Some(most) = bound("maxLength").filter(|most| length > *most) {
                return wrong(format!("it has {length} characters, at most {most}"));
            }
        }
        Value::Array(items) => {
            let length = items.len();
            if let Some(least) = bound("minItems").filter(|least| length < *least) {
                return wrong(format!("it has {length} items, at least {least}"));
            }
            if let Some(most) = bound("maxItems").filter(|most| length > *most) {
                return wrong(format!("it has {length} items, at most {most}"));
            }
            if let Some(schema) = schema.get("items") {
                for (number, item) in items.iter().enumerate() {
                    check_at(&format!("{path}[{number}]"), schema, item)?;
                }
            }
        }
        Value::Object(fields) => {
            for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                let name = name.as_str().unwrap_or_default();
                if !fields.contains_key(name) {
                    return wrong(format!("the field `{name}` is missing"));
                }
            }
            let properties = schema.get("properties");
            for (name, field) in fields {
                let path = match path.is_empty() {
                    true => name.clone(),
                    false => format!("{path}.{name}"),
                };
                match properties.and_then(|known| known.get(name)) {
                    Some(schema) => check_at(&path, schema, field)?,
                    None => match schema.get("additionalProperties") {
                        Some(Value::Bool(false)) => {
                            return wrong(format!("there is no field `{name}`"));
                        }
                        Some(schema @ Value::Object(_)) => check_at(&path, schema, field)?,
                        _ => {}
                    },
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

fn has_type(ty: &str, value: &Value) -> bool {
    match ty {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".into(),
        Value::Array(_) => "a list".into(),
        Value::String(text) => format!("{:?}", crate::text::gist(text)),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keywords(schema: &Value, found: &mut Vec<String>) {
        let Some(fields) = schema.as_object() else { return };
        for (name, value) in fields {
            found.push(name.clone());
            match name.as_str() {
                "properties" => value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .for_each(|(_, one)| keywords(one, found)),
                "items" | "additionalProperties" => keywords(value, found),
                _ => {}
            }
        }
    }

    #[test]
    fn schemas_use_only_keywords_that_the_check_knows() {
        for (name, text) in SCHEMAS {
            let mut found = Vec::new();
            keywords(&serde_json::from_str(text).expect(name), &mut found);
            found.retain(|keyword| !KEYWORDS.contains(&keyword.as_str()));
            assert_eq!(found, Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn faults_name_the_place_and_the_expectation() {
        let plan = json!({"ok": "yes", "reasons": []});
        assert_eq!(
            check("verdict", &plan).unwrap_err(),
            "ok: expected boolean or null, got \"yes\""
        );
        let verdict = json!({"ok": true, "reasons": [""]});
        assert_eq!(check("verdict", &verdict).unwrap_err(), "reasons[0]: it is empty");
        assert_eq!(
            check("verdict", &json!({"ok": null})).unwrap_err(),
            "the field `reasons` is missing"
        );
        assert_eq!(check("verdict", &json!([])).unwrap_err(), "expected object, got a list");
        let judgement = json!({"action": "drop", "reason": "x"});
        assert!(
            check("judgement", &judgement)
                .unwrap_err()
                .starts_with("action: expected one of \"ask\"")
        );
    }
}
