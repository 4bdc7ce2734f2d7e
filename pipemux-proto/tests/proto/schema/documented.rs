//! What `PROTOCOL.md` says of the types, compared with the schema.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::page::{PAGE, section};
use crate::schema::check::Schema;

/// Types that have no section of their own, and why.
const WITHOUT_SECTION: &[(&str, &str)] = &[
    ("context::", "the section The Context describes them by an example"),
    ("ids::", "the page writes the text or number that they are"),
];
/// Texts in quotes that are no variants, and the section in which they are.
const NOT_VARIANTS: &[(&str, &str)] =
    &[("app::Outcome", "jobs"), ("app::QuestionKind", "forms"), ("client::Verb", "full")];
/// Fields whose type the page describes in other words.
const OTHER_WORDS: &[(&str, &str, &str)] = &[
    ("app::Needs", "token", "bytes of your choice"),
    ("app::Resume", "token", "bytes, as you sent them"),
];

/// Returns what is in one of the two and not in the other.
pub fn differences(schema: &Schema) -> Vec<String> {
    let mut found = Vec::new();
    let definitions = schema.0["$defs"].as_object().expect("definitions");
    let headings: BTreeSet<&str> =
        PAGE.lines().filter_map(|l| l.strip_prefix("#### `")?.strip_suffix('`')).collect();
    for name in headings.iter().filter(|name| !definitions.contains_key(**name)) {
        found.push(format!("{name} is only on the page"));
    }
    for (name, of) in definitions {
        let exempt = WITHOUT_SECTION.iter().any(|(prefix, _)| name.starts_with(prefix));
        match headings.contains(name.as_str()) {
            true if of.get("oneOf").or(of.get("anyOf")).is_some() => {
                variants(name, of, &mut found);
            }
            true if of["type"] == "object" => {
                let documented = fields(section(name));
                compare(name, of, &documented, &mut found);
            }
            true => {}
            false if exempt => {}
            false => found.push(format!("{name} is only in the schema")),
        }
        if name.starts_with("context::") {
            context(name, of, &mut found);
        }
    }
    found
}

/// A link to the section of a type.
pub fn link(name: &str) -> String {
    let anchor = name.replace("::", "").to_lowercase();
    format!("[`{name}`](#{anchor})")
}

/// A field as the page writes it: `name`, `name?` or `name = default`, with its type.
#[derive(Debug)]
struct Field {
    name: String,
    optional: bool,
    default: Option<String>,
    ty: String,
}

/// The fields that the lines of a section describe.
fn fields(section: &str) -> Vec<Field> {
    let mut all = Vec::new();
    for line in section.lines() {
        let Some(mut rest) = line.strip_prefix("- `") else { continue };
        let mut of_line = Vec::new();
        while let Some((name, after)) = rest.split_once('`') {
            let optional = name.ends_with('?');
            let name = name.trim_end_matches('?').to_owned();
            let (default, after) = match after.strip_prefix(" = ") {
                Some(written) => {
                    let end = written.find(": ").unwrap_or(written.len());
                    (Some(written[..end].trim_matches('`').to_owned()), &written[end..])
                }
                None => (None, after),
            };
            of_line.push(Field { name, optional, default, ty: String::new() });
            match after.strip_prefix(", `") {
                Some(more) => rest = more,
                None => {
                    let ty = after.strip_prefix(": ").unwrap_or_default();
                    of_line.iter_mut().for_each(|field| field.ty = ty.to_owned());
                    break;
                }
            }
        }
        all.append(&mut of_line);
    }
    all
}

fn compare(name: &str, of: &Value, documented: &[Field], found: &mut Vec<String>) {
    let none = serde_json::Map::new();
    let properties = of["properties"].as_object().unwrap_or(&none);
    let required: Vec<&str> =
        of["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for field in documented.iter().filter(|field| !properties.contains_key(&field.name)) {
        found.push(format!("{name}.{} is only on the page", field.name));
    }
    for (property, rule) in properties {
        let Some(field) = documented.iter().find(|field| field.name == *property) else {
            found.push(format!("{name}.{property} is only in the schema"));
            continue;
        };
        let default = rule.get("default").map(Value::to_string);
        let written = field.default.as_deref().map(|text| match text {
            "empty" => "\"\"",
            text => text,
        });
        if written != default.as_deref() {
            found.push(format!(
                "{name}.{property} = {written:?} on the page, {default:?} in the schema"
            ));
        }
        let optional = default.is_none() && !required.contains(&property.as_str());
        if field.optional != optional {
            let on_page = if field.optional { "optional" } else { "required" };
            found.push(format!("{name}.{property} is {on_page} only on the page"));
        }
        let other = OTHER_WORDS.iter().find(|(ty, at, _)| ty == &name && at == property);
        let ty = other.map_or_else(|| type_on_page(rule), |(_, _, words)| (*words).to_owned());
        if !field.ty.is_empty() && !field.ty.starts_with(&ty) {
            found
                .push(format!("{name}.{property} is {ty} in the schema, on the page {}", field.ty));
        }
    }
}

/// A type as the page writes it.
fn type_on_page(rule: &Value) -> String {
    if let Some(forms) = rule["anyOf"].as_array() {
        return type_on_page(&forms[0]);
    }
    if let Some(to) = rule["$ref"].as_str() {
        let name = to.strip_prefix("#/$defs/").unwrap_or(to);
        return match name {
            "ids::Incarnation" => "uint".to_owned(),
            "context::Context" => "[Context](#the-context)".to_owned(),
            name if name.starts_with("ids::") => "str".to_owned(),
            name => link(name),
        };
    }
    let ty = rule["type"].as_str().or(rule["type"][0].as_str()).unwrap_or_default();
    match ty {
        "string" if rule.get("contentEncoding").is_some() => "bytes".to_owned(),
        "string" => "str".to_owned(),
        "boolean" => "bool".to_owned(),
        "number" => "float".to_owned(),
        "integer" if rule["minimum"] == 0 => "uint".to_owned(),
        "integer" => "int".to_owned(),
        "array" => format!("[{}]", type_on_page(&rule["items"])),
        "object" => format!("{{str: {}}}", type_on_page(&rule["additionalProperties"])),
        _ => format!("a type that the page has no word for: {rule}"),
    }
}

/// Compares the variants of an enum, and the fields of those that have their own.
fn variants(name: &str, of: &Value, found: &mut Vec<String>) {
    let text = section(name);
    let forms = of.get("oneOf").or(of.get("anyOf")).and_then(Value::as_array);
    let mut known = BTreeSet::new();
    for form in forms.into_iter().flatten() {
        let tagged = form["properties"].as_object().and_then(|all| all.iter().next());
        match (form["const"].as_str(), tagged) {
            (Some(plain), _) => {
                known.insert(plain.to_owned());
                if !text.contains(&format!("`\"{plain}\"`")) {
                    found.push(format!("{name}: \"{plain}\" is only in the schema"));
                }
            }
            (None, Some((tag, content))) => {
                known.insert(tag.clone());
                let Some((_, after)) = text.split_once(&format!("{{\"{tag}\": ")) else {
                    found.push(format!("{name}: {{\"{tag}\": …}} is only in the schema"));
                    continue;
                };
                let inline = after.split("}}").next().and_then(|all| all.strip_prefix('{'));
                if content.get("properties").is_some() {
                    compare(&format!("{name}.{tag}"), content, &inline_fields(inline), found);
                } else {
                    inline_type(&format!("{name}.{tag}"), content, after, found);
                }
            }
            (None, None) => {}
        }
    }
    // Names of variants are words, alone in quotes, or the first one of an object.
    for part in text.split('`') {
        let part = part.strip_prefix("{").unwrap_or(part);
        let Some((word, _)) = part.strip_prefix('"').and_then(|part| part.split_once('"')) else {
            continue;
        };
        let is_name = !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        let exempt = NOT_VARIANTS.contains(&(name, word));
        if is_name && !exempt && !known.contains(word) {
            found.push(format!("{name}: \"{word}\" is only on the page"));
        }
    }
}

/// The fields of `{code: str, stdin?: bytes, only_queries = false}`.
fn inline_fields(text: Option<&str>) -> Vec<Field> {
    let parts = text.into_iter().flat_map(|text| text.split(", "));
    let field = |part: &str| {
        let (name, default) = match part.split_once(" = ") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (part, None),
        };
        let (name, ty) = name.split_once(": ").unwrap_or((name, ""));
        let optional = name.ends_with('?');
        let (name, ty) = (name.trim_end_matches('?').to_owned(), ty.to_owned());
        Field { name, optional, default, ty }
    };
    parts.map(field).collect()
}

/// Compares the content of a variant with what follows its name on the page.
fn inline_type(name: &str, content: &Value, on_page: &str, found: &mut Vec<String>) {
    let plain = |text: &str| text.replace('`', "");
    // Within its own section the page leaves out the module of a type.
    let expected = plain(&type_on_page(content));
    let own = name.split('.').next().unwrap_or_default();
    let short = plain(&link(own));
    let expected = expected.replace(&short, own.rsplit("::").next().unwrap_or_default());
    let nullable = content["type"][1] == "null";
    let expected = if nullable { format!("{expected} or nil") } else { expected };
    if !plain(on_page).starts_with(&expected) {
        let shown: String = on_page.chars().take(60).collect();
        found.push(format!("{name} is {expected} in the schema, on the page {shown}"));
    }
}

/// Each field of a Context is named where the page describes it.
fn context(name: &str, of: &Value, found: &mut Vec<String>) {
    let (_, rest) = PAGE.split_once("\n## The Context\n").expect("the Context");
    let text = &rest[..rest.find("\n## ").unwrap_or(rest.len())];
    for field in of["properties"].as_object().into_iter().flat_map(|all| all.keys()) {
        let named = text.contains(&format!("\"{field}\"")) || text.contains(&format!("`{field}`"));
        if !named {
            found.push(format!("{name}.{field} is only in the schema"));
        }
    }
}
