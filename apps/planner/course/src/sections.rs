//! The sections of a plan and of a draft, with their items.

use serde_json::Value;

use crate::artifact::Artifact;
use crate::limits::OUTLINE_MAX;
use crate::text::{flat, plain};

/// A section's items, each with the key by which the same item is found in another version.
pub(crate) type Sections = Vec<(String, Vec<(String, String)>)>;

/// The sections of a plan in reading order; any others follow.
const ORDER: [&str; 14] = [
    "why",
    "what",
    "brief",
    "answers",
    "constraints",
    "decisions",
    "requirements",
    "acceptance",
    "scope",
    "non_goals",
    "risks",
    "open_questions",
    "test_plan",
    "draft_files",
];

/// The sections of a draft that come before the others.
const FIRST: [&str; 4] = ["What was not agreed", "What was agreed", "未达成共识", "已达成共识"];

impl Artifact {
    /// Returns its sections, what a decision is made on first, each with its items in a line or
    /// more.
    pub fn sections(&self) -> Vec<(String, Vec<String>)> {
        let order: &[&str] = match self {
            Self::Plan(_) => &ORDER,
            Self::Draft(_) => &FIRST,
        };
        let place =
            |name: &str| order.iter().position(|other| *other == name).unwrap_or(order.len());
        let mut all: Vec<(String, Vec<String>)> = sections(self)
            .into_iter()
            .map(|(name, items)| (name, items.into_iter().map(|(_, text)| text).collect()))
            .collect();
        all.sort_by_key(|(name, _)| place(name));
        all
    }
}

/// Writes all sections of a plan with their ids, for a brief that builds on it.
pub(crate) fn outline(plan: &Value) -> String {
    let mut text = String::new();
    for (name, items) in Artifact::Plan(plan.clone()).sections() {
        // The brief has these already.
        if !items.is_empty() && !["brief", "answers"].contains(&name.as_str()) {
            text += &format!("{}:\n- {}\n", name.replace('_', " "), items.join("\n- "));
        }
    }
    match text.char_indices().nth(OUTLINE_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

pub(crate) fn sections(artifact: &Artifact) -> Sections {
    match artifact {
        Artifact::Plan(plan) => plan
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| *name != "meta" && *name != "consensus_snapshot")
            .map(|(name, value)| (name.clone(), plan_items(value)))
            .collect(),
        Artifact::Draft(text) => {
            let mut sections: Sections = Vec::new();
            for line in plain(text).lines().filter(|line| !line.trim().is_empty()) {
                match line.strip_prefix("## ") {
                    Some(name) => sections.push((name.to_owned(), Vec::new())),
                    None => {
                        if let Some((_, items)) = sections.last_mut() {
                            items.push((line.to_owned(), line.to_owned()));
                        }
                    }
                }
            }
            sections
        }
    }
}

fn plan_items(value: &Value) -> Vec<(String, String)> {
    match value {
        Value::Array(items) => items
            .iter()
            .map(|item| match (item, item["id"].as_str().or(item["path"].as_str())) {
                (_, Some(id)) => (id.to_owned(), flat(&format!("{id}: {}", rest(item)))),
                (Value::String(text), None) => (text.clone(), flat(text)),
                (Value::Object(fields), None) if fields.contains_key("question") => {
                    let text = |name: &str| item[name].as_str().unwrap_or_default();
                    let (asker, asked) = (text("asked_by"), text("question"));
                    (asked.to_owned(), flat(&format!("{asker}: {asked} → {}", text("answer"))))
                }
                (other, None) => (other.to_string(), flat(&other.to_string())),
            })
            .collect(),
        Value::String(text) => vec![("text".into(), flat(text))],
        other => vec![("text".into(), flat(&other.to_string()))],
    }
}

/// Writes the fields of an item but its id.
fn rest(item: &Value) -> String {
    let fields =
        item.as_object().into_iter().flatten().filter(|(name, _)| *name != "id" && *name != "path");
    let field = |(name, value): (&String, &Value)| match (name.as_str(), value) {
        ("text" | "purpose", Value::String(text)) => text.clone(),
        (name, Value::String(text)) => format!("{name} {text}"),
        (name, Value::Array(items)) => {
            let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            format!("{name} {}", items.join(", "))
        }
        (name, other) => format!("{name} {other}"),
    };
    fields.map(field).collect::<Vec<_>>().join(" · ")
}
