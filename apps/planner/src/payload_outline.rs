//! Writes the payload of the current turn for a reader: each verdict, question and answer on a
//! line. The exact payload is the answer to `payload()`.

use pipemux_planner_course::lang::Lang;
use pipemux_planner_course::text::flat;
use serde_json::{Map, Value};

use crate::frame::say;

/// Fields that a window shows elsewhere, or that say again what other fields say.
const ELSEWHERE: [&str; 5] =
    ["user_brief", "my_prompt", "plan_schema", "coach_summary", "my_questions"];

/// Writes a payload, a line or a list for each field.
pub fn outline(payload: &Map<String, Value>, lang: Lang) -> String {
    let mut text = String::new();
    for (name, value) in payload {
        let is_elsewhere = ELSEWHERE.contains(&name.as_str())
            // The answers stand with their questions.
            || name == "user_answers" && payload.contains_key("clarification_questions");
        if is_elsewhere {
            continue;
        }
        let answers = match name.as_str() {
            "clarification_questions" => payload.get("user_answers"),
            _ => None,
        };
        text += &field(&name.replace('_', " "), value, answers, lang);
    }
    text
}

fn field(name: &str, value: &Value, answers: Option<&Value>, lang: Lang) -> String {
    match value {
        Value::Object(fields) if verdict(fields, lang).is_none() => {
            let line = |(key, value): (&String, &Value)| {
                let answer = answers.and_then(|answers| answers[key].as_str());
                match (answer, value) {
                    (Some(answer), Value::String(question)) => {
                        format!("- {} → {}\n", flat(question), flat(answer))
                    }
                    // A record within a record: `consensus_from_r1_r2`.
                    (_, Value::Array(items)) if items.is_empty() => String::new(),
                    (_, Value::Array(items)) => {
                        let items: Vec<String> = items.iter().map(|item| one(item, lang)).collect();
                        format!("- {}: {}\n", key.replace('_', " "), items.join(" · "))
                    }
                    _ => format!("- {key} {}\n", one(value, lang)),
                }
            };
            listed(name, &fields.iter().map(line).collect::<String>())
        }
        Value::Array(items) => {
            let lines: String =
                items.iter().map(|item| format!("- {}\n", one(item, lang))).collect();
            listed(name, &lines)
        }
        Value::Null => String::new(),
        value => format!("{name}: {}\n", one(value, lang)),
    }
}

fn listed(name: &str, lines: &str) -> String {
    if lines.is_empty() { String::new() } else { format!("{name}:\n{lines}") }
}

/// Writes a value on one line.
fn one(value: &Value, lang: Lang) -> String {
    match value {
        Value::String(text) => flat(text),
        Value::Array(items) => {
            items.iter().map(|item| one(item, lang)).collect::<Vec<_>>().join(" · ")
        }
        Value::Object(fields) => {
            verdict(fields, lang).or_else(|| asked(fields)).unwrap_or_else(|| {
                let parts =
                    fields.iter().map(|(name, value)| format!("{name} {}", one(value, lang)));
                parts.collect::<Vec<_>>().join("; ")
            })
        }
        other => other.to_string(),
    }
}

/// Writes a verdict: `concern: who needs it isn't said · suggests: … · asks: …`.
fn verdict(fields: &Map<String, Value>, lang: Lang) -> Option<String> {
    fields.get("reasons")?;
    let word = match fields.get("ok")? {
        Value::Bool(true) => "agree",
        Value::Bool(false) => "block",
        _ => "concern",
    };
    let texts = |name: &str| -> Vec<String> {
        fields
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|item| one(item, lang))
            .collect()
    };
    let mut text = format!("{}: {}", say(lang, word), texts("reasons").join(" "));
    let suggests = lang.pick("suggests", "建议");
    let asks = lang.pick("asks", "提问");
    for (name, shown) in [("suggestions", suggests), ("blocking_open_questions", asks)] {
        let items = texts(name);
        if !items.is_empty() {
            text += &format!(" · {shown}: {}", items.join(" · "));
        }
    }
    Some(text)
}

/// Writes a question with its answer.
fn asked(fields: &Map<String, Value>) -> Option<String> {
    let (question, asker) = (fields.get("question")?.as_str()?, fields.get("asked_by")?.as_str()?);
    let answer = fields.get("answer").and_then(Value::as_str).unwrap_or("not answered yet");
    Some(format!("{asker}: {} → {}", flat(question), flat(answer)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_verdict_question_and_answer_is_a_line() {
        let payload = json!({
            "user_brief": "b", "my_prompt": "p", "coach_summary": "s", "my_question": "Which\n users?",
            "my_verdict": {"ok": null, "reasons": ["unclear"], "suggestions": [], "blocking_open_questions": ["Which users?"]},
            "asked_so_far": [{"question": "When?", "asked_by": "RiskPlanner", "answer": "today"}],
            "open_questions": [], "my_questions": [],
            "clarification_questions": {"question_1": "When?"}, "user_answers": {"question_1": "today"},
            "consensus_from_r1_r2": {"agreed_points": ["a", "b"], "conflicting_points": []},
            "previous_ai_responses_in_r3": {"RiskPlanner": {"ok": false, "reasons": ["no"], "suggestions": ["so"]}},
            "round": 3,
        });
        let text = outline(payload.as_object().unwrap(), Lang::English);
        assert_eq!(
            text,
            "asked so far:\n- RiskPlanner: When? → today\n\
             clarification questions:\n- When? → today\n\
             consensus from r1 r2:\n- agreed points: a · b\n\
             my question: Which users?\n\
             my verdict: concern: unclear · asks: Which users?\n\
             previous ai responses in r3:\n- RiskPlanner block: no · suggests: so\n\
             round: 3\n"
        );
    }
}
