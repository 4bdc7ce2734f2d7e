//! Edits of JSON, with comments and trailing commas as the harnesses allow them.

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::json;
use serde_json::Value;

/// An entry to be put into a file.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A value with this name in an object of the root.
    Value { section: &'static str, name: &'static str, value: CstInputValue },
    /// A hook: an element of the list `hooks.<event>`.
    Hook { event: &'static str, command: String },
    /// A tool that needs no approval: an element of the list `permissions.allow`.
    Allowed(&'static str),
}

/// The arguments by which the commands of PipeMux's hooks are recognised.
const HOOK_MARK: &str = " inject --hook";
/// Settings of a server that are PipeMux's. What else it has is the user's, once it is there.
const SERVER_SETTINGS: &[&str] = &["type", "command", "args"];

/// Sets entries, or takes them out. Everything else stays byte for byte.
///
/// # Errors
/// The text isn't JSON with comments, or something else stands where an object or a list belongs.
pub fn edit(text: &str, entries: &[Entry], remove: bool) -> Result<String, String> {
    let root = parse(text)?;
    let object = root.object_value_or_create().ok_or("it holds no object")?;
    for entry in entries {
        match (entry, remove) {
            (Entry::Value { section, name, value }, false) => {
                let section = object_in(&object, section)?;
                match section.get(name) {
                    Some(found) => set_server(&found, name, value)?,
                    None => drop(section.append(name, value.clone())),
                }
            }
            (Entry::Value { section: outer, name, .. }, true) => {
                once(&object, outer)?;
                let Some(section) = object.object_value(outer) else { continue };
                if let Some(found) = section.get(name) {
                    found.remove();
                }
            }
            (Entry::Hook { event, command }, false) => {
                let hooks = object_in(&object, "hooks")?;
                once(&hooks, event)?;
                let list = hooks
                    .array_value_or_create(event)
                    .ok_or_else(|| format!("hooks.{event} is no list"))?;
                set_hook(&list, command);
            }
            (Entry::Hook { event, .. }, true) => {
                let Some(hooks) = object.object_value("hooks") else { continue };
                let Some(list) = hooks.array_value(event) else { continue };
                list.elements().into_iter().for_each(remove_own);
            }
            (Entry::Allowed(tool), false) => {
                let permissions = object_in(&object, "permissions")?;
                once(&permissions, "allow")?;
                let list = permissions.array_value_or_create("allow");
                let list = list.ok_or("permissions.allow is no list")?;
                if !list.elements().iter().any(|node| is_text(node, tool)) {
                    list.append(CstInputValue::String((*tool).to_owned()));
                }
            }
            (Entry::Allowed(tool), true) => {
                let permissions = object.object_value("permissions");
                let list = permissions.and_then(|permissions| permissions.array_value("allow"));
                let allowed = list.into_iter().flat_map(|list| list.elements());
                allowed.filter(|node| is_text(node, tool)).for_each(CstNode::remove);
            }
        }
    }
    let mut edited = root.to_string();
    if !edited.ends_with('\n') && text.is_empty() {
        edited.push('\n');
    }
    Ok(edited)
}

/// Returns what a file says, without objects and lists that say nothing.
pub fn meaning(text: &str) -> Option<Value> {
    fn prune(value: &mut Value) {
        let is_empty = |value: &Value| {
            value.as_object().is_some_and(serde_json::Map::is_empty)
                || value.as_array().is_some_and(Vec::is_empty)
        };
        match value {
            Value::Object(fields) => {
                fields.values_mut().for_each(prune);
                fields.retain(|_, value| !is_empty(value));
            }
            Value::Array(list) => {
                list.iter_mut().for_each(prune);
                list.retain(|value| !is_empty(value));
            }
            _ => {}
        }
    }
    let mut value = match parse(text).ok()?.value() {
        Some(node) => node.to_serde_value()?,
        None => Value::Object(serde_json::Map::new()),
    };
    prune(&mut value);
    Some(value)
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    let strict = ParseOptions {
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_loose_object_property_names: false,
        allow_hexadecimal_numbers: false,
        ..ParseOptions::default()
    };
    CstRootNode::parse(text, &strict).map_err(|error| error.to_string())
}

/// Writes entries as a file that has nothing else.
pub fn write(entries: &[Entry]) -> String {
    edit("", entries, false).unwrap_or_default()
}

fn object_in(object: &CstObject, name: &str) -> Result<CstObject, String> {
    once(object, name)?;
    object.object_value_or_create(name).ok_or_else(|| format!("{name} is no object"))
}

fn is_text(node: &CstNode, text: &str) -> bool {
    node.to_serde_value().is_some_and(|value| value.as_str() == Some(text))
}

/// Refuses a name that stands twice: programs differ in which of the two they read.
fn once(object: &CstObject, name: &str) -> Result<(), String> {
    let is_named = |property: &CstObjectProp| {
        property.name().and_then(|found| found.decoded_value().ok()).as_deref() == Some(name)
    };
    match object.properties().iter().filter(|property| is_named(property)).count() {
        0 | 1 => Ok(()),
        _ => Err(format!("{name} stands there twice: make one of them")),
    }
}

/// Sets what is PipeMux's of a server that is there already.
fn set_server(found: &CstObjectProp, name: &str, wanted: &CstInputValue) -> Result<(), String> {
    let present = found.object_value().ok_or_else(|| format!("{name} is no object"))?;
    let CstInputValue::Object(settings) = wanted else { return Ok(()) };
    for (setting, value) in settings.iter().filter(|(name, _)| SERVER_SETTINGS.contains(&&**name)) {
        match present.get(setting) {
            Some(property) => {
                let is_right = property.value().and_then(|node| node.to_serde_value());
                if is_right != plain(value) {
                    property.set_value(value.clone());
                }
            }
            None => drop(present.append(setting, value.clone())),
        }
    }
    Ok(())
}

/// Sets PipeMux's hook in a list. One that the user has adjusted stays as it is.
fn set_hook(list: &CstArray, command: &str) {
    let wanted = hook_value(command);
    let own = |node: &CstNode| own_hooks(node).len();
    let present: Vec<CstNode> = list.elements().into_iter().filter(|node| own(node) > 0).collect();
    let is_right = |node: &CstNode| node.to_serde_value() == plain(&wanted);
    let is_adjusted = |node: &CstNode| {
        let commands: Vec<String> = own_hooks(node).into_iter().map(|(_, text)| text).collect();
        let as_written = commands.first().and_then(|text| plain(&hook_value(text)));
        node.to_serde_value() != as_written
    };
    let stays = present.iter().position(|node| is_right(node) || is_adjusted(node));
    for (at, node) in present.into_iter().enumerate() {
        // A plain one that starts another program, as of an earlier place of it, is replaced.
        if Some(at) != stays && !is_adjusted(&node) {
            node.remove();
        }
    }
    if stays.is_none() {
        list.append(wanted);
    }
}

/// Takes PipeMux's hooks out of an element, and the element if it had no others.
fn remove_own(element: CstNode) {
    let own = own_hooks(&element);
    let all = element.as_object().and_then(|object| object.array_value("hooks"));
    if own.is_empty() {
        return;
    }
    if all.is_some_and(|all| all.elements().len() > own.len()) {
        own.into_iter().for_each(|(node, _)| node.remove());
    } else {
        element.remove();
    }
}

/// Returns those hooks of an element whose command starts PipeMux, with the command.
fn own_hooks(element: &CstNode) -> Vec<(CstNode, String)> {
    let all = element.as_object().and_then(|object| object.array_value("hooks"));
    let command = |node: CstNode| {
        let value = node.to_serde_value()?;
        let text = value.get("command")?.as_str().filter(|text| is_own(text))?.to_owned();
        Some((node, text))
    };
    all.into_iter().flat_map(|all| all.elements()).filter_map(command).collect()
}

/// True for a command whose program is PipeMux, and no other that has the same arguments.
fn is_own(command: &str) -> bool {
    let Some((program, rest)) = command.trim().split_once(HOOK_MARK) else { return false };
    let bare = program.trim_matches(|c| c == '\'' || c == '"');
    // A path with spaces is quoted.
    let is_one_word = bare.len() < program.len() || !bare.contains(char::is_whitespace);
    let ends = rest.is_empty() || rest.starts_with(char::is_whitespace);
    ends && is_one_word && Path::new(bare).file_name() == Some("pipemux".as_ref())
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

/// Makes the value of a hook, in the form that the harnesses share.
pub fn hook_value(command: &str) -> CstInputValue {
    json!({ "hooks": [{ "type": "command", "command": command }] })
}
