//! `pipemux listen`: reads a whole message of a model, and runs only its `docui` blocks. The
//! message may be JSON, as the large interfaces have it; a tool's call in it is carried out.

use std::collections::BTreeMap;

use pipemux_client::ClientError;
use pipemux_client::proto::call::blocks::{blocks, script};
use pipemux_client::proto::call::{CallError, stdin_at};
use pipemux_client::proto::client::Verb;
use pipemux_client::tools::{CallerEnv, ModelMessage, ToolRequest};
use serde_json::json;

use super::command_env::{CommandEnv, ProcessEnv};
use super::requester::Requester;
use crate::output;

/// Longest message, in bytes. Its code is bounded like that of any run.
const MESSAGE_MAX: usize = 16 * 1024 * 1024;

/// The output for a message without a block.
pub const NO_BLOCKS: &str = "0 docui blocks: nothing ran";

/// Runs the blocks of the message on standard input as one run. Returns the exit status.
///
/// # Errors
/// See [`to_request`].
pub fn execute(requester: &Requester) -> Result<u8, ClientError> {
    match to_request(&ProcessEnv { timeout: requester.options.timeout })? {
        Message::Blocks(run) => requester.request(run),
        Message::Call(ToolRequest::Verb(verb)) => requester.request_tool(*verb),
        Message::Call(ToolRequest::Text(text)) => Ok(output::print(&text)),
        Message::Nothing => Ok(requester.print_own(NO_BLOCKS, &json!({ "blocks": 0 }))),
    }
}

/// The content of a message.
pub enum Message {
    /// The message has blocks, which are run.
    Blocks(Verb),
    /// The message is a tool call.
    Call(ToolRequest),
    /// The message has no block.
    Nothing,
}

/// Makes the request to the daemon for the message on standard input.
///
/// # Errors
/// The message can't be read, a block has no end, the code uses standard input, which is the
/// message, or a tool's call is wrong.
pub fn to_request(env: &dyn CommandEnv) -> Result<Message, ClientError> {
    let message = env.stdin(MESSAGE_MAX)?;
    let blocks = |text: &str| Ok(parse_message(text)?.map_or(Message::Nothing, Message::Blocks));
    if !message.trim_start().starts_with(['{', '[']) {
        return blocks(&message);
    }
    // A message in words may begin so, too.
    let Ok(value) = serde_json::from_str(&message) else { return blocks(&message) };
    let said = ModelMessage::from_json(&value)?;
    match (said.calls.as_slice(), blocks(&said.text)?) {
        ([], found) => Ok(found),
        ([call], Message::Nothing) => call.to_request(&ToolEnv(env)).map(Message::Call),
        ([_], _) => Err(ClientError::invalid("the message has a tool's call and docui blocks")
            .hint("pass the call alone, then the text alone")),
        (calls, _) => {
            let why = format!("the message has {} calls of tools: expected one", calls.len());
            Err(ClientError::invalid(why)
                .hint("pass each call by itself: each has a result of its own"))
        }
    }
}

/// The environment that is passed to an app opened by a tool call.
pub struct ToolEnv<'e>(pub &'e dyn CommandEnv);

impl CallerEnv for ToolEnv<'_> {
    fn directory(&self) -> Result<String, ClientError> {
        self.0.directory_text()
    }

    fn variables(&self) -> BTreeMap<String, String> {
        self.0.text_variables()
    }
}

fn parse_message(message: &str) -> Result<Option<Verb>, ClientError> {
    let refused = |error: CallError, code: &str| ClientError::Invalid(error.to_fault(code));
    let found = blocks(message).map_err(|error| refused(error, message))?;
    if found.is_empty() {
        return Ok(None);
    }
    let code = script(&found);
    if let Some(span) = stdin_at(&code) {
        let note = "standard input is the message itself";
        let error = CallError::new("stdin in a docui block", span, note).hint(
            "give the text as a raw block: text=<<END, the text on the next lines, END alone",
        );
        return Err(refused(error, &code));
    }
    Ok(Some(Verb::Run { code, stdin: None, only_queries: false }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(message: &str) -> Option<String> {
        parse_message(message).unwrap().map(|verb| match verb {
            Verb::Run { code, stdin: None, only_queries: false } => code,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn blocks_become_one_run_that_keeps_the_line_numbers() {
        let message = "Save:\n```docui\neditor.save()\n```\nthen\n~~~docui\nlink:3\n~~~\n";
        assert_eq!(code(message).unwrap(), "\n\neditor.save()\n;\n\n\nlink:3\n");
        assert_eq!(code("`editor.save()` saves:\n```\neditor.save()\n```\n"), None);
        assert_eq!(code(""), None);
    }

    #[test]
    fn stdin_as_a_name_is_refused() {
        let error = parse_message("a\n```docui\nb('stdin')\nf(1, text=stdin)\n```\n").unwrap_err();
        assert_eq!(error.exit_status(), 2);
        let fault = error.fault();
        assert_eq!(fault.at.map(|at| (at.line, at.column)), Some((4, 11)));
        assert!(fault.message.contains("f(1, text=stdin)\n          ^^^^^ "), "{}", fault.message);
        assert!(fault.hints[0].contains("<<END"), "{:?}", fault.hints);
        assert!(code("```docui\nf(text=<<END)\nstdin\nEND\n```\n").is_some());
    }

    #[test]
    fn block_without_an_end_is_refused() {
        let error = parse_message("a\n```docui\nb()\n").unwrap_err();
        assert_eq!((error.exit_status(), error.fault().at.map(|at| at.line)), (2, Some(2)));
    }
}
