//! `pipemux tool-schema`: the tools, for a harness that registers them itself.

use clap::ValueEnum;
use pipemux_client::tools::{TOOLS, Tool};
use serde_json::{Value, json};

/// How a harness wants a tool's definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaFormat {
    Openai,
    Anthropic,
    Mcp,
}

/// Returns the definitions of all tools as JSON, a line each in a list.
pub fn text(format: SchemaFormat) -> String {
    let lines: Vec<String> =
        TOOLS.iter().map(|tool| format!("  {}", definition(tool, format))).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

fn definition(tool: &Tool, format: SchemaFormat) -> Value {
    let (name, description, schema) = (tool.name, tool.description(), tool.schema());
    match format {
        SchemaFormat::Openai => json!({
            "type": "function",
            "function": { "name": name, "description": description, "parameters": schema },
        }),
        SchemaFormat::Anthropic => {
            json!({ "name": name, "description": description, "input_schema": schema })
        }
        SchemaFormat::Mcp => {
            let mut hints = json!({ "readOnlyHint": tool.read_only, "openWorldHint": false });
            if !tool.read_only {
                hints["destructiveHint"] = tool.destructive.into();
                hints["idempotentHint"] = tool.idempotent.into();
            }
            json!({
                "name": name, "description": description, "inputSchema": schema,
                "annotations": hints,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_a_list_of_all_tools() {
        for (format, name) in [
            (SchemaFormat::Openai, "/function/name"),
            (SchemaFormat::Anthropic, "/name"),
            (SchemaFormat::Mcp, "/name"),
        ] {
            let parsed: Value = serde_json::from_str(&text(format)).unwrap();
            let names: Vec<_> =
                parsed.as_array().unwrap().iter().map(|tool| tool.pointer(name).unwrap()).collect();
            assert_eq!(names, ["ask", "run_code_snippet", "open", "close"]);
        }
    }
}
