//! The tools, as a harness registers them. A model reads all of this in each of its turns, so a
//! test bounds its tokens.

use serde_json::{Value, json};

use crate::guide;

/// The tool for queries.
pub const ASK: &str = "ask";
/// The tool for actions.
pub const RUN: &str = "run_code_snippet";
/// The tool that opens a window.
pub const OPEN: &str = "open";
/// The tool that closes a window.
pub const CLOSE: &str = "close";

/// A tool's definition.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The name by which the tool is called.
    pub name: &'static str,
    /// The parameters: name, type, and whether the parameter is required.
    parameters: &'static [(&'static str, Takes, bool)],
    /// True if it changes nothing.
    pub read_only: bool,
    /// True if it may remove or overwrite something.
    pub destructive: bool,
    /// True if a second call with the same arguments changes nothing more.
    pub idempotent: bool,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Text,
    Texts,
    /// A text, or a list of its lines or calls.
    Code,
    /// Tokens that an answer may take.
    Tokens,
}

/// The parameters of the tools that take code.
const CODE: &[(&str, Takes, bool)] =
    &[("code", Takes::Code, true), ("budget", Takes::Tokens, false)];

/// The tools, in listing order.
pub const TOOLS: [Tool; 4] = [
    Tool { name: ASK, parameters: CODE, read_only: true, destructive: false, idempotent: true },
    Tool { name: RUN, parameters: CODE, read_only: false, destructive: true, idempotent: false },
    Tool {
        name: OPEN,
        parameters: &[("app", Takes::Text, true), ("args", Takes::Texts, false)],
        read_only: false,
        destructive: false,
        idempotent: true,
    },
    Tool {
        name: CLOSE,
        parameters: &[("window", Takes::Text, true)],
        read_only: false,
        destructive: false,
        idempotent: true,
    },
];

impl Tool {
    /// Returns the tool of that name.
    pub fn named(name: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// Returns what a model needs to know to use it.
    pub fn description(&self) -> String {
        match self.name {
            ASK => guide::of_looking(),
            RUN => guide::of_acting(),
            OPEN => {
                "Show an app's window, here and as it changes. Calls need no window.".to_owned()
            }
            _ => "Close a window, such as editor/main.".to_owned(),
        }
    }

    /// Returns the JSON schema of the parameters.
    pub fn schema(&self) -> Value {
        let property = |(name, takes, _): &(&str, Takes, bool)| {
            let text = || json!({ "type": "string" });
            let texts = || json!({ "type": "array", "items": { "type": "string" } });
            let schema = match takes {
                Takes::Text => text(),
                Takes::Texts => texts(),
                Takes::Code => json!({ "anyOf": [text(), texts()] }),
                Takes::Tokens => json!({ "type": "integer" }),
            };
            ((*name).to_owned(), schema)
        };
        let properties: serde_json::Map<_, _> = self.parameters.iter().map(property).collect();
        let required = self.parameters.iter().filter(|(_, _, required)| *required);
        let required: Vec<&str> = required.map(|(name, ..)| *name).collect();
        json!({ "type": "object", "properties": properties, "required": required })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_together_take_at_most_900_tokens() {
        let tool = |tool: &Tool| json!({ "name": tool.name, "description": tool.description(), "inputSchema": tool.schema() });
        let listed = Value::Array(TOOLS.iter().map(tool).collect()).to_string();
        let tokens = pipemux_tokens::estimate(&listed);
        assert!(tokens <= 900, "{tokens} tokens");
    }
}
