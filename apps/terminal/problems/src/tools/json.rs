//! Messages in JSON, one a line: rustc, cargo, eslint.

use serde_json::Value;

use crate::collector::Collector;
use crate::inert;
use crate::model::{Place, Severity};
use crate::recogniser::{Claim, Recogniser};
use crate::scan::place;
use crate::tools::rustc::is_summary;
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Json;

impl Recogniser for Json {
    fn line(&mut self, text: &str, _within: bool, found: &mut Collector) -> Option<Claim> {
        let known = text.starts_with("{\"reason\":")
            || text.starts_with("{\"$message_type\":")
            || text.starts_with("{\"message\":")
            || text.starts_with("[{\"filePath\":");
        if !known {
            return None;
        }
        match serde_json::from_str(text).ok()? {
            Value::Array(files) => Claim::one(eslint(&files, found)),
            value => match value.get("reason").and_then(Value::as_str) {
                Some("compiler-message") => Claim::one(rustc(value.get("message")?, found)),
                Some(_) => Claim::one(Class::Progress),
                None if value.get("spans").is_some() => Claim::one(rustc(&value, found)),
                None => None,
            },
        }
    }
}

/// Reads a diagnostic of rustc.
fn rustc(message: &Value, found: &mut Collector) -> Class {
    let string = |key: &str| message.get(key).and_then(Value::as_str);
    let text = inert_text(string("message").unwrap_or_default());
    let severity = match string("level") {
        Some("warning") => Severity::Warning,
        Some("note" | "help" | "failure-note") => Severity::Note,
        _ => Severity::Error,
    };
    if is_summary(&text) || string("level") == Some("failure-note") {
        return Class::Progress;
    }
    let spans = message.get("spans").and_then(Value::as_array);
    let primary = spans.and_then(|spans| {
        let is_primary =
            |span: &&Value| span.get("is_primary").and_then(Value::as_bool) == Some(true);
        spans.iter().find(is_primary).and_then(span_place)
    });
    let code = message.get("code").and_then(|code| code.get("code")).and_then(Value::as_str);
    // Lints have long names, which the text of a diagnostic tells as a note and in no header.
    let code =
        code.filter(|code| code.starts_with('E') && code[1..].bytes().all(|b| b.is_ascii_digit()));
    found.problem(severity, code, primary, &text);
    // The same lines as the text of a diagnostic has, without its header and its place.
    for line in string("rendered").unwrap_or_default().lines().skip(1) {
        let trimmed = line.trim_start();
        if !(trimmed.is_empty() || trimmed.starts_with("--> ") || trimmed == "|") {
            found.detail(&inert_text(line));
        }
    }
    Class::Problem
}

fn span_place(span: &Value) -> Option<Place> {
    let file = span.get("file_name")?.as_str()?;
    Some(place(&inert_text(file), natural(span, "line_start"), natural(span, "column_start")))
}

/// Reads the output of `eslint -f json`.
fn eslint(files: &[Value], found: &mut Collector) -> Class {
    let mut class = Class::Progress;
    for file in files {
        let path = file.get("filePath").and_then(Value::as_str).unwrap_or_default();
        for message in file.get("messages").and_then(Value::as_array).into_iter().flatten() {
            let severity = match message.get("severity").and_then(Value::as_u64) {
                Some(1) => Severity::Warning,
                _ => Severity::Error,
            };
            let text = message.get("message").and_then(Value::as_str).unwrap_or_default();
            let rule = message.get("ruleId").and_then(Value::as_str);
            let at = place(&inert_text(path), natural(message, "line"), natural(message, "column"));
            found.problem(severity, rule, Some(at), &inert_text(text));
            class = Class::Problem;
        }
    }
    class
}

fn natural(value: &Value, key: &str) -> Option<u32> {
    value.get(key).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok())
}

/// A string of JSON can bring what the line that it is in doesn't have: escapes as `\u001b`.
fn inert_text(text: &str) -> String {
    let mut clean = String::new();
    let flat = text.replace(['\n', '\r'], " ");
    inert::parts(flat.as_bytes(), &mut |part, _| clean.push_str(part));
    clean
}
