//! Everything that the command line writes.

pub mod colour;

use std::io::{self, Write};

use pipemux_client::ClientError;
use pipemux_client::proto::client::{Answer, Body};
use pipemux_client::proto::command::with_options;
use pipemux_client::proto::watch::WorkspaceEvent;
use pipemux_client::proto::{Code, Fault};
use serde::Serialize;
use serde_json::json;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Everything was written.
    Complete,
    /// Nobody reads the output any more, as in `pipemux view | head`.
    ReaderGone,
}

/// Writes to standard output. A reader that is gone is not an error.
///
/// # Errors
/// Any other failure to write, such as a full disk.
pub fn write_stdout(bytes: &[u8]) -> io::Result<WriteOutcome> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(WriteOutcome::Complete),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(WriteOutcome::ReaderGone),
        Err(error) => Err(error),
    }
}

/// Writes to standard error. A failure is ignored, because it can't be reported anywhere.
pub fn write_stderr(bytes: &[u8]) {
    let _ = io::stderr().lock().write_all(bytes);
}

/// Writes an error to standard error, in colour for a person at a terminal.
pub fn write_error(text: &[u8]) {
    write_stderr(&colour::for_stream(text, &io::stderr(), colour::error));
}

/// Formats an answer for printing.
pub fn format_answer(answer: &Answer, json: bool) -> Vec<u8> {
    match &answer.body {
        Body::Text(text) if json => pretty(&json!({ "text": text })),
        Body::Text(text) => text.clone().into_bytes(),
        Body::Report(report) => pretty(report),
        Body::Data(value) => pretty(value),
        Body::Raw(bytes) if json => match std::str::from_utf8(bytes) {
            Ok(text) => pretty(&json!({ "value": text })),
            Err(_) => pretty(&json!({ "bytes": bytes.len(), "base64": base64(bytes) })),
        },
        Body::Raw(bytes) => bytes.to_vec(),
        Body::Events(events) if json => pretty(events),
        Body::Events(events) => {
            let line = |event: &WorkspaceEvent| format!("{}\n", event_line(event));
            events.events.iter().map(line).collect::<String>().into_bytes()
        }
        Body::Log(part) if json => pretty(part),
        Body::Log(part) => part.text.clone().into_bytes(),
    }
}

/// Formats an event as one line: its number, the time of day in UTC, and what happened.
pub fn event_line(event: &WorkspaceEvent) -> String {
    let time = event.at.get(11..19).unwrap_or(&event.at);
    format!("{} {time} {}", event.number, event.text)
}

/// Prints why there is no answer, to standard error. JSON goes to standard output, where programs
/// expect it. Commands in hints repeat `hint_options`.
pub fn print_error(error: &ClientError, json: bool, hint_options: &str) {
    let mut fault = error.fault().clone();
    for hint in &mut fault.hints {
        *hint = with_options(hint, hint_options).into_owned();
    }
    if !json {
        return write_error(format_fault(label(error), &fault).as_bytes());
    }
    if let Err(error) = write_stdout(&pretty(&json!({ "error": fault }))) {
        report_write_error(&error);
    }
}

/// Reports on standard error that the answer could not be written.
pub fn report_write_error(error: &io::Error) {
    let text = format!("the answer could not be written to standard output: {error}\n");
    write_stderr(text.as_bytes());
}

fn label(error: &ClientError) -> &'static str {
    match error {
        ClientError::Unreachable(_) => "unreachable",
        ClientError::VersionMismatch(_) => "another version",
        ClientError::OutcomeUnknown(_) => "unknown",
        ClientError::Refused(fault) => match fault.code {
            Code::NotFound => "not found",
            Code::Unavailable => "unavailable",
            Code::Unknown => "unknown",
            _ => "refused",
        },
        ClientError::Invalid(_) => "refused, nothing ran",
    }
}

/// Formats an error as text: its kind and message, then its hints.
pub fn format_error(error: &ClientError) -> String {
    format_fault(label(error), error.fault())
}

fn format_fault(label: &str, fault: &Fault) -> String {
    let mut text = format!("{label} · {}\n", fault.message.trim_end());
    for hint in &fault.hints {
        text.push_str(hint);
        text.push('\n');
    }
    text
}

fn pretty<T: Serialize>(value: &T) -> Vec<u8> {
    // A value from the wire has string keys and finite depth, so this can't fail.
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Encodes bytes as in RFC 4648, with padding.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let padding = digit > group.len();
            let index = (bits >> (18 - 6 * digit) & 63) as usize;
            text.push(if padding { '=' } else { char::from(DIGITS[index]) });
        }
    }
    text
}

/// Prints a text of the program's own. Returns the exit status.
pub fn print(text: &str) -> u8 {
    match write_stdout(text.as_bytes()) {
        Ok(_) => 0,
        Err(error) => {
            report_write_error(&error);
            1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_client::proto::Value;
    use pipemux_client::proto::report::Report;

    fn print(body: Body, json: bool) -> String {
        let answer = Answer { exit: 0, body, delivery: 0, error: false };
        String::from_utf8(format_answer(&answer, json)).unwrap()
    }

    #[test]
    fn base64_matches_the_rfc_vectors() {
        let vectors =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in vectors {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfb]), "//77");
    }

    #[test]
    fn raw_values_are_exact_and_json_output_is_valid_json() {
        let bytes = b"a\r\n\xff\0".to_vec();
        let answer =
            Answer { exit: 0, body: Body::Raw(bytes.clone().into()), delivery: 0, error: false };
        assert_eq!(format_answer(&answer, false), bytes);
        let json: serde_json::Value =
            serde_json::from_slice(&format_answer(&answer, true)).unwrap();
        assert_eq!(json, json!({ "bytes": 5, "base64": "YQ0K/wA=" }));

        assert_eq!(print(Body::Raw("深い\n".into()), true), "{\n  \"value\": \"深い\\n\"\n}\n");
        assert_eq!(print(Body::Text("e1\n".into()), false), "e1\n");
        assert_eq!(print(Body::Text("e1\n".into()), true), "{\n  \"text\": \"e1\\n\"\n}\n");
        let value = Value::Map(vec![("n".into(), Value::Float(f64::NAN))]);
        assert_eq!(print(Body::Data(value), true), "{\n  \"n\": null\n}\n");
        let report = print(Body::Report(Box::default()), true);
        serde_json::from_str::<Report>(&report).unwrap();
        assert!(report.ends_with("}\n") && !report.ends_with("\n\n"));
    }

    #[test]
    fn error_text_has_label_message_and_hints() {
        let fault = Fault::usage("no such verb\n").hint("pipemux view");
        let error = ClientError::Refused(fault);
        assert_eq!(format_error(&error), "refused · no such verb\npipemux view\n");
    }
}
