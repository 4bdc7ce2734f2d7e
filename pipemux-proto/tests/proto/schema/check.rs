//! Checks values against the schema. It knows what the generator writes, no more, and panics on
//! anything else.
//!
//! It is stricter than the schema: a member that the schema doesn't describe is an error.

use serde_json::Value;

pub struct Schema(pub Value);

impl Schema {
    pub fn definition(&self, name: &str) -> &Value {
        let found = self.0["$defs"].get(name);
        found.unwrap_or_else(|| panic!("schema.json doesn't define {name}"))
    }

    /// The schema itself, or what it refers to.
    pub fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(to) => self.definition(to.strip_prefix("#/$defs/").expect("a definition")),
            None => schema,
        }
    }

    /// Of several forms, the one that the value has.
    pub fn form<'a>(&'a self, schema: &'a Value, value: &Value) -> &'a Value {
        let schema = self.resolved(schema);
        match forms(schema) {
            None => schema,
            Some(forms) => {
                let form = forms.iter().find(|form| self.check(form, value).is_ok());
                form.map_or(schema, |form| self.form(form, value))
            }
        }
    }

    pub fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        for (keyword, rule) in schema.as_object().ok_or("a schema is an object")? {
            let rule_text = rule.as_str().unwrap_or_default();
            let holds = match keyword.as_str() {
                "$ref" => {
                    self.check(self.resolved(schema), value)?;
                    true
                }
                "title" | "description" | "default" | "contentMediaType" | "$comment" => true,
                "type" => match rule {
                    Value::Array(types) => {
                        types.iter().any(|ty| is_of(value, ty.as_str().unwrap_or_default()))
                    }
                    _ => is_of(value, rule_text),
                },
                "const" => value == rule,
                "minimum" => value.as_f64().is_none_or(|number| Some(number) >= rule.as_f64()),
                "maximum" => value.as_f64().is_none_or(|number| Some(number) <= rule.as_f64()),
                "pattern" => value.as_str().is_none_or(|text| {
                    regex::Regex::new(rule_text).expect("a pattern").is_match(text)
                }),
                "contentEncoding" => value.as_str().is_none_or(is_base64),
                "items" => self.check_all(value.as_array(), |item| self.check(rule, item))?,
                "required" => {
                    let names = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
                    let mut missing = names.filter(|name| value.get(name).is_none());
                    match missing.next() {
                        Some(name) => return Err(format!("{name} is missing")),
                        None => true,
                    }
                }
                "properties" => {
                    let (of, members) = (rule.as_object(), value.as_object());
                    self.check_all(members.map(|all| all.iter()), |(name, member)| {
                        let Some(rule) = of.and_then(|of| of.get(name)) else {
                            return Err(format!("{name} isn't described"));
                        };
                        self.check(rule, member).map_err(|why| format!("{name}: {why}"))
                    })?
                }
                // With properties, those that aren't listed are refused above.
                "additionalProperties" if rule == &Value::Bool(false) => true,
                "additionalProperties" => {
                    let members = value.as_object().map(|all| all.values());
                    self.check_all(members, |member| self.check(rule, member))?
                }
                "oneOf" | "anyOf" => {
                    let fits = |form: &&Value| self.check(form, value).is_ok();
                    let fitting = rule.as_array().into_iter().flatten().filter(fits).count();
                    fitting == 1 || keyword == "anyOf" && fitting > 0
                }
                _ => panic!("the check doesn't know {keyword}"),
            };
            if !holds {
                return Err(format!("{value} violates {keyword}"));
            }
        }
        Ok(())
    }

    fn check_all<T>(
        &self,
        items: Option<impl IntoIterator<Item = T>>,
        check: impl FnMut(T) -> Result<(), String>,
    ) -> Result<bool, String> {
        items.into_iter().flatten().try_for_each(check).map(|()| true)
    }
}

/// The forms of an enum or of a value that may be null.
fn forms(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("oneOf").or(schema.get("anyOf")).and_then(Value::as_array)
}

fn is_of(value: &Value, ty: &str) -> bool {
    match ty {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => panic!("the check doesn't know the type {ty}"),
    }
}

fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - digits.len() <= 2
        && digits.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
}
