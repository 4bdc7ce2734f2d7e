//! JSON in the order in which it is read: known fields first, numbered ones by their numbers,
//! others by their names.

use std::cmp::Ordering;
use std::fmt::Write;

use serde_json::{Map, Value};

use crate::text::is_hidden;

/// Fields in their order; the prompt is read last.
const FIRST: [&str; 46] = [
    "ts",
    "cycle",
    "kind",
    "ai_role",
    "question_id",
    "meta",
    "task_id",
    "id",
    "path",
    "why",
    "what",
    "brief",
    "answers",
    "question",
    "answer",
    "user_brief",
    "earlier_plan",
    "constraints",
    "decisions",
    "requirements",
    "draft_files",
    "acceptance",
    "scope",
    "non_goals",
    "open_questions",
    "test_plan",
    "risks",
    "requirement",
    "covers",
    "text",
    "command",
    "owner",
    "affects",
    "author",
    "consensus_snapshot",
    "ok",
    "reasons",
    "suggestions",
    "ProductPlanner",
    "SystemDesigner",
    "SeniorDeveloper",
    "TestPlanner",
    "RiskPlanner",
    "consensus_from_r1_r2",
    "clarification_questions",
    "user_answers",
];

/// Returns a value on lines of its own, indented, with a last newline.
pub fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write(value, Some(0), &mut text);
    visible(&text) + "\n"
}

/// Returns a value on one line.
pub fn line(value: &Value) -> String {
    let mut text = String::new();
    write(value, None, &mut text);
    visible(&text)
}

/// Returns JSON with each character as an escape that a reader can't see or that changes how the
/// others are shown. They stand in its strings only, so that it means the same.
pub fn visible(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c != '\n' && is_hidden(c) {
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(text, "\\u{unit:04x}");
            }),
            false => text.push(c),
        }
    }
    text
}

/// Returns fields in their order.
fn ordered(fields: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut all: Vec<(&String, &Value)> = fields.iter().collect();
    all.sort_by(|(one, _), (other, _)| compare(one, other));
    all
}

fn compare(one: &str, other: &str) -> Ordering {
    let place = |name: &str| match name {
        "my_prompt" => usize::MAX,
        name => FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len()),
    };
    let numbered = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        (stem.to_owned(), name[stem.len()..].parse::<u64>().unwrap_or(0))
    };
    place(one)
        .cmp(&place(other))
        .then_with(|| numbered(one).cmp(&numbered(other)))
        .then(one.cmp(other))
}

/// Writes a value, over several lines from an indentation on if there is one.
fn write(value: &Value, indent: Option<usize>, text: &mut String) {
    let inner = indent.map(|indent| indent + 1);
    let begin = |text: &mut String, number: usize| {
        if number > 0 {
            text.push(',');
        }
        new_line(inner, text);
    };
    match value {
        Value::Array(items) if !items.is_empty() => {
            text.push('[');
            for (number, item) in items.iter().enumerate() {
                begin(text, number);
                write(item, inner, text);
            }
            new_line(indent, text);
            text.push(']');
        }
        Value::Object(fields) if !fields.is_empty() => {
            text.push('{');
            for (number, (name, field)) in ordered(fields).into_iter().enumerate() {
                begin(text, number);
                let space = if indent.is_some() { " " } else { "" };
                let _ = write!(text, "{}:{space}", Value::from(name.as_str()));
                write(field, inner, text);
            }
            new_line(indent, text);
            text.push('}');
        }
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

fn new_line(indent: Option<usize>, text: &mut String) {
    if let Some(indent) = indent {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", indent));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_stand_in_the_order_in_which_they_are_read() {
        let value = json!({"what": 1, "why": [], "b": {}, "a": null, "meta": {"x": "\"\n"}, "question_10": 0, "question_2": [1, {"text": 2, "id": 3}]});
        assert_eq!(
            line(&value),
            r#"{"meta":{"x":"\"\n"},"why":[],"what":1,"a":null,"b":{},"question_2":[1,{"id":3,"text":2}],"question_10":0}"#
        );
        let back: Value = serde_json::from_str(&pretty(&value)).expect("JSON");
        assert_eq!(back, value);
        let sorted = json!({"a": [1, {"b": "c"}], "d": {"e": []}});
        let wanted = serde_json::to_string_pretty(&sorted).expect("JSON") + "\n";
        assert_eq!(pretty(&sorted), wanted);
    }

    #[test]
    fn what_a_reader_cannot_see_is_escaped_and_means_the_same() {
        let value = json!({"a\u{2028}": "\r\u{85}\u{202e}x\u{2066}\u{e0041}\u{feff}\u{200b}\u{7f}", "b": "写😀"});
        for text in [line(&value), pretty(&value)] {
            assert!(
                text.contains(r"\r\u0085\u202ex\u2066\udb40\udc41\ufeff\u200b\u007f"),
                "{text}"
            );
            assert!(
                text.contains("写😀") && !text.chars().any(|c| c != '\n' && is_hidden(c)),
                "{text}"
            );
            assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
        }
    }
}
