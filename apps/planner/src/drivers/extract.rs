//! Finds the answer in what a program printed: in an envelope, in a fence, among chatter, after a
//! model's thoughts.

use pipemux_planner_course::schema;
use pipemux_planner_course::turn::TurnKind;
use serde_json::Value;

use crate::strict;

/// Envelopes within envelopes that are opened.
const DEPTH_MAX: usize = 4;

/// Fields in which programs put what the model said.
const TEXT_FIELDS: [&str; 6] =
    ["result", "text", "content", "response", "message", "last_agent_message"];

/// Between what models' thoughts stand that are printed before their answers.
const THOUGHTS: [(&str, &str); 2] =
    [("<think>", "</think>"), ("Thinking...\n", "...done thinking.")];

/// The objects and errors found in an output.
#[derive(Default)]
struct Found {
    /// All complete objects, in order.
    objects: Vec<Value>,
    /// The error reported by the program.
    failed: Option<String>,
    /// What begins as an object and is none, each text from there on without the objects in it, and
    /// why it is none.
    broken: Vec<(String, String)>,
}

/// Returns the object that is an answer to the turn. Beside another try at one that says something
/// else it doesn't count: nobody can tell which of them is a quotation.
///
/// # Errors
/// There is none, or more than one: what is wrong with the last one that looks like it.
pub fn extract(text: &str, kind: TurnKind) -> Result<Value, String> {
    let mut found = Found::default();
    collect(text, DEPTH_MAX, &mut found);
    if let Some(why) = found.failed {
        return Err(format!("the program reports an error: {why}"));
    }
    let fields = fields(kind);
    let mut reason = None;
    let mut answers: Vec<Value> = Vec::new();
    let mut is_try = false;
    for mut candidate in found.objects.into_iter().rev() {
        kind.fill(&mut candidate);
        match kind.check(&candidate) {
            Ok(()) if answers.contains(&candidate) => {}
            Ok(()) => answers.push(candidate),
            Err(why) => {
                is_try |= has_field(&candidate, &fields);
                let _ = reason.get_or_insert(why);
            }
        }
    }
    let broken = found.broken.into_iter().rev().find(|(text, _)| names_field(text, &fields));
    if let Some((_, why)) = broken {
        return Err(format!("what looks like an answer in it is no JSON ({why})"));
    }
    match answers.len() {
        0 => {}
        1 if is_try => {
            let why = reason.unwrap_or_default();
            return Err(format!("there is another answer beside the one in it ({why}): give one"));
        }
        1 => return answers.pop().ok_or_else(String::new),
        more => return Err(format!("there are {more} different answers in it: give one")),
    }
    Err(reason.unwrap_or_else(|| match text.trim().is_empty() {
        true => "it answered nothing".into(),
        false => {
            format!("there is no JSON object in {:?}", pipemux_planner_course::text::gist(text))
        }
    }))
}

/// Returns what a program that failed says of it in an envelope.
pub fn failure(text: &str) -> Option<String> {
    let mut found = Found::default();
    collect(text, DEPTH_MAX, &mut found);
    let said = |one: &Value| one["error"]["message"].as_str().map(str::to_owned);
    found.failed.or_else(|| found.objects.iter().rev().find_map(said))
}

/// Returns the names of an answer's fields.
fn fields(kind: TurnKind) -> Vec<&'static str> {
    let properties = schema::schema(kind.schema()).and_then(|one| one["properties"].as_object());
    properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

/// Returns true if an object is an answer by one of its names.
fn has_field(object: &Value, fields: &[&str]) -> bool {
    let names = object.as_object().into_iter().flatten();
    names.into_iter().any(|(name, _)| fields.iter().any(|one| one.eq_ignore_ascii_case(name)))
}

/// Returns true if a text names a field of an answer with its value: `ok: `, `'ok' =`, `\"ok\":`.
fn names_field(text: &str, fields: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    fields.iter().any(|name| {
        text.match_indices(name).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + name.len()..]);
            let after =
                after.trim_start_matches(|c: char| c.is_whitespace() || "\\\"'`".contains(c));
            !before.ends_with(is_word) && after.starts_with([':', '=', '：', '/'])
        })
    })
}

/// Adds all objects of a text, those of envelopes behind the envelope itself.
fn collect(text: &str, depth: usize, found: &mut Found) {
    // A model's thoughts are nobody's answer.
    let thoughts = THOUGHTS.iter().find_map(|(begin, end)| {
        text.trim_start().strip_prefix(begin).and_then(|all| all.split_once(end))
    });
    let mut rest = thoughts.map_or(text, |all| all.1);
    // Behind a brace that begins no object all is taken for what it begins: where it would have
    // ended, nobody knows.
    let mut broken: Option<(String, String)> = None;
    while let Some(at) = rest.find('{') {
        if let Some((text, _)) = &mut broken {
            text.push_str(&rest[..at]);
        }
        rest = &rest[at..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let (length, why) = match stream.next() {
            Some(Ok(_)) => {
                let end = stream.byte_offset().max(1);
                match strict::parse(&rest[..end]) {
                    Ok(value) => {
                        open(value, depth, found);
                        rest = &rest[end..];
                        continue;
                    }
                    Err(error) => (end, error),
                }
            }
            Some(Err(error)) => (1, error),
            None => break,
        };
        let (text, _) = broken.get_or_insert_with(|| (String::new(), why.to_string()));
        text.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    if let Some((mut text, why)) = broken {
        text.push_str(rest);
        found.broken.push((text, why));
    }
}

/// Adds an object, and what is in it if it is an envelope.
fn open(value: Value, depth: usize, found: &mut Found) {
    let Some(fields) = value.as_object() else { return };
    if value["is_error"] == true {
        let why = value["result"].as_str().or(value["error"]["message"].as_str());
        found.failed = Some(why.unwrap_or("no reason given").to_owned());
    }
    let inner: Vec<Value> =
        TEXT_FIELDS.iter().filter_map(|name| fields.get(*name)).cloned().collect();
    // An item of an event stream: `{"type": "item.completed", "item": {"type": "agent_message",
    // "text": "…"}}`.
    let item = fields.get("item").or(fields.get("part")).cloned();
    let item = item.filter(|item| item["type"] != "reasoning");
    found.objects.push(value);
    if depth == 0 {
        return;
    }
    for inner in inner.into_iter().chain(item) {
        match inner {
            Value::String(text) => collect(&text, depth - 1, found),
            Value::Array(parts) => parts.into_iter().for_each(|part| open(part, depth - 1, found)),
            other => open(other, depth - 1, found),
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
            include_str!("../../tests/outputs/ollama_done_thinking.txt"),
            include_str!("../../tests/outputs/opencode.jsonl"),
            include_str!("../../tests/outputs/gemini.json"),
        ];
        for text in fixtures {
            assert_eq!(ok(text), false, "{text}");
        }
        let error =
            extract(include_str!("../../tests/outputs/claude_error.json"), KIND).unwrap_err();
        assert!(error.starts_with("the program reports an error: Credit balance"), "{error}");
    }

    /// The outputs of three programs without a login.
    #[test]
    fn failures_of_well_known_programs_are_told_in_their_words() {
        for (text, wanted) in [
            (include_str!("../../tests/outputs/claude_login.json"), "Not logged in · Please run"),
            (include_str!("../../tests/outputs/gemini_login.json"), "Please set an Auth method"),
            (include_str!("../../tests/outputs/qwen_login.json"), "No auth type is selected."),
        ] {
            assert!(failure(text).unwrap().starts_with(wanted), "{text}");
        }
        assert_eq!(failure("fatal: no key"), None);
    }

    #[test]
    fn reason_is_that_of_the_last_object() {
        let why = |text: &str| extract(text, KIND).unwrap_err();
        assert_eq!(why("  "), "it answered nothing");
        assert_eq!(why("I agree."), "there is no JSON object in \"I agree.\"");
        assert!(why("{\"ok\": true").contains("no JSON (EOF while parsing an object"));
        assert_eq!(
            why("{\"ok\": \"yes\", \"reasons\": []}"),
            "ok: expected boolean or null, got \"yes\""
        );
        assert_eq!(ok("{\"a\": 1} {\"ok\": null, \"reasons\": [\"x\"]} bye {"), Value::Null);
    }

    /// An answer that is quoted counts for nothing beside what a program says itself, whole or
    /// broken.
    #[test]
    fn answer_beside_another_try_is_malformed() {
        let yes = "{\"ok\": true, \"reasons\": [\"fine\"]}";
        let block = "{\"ok\": false, \"reasons\": [\"it deletes\"]}";
        let broken = [
            block.replace("]}", "],}"),
            block.replace('"', "'"),
            block.replace("false,", "false, // no\n"),
            block.replace("\"ok\":", "/* no */ \"ok\" /* no */:"),
            block.replace("\"ok\"", "ok"),
            block[..block.len() - 3].to_owned(),
            block.replace("deletes", "says { or } in").replace("]}", "]"),
            block.replace("\"ok\": false", "\"ok\": false, \"ok\": true"),
            block.replace("false", "\"no\""),
            block.replace("\"ok\"", "\"OK\""),
            format!("{{\"verdict\": {block},}}"),
            block.to_owned(),
        ];
        for one in &broken {
            for text in [
                format!("The form is {yes}. My verdict:\n{one}"),
                format!("{one}\nThe form was {yes}"),
                serde_json::json!({"result": format!("{yes}\n{one}")}).to_string(),
            ] {
                extract(&text, KIND).expect_err(&text);
            }
        }
        for text in [
            format!("{yes}\nonce more, in {{braces}}:\n```json\n{yes}\n```"),
            format!("fn main() {{ run() }}\n{yes}"),
            format!("<think>{block}?</think>{yes}"),
        ] {
            assert_eq!(ok(&text), true);
        }
    }

    #[test]
    fn deep_and_endless_braces_end_soon() {
        extract(&"{".repeat(20_000), KIND).unwrap_err();
        extract(&"{\"a\":".repeat(5_000), KIND).unwrap_err();
    }
}
