//! The tools, as a harness registers them. A model reads all of this in each of its turns, so a test bounds its tokens.

use serde_json::{Value, json};

use super::{ASK, CLOSE, OPEN, RUN};

/// A tool's definition.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The name that calls have.
    pub name: &'static str,
    /// What a model needs to know to use it.
    pub description: &'static str,
    /// Its parameters: name, whether it is a list of texts, whether it is required.
    parameters: &'static [(&'static str, bool, bool)],
    /// True if it changes nothing.
    pub read_only: bool,
    /// True if it may remove or overwrite something.
    pub destructive: bool,
    /// True if a second call with the same arguments changes nothing more.
    pub idempotent: bool,
}

const ASK_TEXT: &str = "\
Look at a project's code, notes and this machine; changes nothing. Calls, separated by ; or newline:
editor.find('text', in=FILES, word=true, regex=true, count=true) editor.lines(RANGE|FILES) editor.outline(in=FILES) editor.diff()
notebook.show('title'|'all') notebook.search('words') memotree.search('words') monitor.top()
An edit with preview=true only shows what it would change.
FILES: path, folder, glob, list of these; default: project. RANGE: 'a.rs:10-20', symbol 'foo', 'Type::foo', 'a.rs#foo'
Or one command: view, read obj:7, history, help editor";

const RUN_TEXT: &str = "\
Edit and act. Calls run in order; the first failure stops; edits are on disk at once:
editor.replace('old', 'new', in=FILES, all=true) editor.rename('symbol', 'new') editor.move(RANGE, before=|after='symbol')
editor.insert('text', before=|after='symbol'|'a.rs:9') editor.replace_lines('a.rs:5', 7, text) editor.delete(RANGE)
editor.create('path', text) editor.apply(patch) terminal.run('cargo test') notebook.add('title', text) notebook.append('title', text)
Long text, unescaped: text=<<END, newline, lines, END on its own line. A query is an argument, too: text=editor.lines('foo')
Or one command: answer 1,3|all|yes|none to a question, answer <corrected call>, click link:4, undo";

/// The tools, in the order in which they are listed.
pub const TOOLS: [Tool; 4] = [
    Tool {
        name: ASK,
        description: ASK_TEXT,
        parameters: &[("code", false, true)],
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    Tool {
        name: RUN,
        description: RUN_TEXT,
        parameters: &[("code", false, true)],
        read_only: false,
        destructive: true,
        idempotent: false,
    },
    Tool {
        name: OPEN,
        description: "Show an app's window with its actions, here and as it changes. Calls need no window.",
        parameters: &[("app", false, true), ("args", true, false)],
        read_only: false,
        destructive: false,
        idempotent: true,
    },
    Tool {
        name: CLOSE,
        description: "Close a window, such as editor/main.",
        parameters: &[("window", false, true)],
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

    /// Returns the JSON schema of the parameters.
    pub fn schema(&self) -> Value {
        let property = |(name, is_list, _): &(&str, bool, bool)| {
            let schema = match is_list {
                true => json!({ "type": "array", "items": { "type": "string" } }),
                false => json!({ "type": "string" }),
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

    /// Returns what a harness puts into a model's prompt for the tools.
    fn listed() -> String {
        let tool = |tool: &Tool| json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.schema() });
        Value::Array(TOOLS.iter().map(tool).collect()).to_string()
    }

    #[test]
    fn tools_together_take_at_most_600_tokens() {
        let tokens = pipemux_tokens::estimate(&listed());
        assert!(tokens <= 600, "{tokens} tokens");
        for tool in &TOOLS {
            assert!(tool.description.len() < 2048, "{}", tool.name);
        }
    }

    #[test]
    fn every_call_in_a_description_is_an_action() {
        let mut found = 0;
        for tool in TOOLS.iter().filter(|tool| [ASK, RUN].contains(&tool.name)) {
            for word in tool.description.split(|c: char| c.is_whitespace() || c == '=') {
                let Some((call, _)) = word.split_once('(') else { continue };
                let Some((app, action)) = call.split_once('.') else { continue };
                let app = pipemux_catalog::app(app).unwrap_or_else(|| panic!("no app: {word}"));
                let prototypes = app.prototypes();
                let action = prototypes.iter().find(|one| one.name == action);
                let action = action.unwrap_or_else(|| panic!("no action: {word}"));
                assert!(!tool.read_only || action.risk.only_looks(), "{word}");
                found += 1;
            }
        }
        assert!(found > 15, "{found}");
    }
}
