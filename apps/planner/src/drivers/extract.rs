//! Finds the answer in what a program printed: in an envelope, in a fence, among chatter, after a model's thoughts.

use pipemux_planner_course::turn::TurnKind;
use serde_json::Value;

/// Envelopes within envelopes that are opened.
const DEPTH_MAX: usize = 4;

/// Fields in which programs put what the model said.
const TEXT_FIELDS: [&str; 6] =
    ["result", "text", "content", "response", "message", "last_agent_message"];

/// Returns the object that is an answer to the turn. Of several that differ none counts.
///
/// # Errors
/// There is none, or more than one: what is wrong with the last one that looks like it.
pub fn extract(text: &str, kind: TurnKind) -> Result<Value, String> {
    let mut found = Vec::new();
    let mut failed = None;
    collect(text, DEPTH_MAX, &mut found, &mut failed);
    if let Some(why) = failed {
        return Err(format!("the program reports an error: {why}"));
    }
    let mut reason = None;
    let mut answers: Vec<Value> = Vec::new();
    for mut candidate in found.into_iter().rev() {
        kind.fill(&mut candidate);
        match kind.check(&candidate) {
            Ok(()) if answers.contains(&candidate) => {}
            Ok(()) => answers.push(candidate),
            Err(why) => drop(reason.get_or_insert(why)),
        }
    }
    match answers.len() {
        0 => {}
        1 => return answers.pop().ok_or_else(String::new),
        more => return Err(format!("there are {more} different answers in it: give one")),
    }
    Err(reason.unwrap_or_else(|| match text.trim().is_empty() {
        true => "it answered nothing".into(),
        false => {
            format!("there is no JSON object in {:?}", pipemux_planner_course::turn::gist(text))
        }
    }))
}

/// Adds all objects of a text, those of envelopes behind the envelope itself.
fn collect(text: &str, depth: usize, found: &mut Vec<Value>, failed: &mut Option<String>) {
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                let end = stream.byte_offset().max(1);
                open(value, depth, found, failed);
                rest = &rest[end..];
            }
            _ => rest = &rest[1..],
        }
    }
}

/// Adds an object, and what is in it if it is an envelope.
fn open(value: Value, depth: usize, found: &mut Vec<Value>, failed: &mut Option<String>) {
    let Some(fields) = value.as_object() else { return };
    if value["is_error"] == true {
        *failed = Some(value["result"].as_str().unwrap_or("no reason given").to_owned());
    }
    let inner: Vec<Value> =
        TEXT_FIELDS.iter().filter_map(|name| fields.get(*name)).cloned().collect();
    // An item of an event stream: `{"type": "item.completed", "item": {"type": "agent_message", "text": "…"}}`.
    let item = fields.get("item").cloned();
    found.push(value);
    if depth == 0 {
        return;
    }
    for inner in inner.into_iter().chain(item) {
        match inner {
            Value::String(text) => collect(&text, depth - 1, found, failed),
            Value::Array(parts) => {
                parts.into_iter().for_each(|part| open(part, depth - 1, found, failed))
            }
            other => open(other, depth - 1, found, failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use pipemux_planner_course::Role;

    use super::*;

    const KIND: TurnKind = TurnKind::Verdict(1, Role::TestPlanner);

    fn ok(text: &str) -> Value {
        extract(text, KIND).unwrap_or_else(|why| panic!("{why}: {text}"))["ok"].clone()
    }

    /// Outputs in the shape of those programs, a file each; the verdict in each is a block.
    #[test]
    fn verdict_is_found_in_the_outputs_of_well_known_programs() {
        let fixtures = [
            include_str!("../../tests/outputs/claude.json"),
            include_str!("../../tests/outputs/claude_stream.jsonl"),
            include_str!("../../tests/outputs/codex.txt"),
            include_str!("../../tests/outputs/codex.jsonl"),
            include_str!("../../tests/outputs/ollama.txt"),
            include_str!("../../tests/outputs/ollama_thinking.txt"),
        ];
        for text in fixtures {
            assert_eq!(ok(text), false, "{text}");
        }
        let error =
            extract(include_str!("../../tests/outputs/claude_error.json"), KIND).unwrap_err();
        assert!(error.starts_with("the program reports an error: Credit balance"), "{error}");
    }

    #[test]
    fn reason_is_that_of_the_last_object() {
        let why = |text: &str| extract(text, KIND).unwrap_err();
        assert_eq!(why("  "), "it answered nothing");
        assert_eq!(why("I agree."), "there is no JSON object in \"I agree.\"");
        assert_eq!(why("{\"ok\": true"), "there is no JSON object in \"{\\\"ok\\\": true\"");
        assert_eq!(
            why("{\"ok\": \"yes\", \"reasons\": []}"),
            "ok: expected boolean or null, got \"yes\""
        );
        assert_eq!(ok("{\"a\": 1} {\"ok\": null, \"reasons\": [\"x\"]} bye {"), Value::Null);
    }

    #[test]
    fn deep_and_endless_braces_end_soon() {
        extract(&"{".repeat(20_000), KIND).unwrap_err();
        extract(&"{\"a\":".repeat(5_000), KIND).unwrap_err();
    }
}
