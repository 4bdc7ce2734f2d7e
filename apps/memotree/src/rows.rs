//! Reads nodes from rows: JSON lines, or the headings of Markdown.

use std::collections::HashMap;
use std::convert::Infallible;

use docui::{Fault, nearest};
use pipemux_memotree_store::NodeId;
use pipemux_memotree_store::actions::{NewNode, NewPlace, NodePlace};
use pipemux_notes::rows::{json_values, split_tags};
use pipemux_notes::text::count;
use serde_json::{Map, Value};

use crate::model::MemoTree;
use crate::reply::ChangeReply;
use crate::{format, names, transfer};

/// The fields that a row may have.
const FIELDS: [&str; 6] = ["title", "text", "parent", "gist", "summary", "tags"];

const FORMS: &str = "one JSON object a line: {\"title\": \"…\", \"text\": \"…\", \"parent\": \"…\", \"gist\": \"…\", \
     \"tags\": [\"…\"]}, where parent is a node or an earlier row's title; or Markdown: # Title, then its text";

/// Adds the nodes of all rows, those without a parent of their own below `parent`.
///
/// # Errors
/// A row is no node. The message names the row, counted from 1, and the field. Nothing was added.
pub fn add(tree: &mut MemoTree, rows: &str, parent: Option<&str>) -> Result<ChangeReply, Fault> {
    let rows = rows.strip_prefix('\u{feff}').unwrap_or(rows).trim_start();
    match rows.chars().next() {
        None => Err(Fault::usage("rows: no rows").hint(FORMS)),
        Some('#') => transfer::markdown(tree, rows, parent),
        Some('{' | '[') => {
            let nodes = json(tree, rows, parent)?;
            let (added, done) = tree.store().add(&nodes).map_err(|error| tree.fault(error))?;
            let number = count(added.len() as u64, "node");
            Ok(ChangeReply::new(done, format!("{number}: {}", format::list(added))))
        }
        Some(_) => Err(Fault::usage("rows: expected JSON lines or Markdown headings").hint(FORMS)),
    }
}

fn json(tree: &MemoTree, rows: &str, parent: Option<&str>) -> Result<Vec<NewNode>, Fault> {
    let mut nodes: Vec<NewNode> = Vec::new();
    // Earlier rows by title, and by the id that the title makes.
    let mut earlier: HashMap<String, usize> = HashMap::new();
    for value in json_values(rows) {
        let value =
            value.map_err(|error| Fault::usage(error + "; nothing was added").hint(FORMS))?;
        let Value::Object(fields) = value else {
            return Err(wrong(nodes.len(), "expected an object"));
        };
        let node = node(tree, &earlier, nodes.len(), fields, parent)?;
        let made = NodeId::from_title::<Infallible>(&node.title, |_| Ok(false));
        earlier.extend(made.map(|id| (id.to_string(), nodes.len())));
        earlier.insert(node.title.trim().to_owned(), nodes.len());
        nodes.push(node);
    }
    Ok(nodes)
}

fn wrong(row: usize, what: &str) -> Fault {
    Fault::usage(format!("row {}: {what}; nothing was added", row + 1)).hint(FORMS)
}

fn node(
    tree: &MemoTree,
    earlier: &HashMap<String, usize>,
    row: usize,
    fields: Map<String, Value>,
    parent: Option<&str>,
) -> Result<NewNode, Fault> {
    let mut node = NewNode::default();
    let mut own_parent = None;
    for (name, value) in fields {
        match (name.as_str(), value) {
            (_, Value::Null) => {}
            ("tags", Value::Array(tags)) => {
                for tag in tags {
                    let Value::String(tag) = tag else {
                        return Err(wrong(row, "tags: expected strings"));
                    };
                    node.tags.push(tag);
                }
            }
            ("tags", Value::String(tags)) => node.tags.extend(split_tags(&tags)),
            ("title", Value::String(title)) => node.title = title,
            ("text", Value::String(text)) => node.text = text,
            ("gist", Value::String(gist)) => node.gist = gist,
            ("summary", Value::String(summary)) => node.summary = summary,
            ("parent", Value::String(parent)) if parent.trim().is_empty() => {}
            ("parent", Value::String(parent)) => own_parent = Some(parent),
            (field, _) if FIELDS.contains(&field) => {
                let wanted = if field == "tags" { "a list of strings" } else { "a string" };
                return Err(wrong(row, &format!("{field}: expected {wanted}")));
            }
            (other, _) => {
                let guess = nearest(other, FIELDS).map(|guess| format!(", did you mean {guess}?"));
                let guess = guess.unwrap_or_default();
                let fields = FIELDS.join(", ");
                return Err(wrong(row, &format!("{other:?}: a node has {fields}{guess}")));
            }
        }
    }
    if node.title.trim().is_empty() {
        return Err(wrong(row, "title: it is missing"));
    }
    node.place = match own_parent {
        None => NewPlace::At(NodePlace { parent: parent.map(str::to_owned), before: None }),
        Some(parent) => place(tree, earlier, &parent).map_err(|fault| Fault {
            message: format!("row {}: parent: {}; nothing was added", row + 1, fault.message),
            ..fault
        })?,
    };
    Ok(node)
}

/// Returns the place below an earlier row or a node.
fn place(
    tree: &MemoTree,
    earlier: &HashMap<String, usize>,
    parent: &str,
) -> Result<NewPlace, Fault> {
    if let Some(at) = earlier.get(parent.trim()) {
        return Ok(NewPlace::Below(*at));
    }
    let id = names::named(tree, Some("node"), parent)?;
    Ok(NewPlace::At(NodePlace { parent: Some(id), before: None }))
}
