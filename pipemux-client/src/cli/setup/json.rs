//! Edits of JSON, with comments and trailing commas as the harnesses allow them.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::harness::hook_value;

/// What belongs into a file.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A value of this name in an object of the root.
    Value { section: &'static str, name: &'static str, value: CstInputValue },
    /// A hook: an element of the list `hooks.<event>`.
    Hook { event: &'static str, command: String },
}

/// What every command of PipeMux's hooks has in it.
const HOOK_MARK: &str = " inject --hook";

/// Sets entries, or takes them out. Everything else stays byte for byte.
///
/// # Errors
/// The text isn't JSON with comments, or something else stands where an object or a list belongs.
pub fn edit(text: &str, entries: &[Entry], remove: bool) -> Result<String, String> {
    let strict = ParseOptions {
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_loose_object_property_names: false,
        allow_hexadecimal_numbers: false,
        ..ParseOptions::default()
    };
    let root = CstRootNode::parse(text, &strict).map_err(|error| error.to_string())?;
    let object = root.object_value_or_create().ok_or("it holds no object")?;
    for entry in entries {
        match (entry, remove) {
            (Entry::Value { section, name, value }, false) => {
                let section = object_in(&object, section)?;
                match section.get(name) {
                    Some(found) if found.to_serde_value() == plain(value) => {}
                    Some(found) => found.set_value(value.clone()),
                    None => drop(section.append(name, value.clone())),
                }
            }
            (Entry::Value { section: outer, name, .. }, true) => {
                let Some(section) = object.object_value(outer) else { continue };
                let Some(found) = section.get(name) else { continue };
                found.remove();
                remove_if_empty(&object, outer, section.properties().is_empty());
            }
            (Entry::Hook { event, command }, false) => {
                let hooks = object_in(&object, "hooks")?;
                let list = hooks
                    .array_value_or_create(event)
                    .ok_or_else(|| format!("hooks.{event} is no list"))?;
                set_hook(&list, command);
            }
            (Entry::Hook { event, .. }, true) => {
                let Some(hooks) = object.object_value("hooks") else { continue };
                let Some(list) = hooks.array_value(event) else { continue };
                let own: Vec<CstNode> = list.elements().into_iter().filter(is_own).collect();
                if own.is_empty() {
                    continue;
                }
                own.into_iter().for_each(CstNode::remove);
                remove_if_empty(&hooks, event, list.elements().is_empty());
                remove_if_empty(&object, "hooks", hooks.properties().is_empty());
            }
        }
    }
    let mut edited = root.to_string();
    if !edited.ends_with('\n') && text.is_empty() {
        edited.push('\n');
    }
    Ok(edited)
}

/// Writes entries as a file that has nothing else.
pub fn write(entries: &[Entry]) -> String {
    edit("", entries, false).unwrap_or_default()
}

fn object_in(object: &CstObject, name: &str) -> Result<CstObject, String> {
    object.object_value_or_create(name).ok_or_else(|| format!("{name} is no object"))
}

fn remove_if_empty(object: &CstObject, name: &str, is_empty: bool) {
    if let Some(property) = object.get(name).filter(|_| is_empty) {
        property.remove();
    }
}

/// Sets PipeMux's hook in a list: the first one that is its own is kept, with this command.
fn set_hook(list: &CstArray, command: &str) {
    let wanted = hook_value(command);
    let own: Vec<CstNode> = list.elements().into_iter().filter(is_own).collect();
    let is_right = |node: &CstNode| node.to_serde_value() == plain(&wanted);
    if own.len() == 1 && own.iter().all(is_right) {
        return;
    }
    own.into_iter().for_each(CstNode::remove);
    list.append(wanted);
}

/// True for a hook all of whose commands are PipeMux's.
fn is_own(node: &CstNode) -> bool {
    let Some(Value::Object(value)) = node.to_serde_value() else { return false };
    let Some(Value::Array(hooks)) = value.get("hooks") else { return false };
    let is_own = |hook: &Value| {
        hook.get("command").and_then(Value::as_str).is_some_and(|text| text.contains(HOOK_MARK))
    };
    !hooks.is_empty() && hooks.iter().all(is_own)
}

fn plain(value: &CstInputValue) -> Option<Value> {
    Some(match value {
        CstInputValue::Null => Value::Null,
        CstInputValue::Bool(value) => Value::Bool(*value),
        CstInputValue::Number(text) => serde_json::from_str(text).ok()?,
        CstInputValue::String(text) => Value::String(text.clone()),
        CstInputValue::Array(list) => Value::Array(list.iter().map(plain).collect::<Option<_>>()?),
        CstInputValue::Object(fields) => {
            let field =
                |(name, value): &(String, CstInputValue)| Some((name.clone(), plain(value)?));
            Value::Object(fields.iter().map(field).collect::<Option<_>>()?)
        }
    })
}
