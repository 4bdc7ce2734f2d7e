//! An answer as a line of JSON.

use pipemux_client::ClientError;
use pipemux_client::proto::client::{Answer, Body};
use pipemux_client::proto::{Code, Fault};
use serde::Serialize;
use serde_json::{Value, json};

use crate::output;

/// The exit status of an answer that is a question rather than an error.
const EXIT_QUESTION: u8 = 5;

#[derive(Debug)]
pub struct ReplyLine {
    /// The fields in the order in which they are printed.
    fields: Vec<(&'static str, Value)>,
}

impl ReplyLine {
    /// Makes the reply for the daemon's answer. As text, it is what the command would print.
    pub fn answered(id: Value, answer: &Answer, json: bool) -> Self {
        let (name, value) = match &answer.body {
            Body::Text(text) => ("text", json!(text)),
            Body::Report(report) => ("report", data(report)),
            Body::Data(value) => ("data", data(value)),
            Body::Events(events) => ("events", data(events)),
            Body::Log(part) => ("log", data(part)),
            Body::Raw(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => (if json { "value" } else { "text" }, json!(text)),
                Err(_) => ("base64", json!(output::base64(bytes))),
            },
        };
        let mut fields = vec![("id", id), ("exit", json!(answer.exit))];
        fields.extend(answer_fault(answer).map(|fault| ("error", data(&fault))));
        fields.push((name, value));
        Self { fields }
    }

    /// Makes the reply for a request that the daemon didn't answer.
    pub fn failed(id: Value, error: &ClientError, json: bool) -> Self {
        let exit = json!(error.exit_status());
        let mut fields = vec![("id", id), ("exit", exit), ("error", data(error.fault()))];
        if !json {
            fields.push(("text", json!(output::format_error(error))));
        }
        Self { fields }
    }

    /// Formats the line, with its newline.
    pub fn line(&self) -> Vec<u8> {
        let field = |(name, value): &(&str, Value)| format!("\"{name}\":{value}");
        let fields: Vec<String> = self.fields.iter().map(field).collect();
        format!("{{{}}}\n", fields.join(",")).into_bytes()
    }
}

/// Returns why a request failed; `None` if it succeeded or asks a question.
fn answer_fault(answer: &Answer) -> Option<Fault> {
    if matches!(answer.exit, 0 | EXIT_QUESTION) {
        return None;
    }
    match &answer.body {
        Body::Report(report) => {
            let step = || report.steps.iter().find_map(|step| step.error.clone());
            report.error.clone().or_else(step)
        }
        Body::Text(text) => parse_fault(answer.exit, text),
        Body::Data(_) | Body::Events(_) | Body::Log(_) | Body::Raw(_) => None,
    }
}

/// Parses an error from an answer's text: a line `failed · why`, numbered if there are several
/// steps, and lines `next: …`. After a refusal, the lines in between show the place of the error.
fn parse_fault(exit: u8, text: &str) -> Option<Fault> {
    const STEPS: [&str; 2] = ["failed", "unknown"];
    const REFUSALS: [&str; 4] = ["refused, nothing ran", "not found", "unavailable", "refused"];
    let mut lines = text.lines();
    let found = lines.find_map(|line| {
        let (head, why) = line.split_once(" · ")?;
        let head = head.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let refused = REFUSALS.contains(&head);
        (refused || STEPS.contains(&head)).then_some((why, refused))
    });
    let first = || text.lines().find(|line| !line.is_empty());
    let (why, refused) = found.or_else(|| Some((first()?, false)))?;
    let (mut message, mut hints) = (why.to_owned(), Vec::new());
    for line in lines {
        match line.strip_prefix("next: ") {
            Some(hint) => hints.push(hint.to_owned()),
            None if refused && hints.is_empty() => {
                message.push('\n');
                message.push_str(line);
            }
            None => break,
        }
    }
    let code = match exit {
        2 => Code::Usage,
        3 => Code::NotFound,
        4 if message.contains("out of view") => Code::OutOfView,
        4 => Code::Stale,
        6 => Code::Unavailable,
        7 => Code::Unknown,
        8 => Code::Version,
        9 => Code::Refused,
        _ => Code::Failed,
    };
    Some(Fault { hints, ..Fault::new(code, message) })
}

fn data<T: Serialize>(value: &T) -> Value {
    // A value from the wire has string keys and finite depth, so this can't fail.
    serde_json::to_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(body: Body, json: bool) -> String {
        let answer = Answer { exit: 5, body, delivery: 1, error: false };
        String::from_utf8(ReplyLine::answered(json!("a"), &answer, json).line()).unwrap()
    }

    #[test]
    fn answer_is_one_line_whatever_it_contains() {
        let text = line(Body::Text("深い\n\u{2028}\"x\"\n".into()), false);
        assert_eq!(text.matches('\n').count(), 1);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["text"], "深い\n\u{2028}\"x\"\n");
        let raw = line(Body::Raw(b"\xff\0".to_vec().into()), false);
        assert!(raw.contains(r#""base64":"/wA=""#) && raw.contains(r#""exit":5"#), "{raw}");
        assert!(line(Body::Raw("v".into()), true).contains(r#""value":"v""#));
        assert!(line(Body::Raw("v".into()), false).contains(r#""text":"v""#));
        assert!(line(Body::Report(Box::default()), true).contains(r#""report":{"#));
    }

    #[test]
    fn error_is_parsed_from_text() {
        let fault = |exit, text: &str| parse_fault(exit, text).expect("an error");
        let refused = "refused, nothing ran · unknown action\na.b()\n^^^ no b\nnext: x\nnext: y\n";
        let found = fault(2, refused);
        assert_eq!(
            (found.code, found.message.as_str()),
            (Code::Usage, "unknown action\na.b()\n^^^ no b")
        );
        assert_eq!(found.hints, ["x", "y"]);
        let steps =
            "1 done · add\n2 failed · replace: 深い · no\nnext: look\nnot run: save\n\n## w\n";
        let found = fault(1, steps);
        assert_eq!((found.code, found.message.as_str()), (Code::Failed, "replace: 深い · no"));
        assert_eq!(found.hints, ["look"]);
        assert_eq!(fault(4, "failed · Anchor obj:2 is out of view.\n").code, Code::OutOfView);
        assert_eq!(fault(4, "failed · Anchor obj:2 is stale.\n").code, Code::Stale);
        assert_eq!(fault(77, "\nodd\n").message, "odd");
        assert!(parse_fault(1, "").is_none() && parse_fault(1, "\n\n").is_none());
    }

    #[test]
    fn failed_reply_has_code_hints_and_text() {
        let error = ClientError::invalid("expected args").hint("pipemux pipe --help");
        let line = String::from_utf8(ReplyLine::failed(Value::Null, &error, false).line()).unwrap();
        let reply: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&reply["id"], &reply["exit"]), (&Value::Null, &json!(2)));
        assert_eq!(reply["error"]["hints"][0], "pipemux pipe --help");
        assert_eq!(reply["text"], "refused, nothing ran · expected args\npipemux pipe --help\n");
    }
}
