//! A tool's call as JSON.

use serde_json::{Map, Value};

use super::code::{self, CodeKind};
use super::definitions::{ASK, CLOSE, OPEN, RUN, TOOLS, Tool};
use super::request::{CallerEnv, ToolRequest};
use crate::error::ClientError;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// The arguments by name.
    pub arguments: Map<String, Value>,
}

/// The example call in hints.
const EXAMPLE: &str = r#"{"name": "run_code_snippet", "parameters": {"code": "editor.undo()"}}"#;

impl ToolCall {
    /// Reads a call in one of the shapes that harnesses have:
    ///
    /// - `{"name": …, "parameters": {…}}`, also with `arguments` or `input` for `parameters`;
    /// - `{"type": "function", "function": {"name": …, "arguments": "{…}"}}` and
    ///   `{"type": "function_call", "name": …, "arguments": "{…}"}`;
    /// - `{"type": "tool_use", "name": …, "input": {…}}`;
    /// - `{"method": "tools/call", "params": {"name": …, "arguments": {…}}}`.
    ///
    /// - `{"functionCall": {"name": …, "args": {…}}}`;
    /// - the name of one of PipeMux's tools, without arguments.
    ///
    /// Returns `None` for anything else: it is no call of a tool.
    ///
    /// # Errors
    /// It is a call, but its arguments are no object.
    pub fn from_json(value: &Value) -> Result<Option<ToolCall>, ClientError> {
        let inner = value.get("function").or_else(|| value.get("functionCall")).or_else(|| {
            (value.get("method")? == "tools/call").then(|| value.get("params")).flatten()
        });
        let call = inner.unwrap_or(value);
        let Some(name) = call.get("name").and_then(Value::as_str) else { return Ok(None) };
        let given = ["parameters", "arguments", "input", "args"];
        let given = given.iter().find_map(|key| call.get(key));
        let is_call = call.get("type").is_some() || inner.is_some() || Tool::named(name).is_some();
        let parsed = match given {
            None if !is_call => return Ok(None),
            None | Some(Value::Null) => Value::Object(Map::new()),
            // One of the large interfaces writes the arguments as text.
            Some(Value::String(text)) => serde_json::from_str(text).map_err(|error| {
                ClientError::invalid(format!("the arguments of {name} are not JSON: {error}"))
                    .hint(format!("expected: {EXAMPLE}"))
            })?,
            Some(value) => value.clone(),
        };
        match parsed {
            Value::Object(arguments) => Ok(Some(ToolCall { name: name.to_owned(), arguments })),
            _ => Err(ClientError::invalid(format!("the arguments of {name} are not an object"))
                .hint(format!("expected: {EXAMPLE}"))),
        }
    }

    /// Decides how the call is answered.
    ///
    /// # Errors
    /// There is no such tool, an argument is missing or of another type, or the code can't be
    /// understood.
    pub fn to_request(&self, env: &dyn CallerEnv) -> Result<ToolRequest, ClientError> {
        match self.name.as_str() {
            ASK => self.code(CodeKind::OnlyLooks, env),
            RUN => self.code(CodeKind::Any, env),
            OPEN => code::open(self.text("app")?, self.texts("args")?, env),
            CLOSE => code::close(self.text("window")?, false),
            other => {
                let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
                Err(ClientError::invalid(format!("there is no tool {other}"))
                    .hint(format!("the tools are {}", names.join(", "))))
            }
        }
    }

    /// Decides how code is answered: one text, or a list of calls or lines. A budget beside it
    /// counts where the code names none.
    fn code(&self, kind: CodeKind, env: &dyn CallerEnv) -> Result<ToolRequest, ClientError> {
        let request = match self.arguments.get("code") {
            Some(Value::Array(_)) => code::to_request(&self.texts("code")?.join("\n"), kind, env),
            _ => code::to_request(self.text("code")?, kind, env),
        }?;
        let budget = match self.arguments.get("budget") {
            None | Some(Value::Null) => None,
            Some(given) => {
                let number = given.as_u64().or_else(|| given.as_str()?.parse().ok());
                let number = number.and_then(|number| u32::try_from(number).ok());
                let number = number.filter(|tokens| *tokens > 0);
                Some(number.ok_or_else(|| {
                    let why = format!("{}: budget is {given}: expected tokens", self.name);
                    ClientError::invalid(why).hint("budget: 20000")
                })?)
            }
        };
        Ok(match request {
            ToolRequest::Verb(mut verb) => {
                verb.budget = verb.budget.or(budget);
                ToolRequest::Verb(verb)
            }
            text => text,
        })
    }

    fn text(&self, name: &str) -> Result<&str, ClientError> {
        self.arguments.get(name).and_then(Value::as_str).ok_or_else(|| {
            let given = match self.arguments.get(name) {
                None => "is missing",
                Some(_) => "is no text",
            };
            ClientError::invalid(format!("{}: the argument {name} {given}", self.name))
        })
    }

    /// Returns a list of texts; a text alone is one of one word.
    fn texts(&self, name: &str) -> Result<Vec<String>, ClientError> {
        match self.arguments.get(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text.clone()]),
            Some(Value::Array(list)) if list.iter().all(Value::is_string) => {
                Ok(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            }
            Some(_) => Err(ClientError::invalid(format!(
                "{}: the argument {name} is no list of texts",
                self.name
            ))),
        }
    }
}

/// The output of a model in a message of one of the large interfaces.
#[derive(Debug, Default)]
pub struct ModelMessage {
    /// The tool calls, in order.
    pub calls: Vec<ToolCall>,
    /// The text, with a line end after each part.
    pub text: String,
}

/// Fields that contain the model's output in messages and answers, but not its input.
const CONTAINERS: &[&str] =
    &["candidates", "choices", "output", "message", "content", "parts", "tool_calls"];

impl ModelMessage {
    /// Reads a call, a message, a list of either, or a whole answer.
    ///
    /// # Errors
    /// A call's arguments are no object.
    pub fn from_json(value: &Value) -> Result<Self, ClientError> {
        let mut said = Self::default();
        said.add(value)?;
        Ok(said)
    }

    fn add(&mut self, value: &Value) -> Result<(), ClientError> {
        if let Value::Array(parts) = value {
            return parts.iter().try_for_each(|part| self.add(part));
        }
        if value.get("type").is_some_and(|kind| kind == "tool_result") {
            return Ok(());
        }
        if let Some(call) = ToolCall::from_json(value)? {
            self.calls.push(call);
            return Ok(());
        }
        for text in ["text", "content"].iter().filter_map(|name| value.get(name)?.as_str()) {
            self.text.push_str(text);
            self.text.push('\n');
        }
        CONTAINERS.iter().filter_map(|name| value.get(name)).try_for_each(|inner| self.add(inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn calls_and_texts_are_found_in_messages_of_the_large_interfaces() {
        let call =
            json!({ "type": "tool_use", "id": "t", "name": "ask", "input": { "code": "view" } });
        let function = json!({ "id": "c", "type": "function",
            "function": { "name": "ask", "arguments": "{\"code\": \"view\"}" } });
        for (message, calls, text) in [
            (
                json!({ "role": "assistant", "content": [{ "type": "text", "text": "深い" }, call] }),
                1,
                "深い\n",
            ),
            (json!([call, call]), 2, ""),
            (json!({ "tool_calls": [function], "content": null }), 1, ""),
            (
                json!({ "choices": [{ "message": { "content": "a", "tool_calls": [function] } }] }),
                1,
                "a\n",
            ),
            (
                json!({ "output": [{ "type": "message", "content": [{ "type": "output_text", "text": "b" }] },
                { "type": "function_call", "name": "ask", "arguments": "{}" }] }),
                1,
                "b\n",
            ),
            (
                json!({ "candidates": [{ "content": { "parts": [{ "text": "c" },
                { "functionCall": { "name": "ask", "args": { "code": "view" } } }] } }] }),
                1,
                "c\n",
            ),
            (json!({ "name": "ask" }), 1, ""),
            (
                json!({ "role": "user", "content": [{ "type": "tool_result", "content": [call] }] }),
                0,
                "",
            ),
            (json!({ "tools": [function] }), 0, ""),
            (json!([1, null, "x", {}]), 0, ""),
        ] {
            let said = ModelMessage::from_json(&message).unwrap();
            assert_eq!((said.calls.len(), said.text.as_str()), (calls, text), "{message}");
        }
    }

    #[test]
    fn every_shape_of_a_call_is_read() {
        let code = json!({ "code": "editor.undo()" });
        for value in [
            json!({ "name": "run_code_snippet", "parameters": code }),
            json!({ "name": "run_code_snippet", "arguments": code }),
            json!({ "type": "tool_use", "id": "t1", "name": "run_code_snippet", "input": code }),
            json!({ "id": "c1", "type": "function",
                "function": { "name": "run_code_snippet", "arguments": code.to_string() } }),
            json!({ "type": "function_call", "call_id": "c1", "name": "run_code_snippet",
                "arguments": code.to_string() }),
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": { "name": "run_code_snippet", "arguments": code } }),
        ] {
            let call = ToolCall::from_json(&value).unwrap().unwrap_or_else(|| panic!("{value}"));
            assert_eq!((call.name.as_str(), &Value::Object(call.arguments)), (RUN, &code));
        }
    }

    #[test]
    fn other_json_is_no_call_and_wrong_arguments_are_told() {
        for value in [json!(1), json!({}), json!([{ "name": "ask" }]), json!({ "name": "x" })] {
            assert_eq!(ToolCall::from_json(&value).unwrap(), None, "{value}");
        }
        for value in [
            json!({ "name": "ask", "parameters": [1] }),
            json!({ "type": "function_call", "name": "ask", "arguments": "{" }),
        ] {
            assert_eq!(ToolCall::from_json(&value).unwrap_err().exit_status(), 2);
        }
    }
}
