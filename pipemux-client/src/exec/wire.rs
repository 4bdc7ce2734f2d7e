//! Calls and results as the interfaces write them.

use serde_json::{Map, Value, json};

use super::outcome::ToolAnswer;
use crate::error::ClientError;

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// The arguments by name. The plain text of a custom tool is `input`.
    pub arguments: Map<String, Value>,
    form: Form,
    /// The id of the call in the interface.
    id: Value,
}

/// The interface whose format the call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Anthropic: `{"type": "tool_use", "id", "name", "input": {…}}`
    ToolUse,
    /// OpenAI's responses: `{"type": "function_call", "call_id", "name", "arguments": "{…}"}`
    FunctionCall,
    /// OpenAI's chat: `{"id", "type": "function", "function": {"name", "arguments": "{…}"}}`
    ChatTool,
    /// `{"type": "custom_tool_call", "call_id", "name", "input": "…"}`
    Custom,
    /// `{"type": "local_shell_call", "call_id", "action": {"command": […], …}}`
    LocalShell,
    /// `{"type": "shell_call", "call_id", "action": {"commands": […], …}}`
    Shell,
    /// `{"type": "apply_patch_call", "call_id", "operation": {"type", "path", "diff"}}`
    ApplyPatch,
    /// MCP: `{"jsonrpc", "id", "method": "tools/call", "params": {"name", "arguments"}}`
    Mcp,
    /// Gemini: `{"functionCall": {"id", "name", "args": {…}}}`
    Gemini,
    /// `{"name", "input" or "arguments": {…}}`
    Bare,
}

const EXPECTED: &str =
    r#"expected: {"type": "tool_use", "id": "…", "name": "bash", "input": {"command": "ls"}}"#;

impl Call {
    /// Reads a call as one of the interfaces writes it.
    ///
    /// # Errors
    /// It is no call of a tool.
    pub fn from_json(value: &Value) -> Result<Self, ClientError> {
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        let of = |name: &str| value.get(name).unwrap_or(&Value::Null);
        let call_id = || [of("call_id"), of("id")].into_iter().find(|id| !id.is_null());
        let (form, inner, id) = match kind {
            "tool_use" => (Form::ToolUse, value, Some(of("id"))),
            "function_call" => (Form::FunctionCall, value, call_id()),
            "custom_tool_call" => (Form::Custom, value, call_id()),
            "local_shell_call" => (Form::LocalShell, of("action"), call_id()),
            "shell_call" => (Form::Shell, of("action"), call_id()),
            "apply_patch_call" => (Form::ApplyPatch, of("operation"), call_id()),
            _ if value.get("function").is_some() => (Form::ChatTool, of("function"), call_id()),
            _ if of("method") == "tools/call" => (Form::Mcp, of("params"), Some(of("id"))),
            _ => match value.get("functionCall") {
                Some(inner) => (Form::Gemini, inner, inner.get("id")),
                None => (Form::Bare, value, call_id()),
            },
        };
        let named = inner.get("name").and_then(Value::as_str);
        let name = match form {
            Form::LocalShell => "local_shell",
            Form::Shell => "shell_call",
            Form::ApplyPatch => "apply_patch_call",
            _ => named.ok_or_else(|| refused("it has no name of a tool"))?,
        };
        let given = match form {
            Form::LocalShell | Form::Shell | Form::ApplyPatch => Some(inner),
            _ => ["input", "arguments", "parameters", "args"].iter().find_map(|key| inner.get(key)),
        };
        let arguments = match given {
            None | Some(Value::Null) if form == Form::Bare && given.is_none() => {
                return Err(refused("it has no input"));
            }
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(map)) => map.clone(),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Object(map)) if form != Form::Custom => map,
                // A custom tool's input is a text.
                _ => Map::from_iter([("input".to_owned(), text.clone().into())]),
            },
            Some(_) => return Err(refused("its input is no object")),
        };
        let id = id.cloned().unwrap_or_default();
        Ok(Self { name: name.to_owned(), arguments, form, id })
    }

    /// Writes the result as the interface wants it.
    pub fn result(&self, answer: &ToolAnswer) -> Value {
        let (id, text) = (&self.id, answer.text.as_str());
        match self.form {
            Form::ToolUse => json!({
                "type": "tool_result", "tool_use_id": id, "content": text, "is_error": answer.is_error,
            }),
            Form::FunctionCall => {
                json!({ "type": "function_call_output", "call_id": id, "output": text })
            }
            Form::ChatTool => json!({ "role": "tool", "tool_call_id": id, "content": text }),
            Form::Custom => {
                json!({ "type": "custom_tool_call_output", "call_id": id, "output": text })
            }
            Form::LocalShell => {
                json!({ "type": "local_shell_call_output", "id": id, "output": text })
            }
            Form::Shell => {
                let one = |(text, status): &(String, Option<i64>)| {
                    let outcome = match status {
                        Some(status) => json!({ "type": "exit", "exit_code": status }),
                        None => json!({ "type": "timeout" }),
                    };
                    json!({ "stdout": text, "stderr": "", "outcome": outcome })
                };
                let mut output: Vec<Value> = answer.outputs.iter().map(one).collect();
                if output.is_empty() {
                    output.push(one(&(text.to_owned(), Some(1))));
                }
                let mut result =
                    json!({ "type": "shell_call_output", "call_id": id, "output": output });
                if let Some(most) = self.arguments.get("max_output_length") {
                    result["max_output_length"] = most.clone();
                }
                result
            }
            Form::ApplyPatch => {
                let status = if answer.is_error { "failed" } else { "completed" };
                json!({
                    "type": "apply_patch_call_output", "call_id": id, "status": status, "output": text,
                })
            }
            Form::Mcp => json!({
                "jsonrpc": "2.0", "id": id,
                "result": { "content": [{ "type": "text", "text": text }], "isError": answer.is_error },
            }),
            Form::Gemini => {
                let part = if answer.is_error { "error" } else { "output" };
                let mut response = json!({ "name": self.name, "response": { part: text } });
                if !id.is_null() {
                    response["id"] = id.clone();
                }
                json!({ "functionResponse": response })
            }
            Form::Bare => {
                let mut result =
                    json!({ "name": self.name, "content": text, "is_error": answer.is_error });
                if !id.is_null() {
                    result["id"] = id.clone();
                }
                result
            }
        }
    }
}

fn refused(why: &str) -> ClientError {
    ClientError::invalid(format!("this is no call of a tool: {why}")).hint(EXPECTED)
}
