//! A client of the Model Context Protocol as a harness has one: lines of JSON to and from
//! `pipemux mcp`.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::TestEnv;
use crate::interactive::InteractiveCommand;
use crate::programs::program;

/// One connection.
#[derive(Debug)]
pub struct McpClient {
    bridge: InteractiveCommand,
    requests: u64,
    /// The revision that each request names, of those without `initialize`.
    inline_revision: Option<&'static str>,
    /// What the server sent besides answers.
    pub notifications: Vec<Value>,
}

/// The result of a tool's call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// Its text.
    pub text: String,
    /// Whether it is marked as an error.
    pub is_error: bool,
}

impl McpClient {
    /// Connects and greets in the newest revision that has a greeting.
    pub fn connect(env: &TestEnv) -> Self {
        Self::connect_as(env, &["mcp"], "2025-11-25", json!({}))
    }

    /// Connects and greets in a revision, with these capabilities.
    ///
    /// # Panics
    /// The server doesn't agree to the revision.
    pub fn connect_as(env: &TestEnv, args: &[&str], revision: &str, capabilities: Value) -> Self {
        Self::connect_named(env, "story", args, (revision, capabilities))
    }

    /// As [`McpClient::connect_as`], by a client of this name.
    ///
    /// # Panics
    /// The server doesn't agree to the revision.
    pub fn connect_named(
        env: &TestEnv,
        name: &str,
        args: &[&str],
        (revision, capabilities): (&str, Value),
    ) -> Self {
        let mut client = Self::start(env, args);
        let own = json!({ "name": name, "version": "1" });
        let greeting = json!({
            "protocolVersion": revision, "capabilities": capabilities, "clientInfo": own,
        });
        let greeted = client.request("initialize", greeting);
        assert_eq!(greeted["result"]["protocolVersion"], revision, "{greeted}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    /// Connects in a revision without greeting.
    pub fn connect_inline(env: &TestEnv, revision: &'static str) -> Self {
        Self { inline_revision: Some(revision), ..Self::start(env, &["mcp"]) }
    }

    /// Connects to the server as a client of Agent Plugins starts it, in this directory of a
    /// plugin, without greeting. A shell that stays in the project is the client.
    pub fn connect_in_plugin(env: &TestEnv, plugin: &Path) -> Self {
        let script = "(cd \"$1\" && PLUGIN_ROOT=$1 exec \"$2\" mcp); exit";
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh"]).arg(plugin).arg(program("pipemux"));
        let bridge = InteractiveCommand::spawn(env, &mut shell);
        let inline_revision = Some("2026-07-28");
        Self { bridge, requests: 0, inline_revision, notifications: Vec::new() }
    }

    fn start(env: &TestEnv, args: &[&str]) -> Self {
        let bridge = InteractiveCommand::start(env, args);
        Self { bridge, requests: 0, inline_revision: None, notifications: Vec::new() }
    }

    /// Returns the process id of the bridge.
    pub fn pid(&self) -> i32 {
        self.bridge.pid
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.bridge.write_line(&message.to_string());
    }

    /// Sends a line, whatever it is.
    pub fn send_bytes(&mut self, line: &[u8]) {
        self.bridge.write_bytes(&[line, b"\n"].concat());
    }

    /// Sends a request without waiting for its answer; returns its id.
    pub fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.requests += 1;
        if let Some(revision) = self.inline_revision {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": revision,
                "io.modelcontextprotocol/clientInfo": { "name": "story", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
            });
            params["_meta"] = meta;
        }
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Waits for the answer to a request; `answer_request` answers requests of the server.
    ///
    /// # Panics
    /// The server ends.
    #[track_caller]
    pub fn finish(&mut self, id: u64, answer_request: impl Fn(&Value) -> Value) -> Value {
        loop {
            let message = self.next_message();
            if message.get("method").is_none() && message["id"] == id {
                return message;
            }
            if let Some(request) = message.get("id").filter(|_| message.get("method").is_some()) {
                let result = answer_request(&message);
                self.send(&json!({ "jsonrpc": "2.0", "id": request, "result": result }));
            }
            self.notifications.push(message);
        }
    }

    /// Waits for a message.
    ///
    /// # Panics
    /// The server ends, or sends something else than JSON.
    #[track_caller]
    pub fn next_message(&mut self) -> Value {
        let line = self.bridge.next_line().expect("the server goes on");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Sends a request and waits for its answer.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.finish(id, |_| json!({}))
    }

    /// Calls a tool.
    ///
    /// # Panics
    /// The answer is no result.
    #[track_caller]
    pub fn tool(&mut self, name: &str, arguments: Value) -> ToolResult {
        let answer = self.request("tools/call", json!({ "name": name, "arguments": arguments }));
        ToolResult::of(&answer)
    }

    /// Calls the tool that only looks.
    #[track_caller]
    pub fn ask(&mut self, code: &str) -> ToolResult {
        self.tool("ask", json!({ "code": code }))
    }

    /// Calls the tool that acts.
    #[track_caller]
    pub fn run(&mut self, code: &str) -> ToolResult {
        self.tool("run_code_snippet", json!({ "code": code }))
    }

    /// Ends the connection, and returns the exit status of the bridge.
    pub fn close(self) -> i32 {
        self.bridge.finish()
    }
}

impl ToolResult {
    /// Reads the answer to a tool's call.
    ///
    /// # Panics
    /// The answer is no result with a text.
    #[track_caller]
    pub fn of(answer: &Value) -> Self {
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("no text: {answer}")).to_owned();
        Self { text, is_error: result["isError"] == true }
    }

    /// Asserts that it is no error.
    ///
    /// # Panics
    /// It is one.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert!(!self.is_error, "{}", self.text);
        self
    }

    /// Asserts that it is an error.
    ///
    /// # Panics
    /// It is none.
    #[track_caller]
    pub fn fails(self) -> Self {
        assert!(self.is_error, "{}", self.text);
        self
    }

    /// Asserts that its text has a part.
    ///
    /// # Panics
    /// It doesn't.
    #[track_caller]
    pub fn has(self, part: &str) -> Self {
        assert!(self.text.contains(part), "no `{part}` in: {}", self.text);
        self
    }

    /// Asserts that its text doesn't have a part.
    ///
    /// # Panics
    /// It does.
    #[track_caller]
    pub fn lacks(self, part: &str) -> Self {
        assert!(!self.text.contains(part), "`{part}` in: {}", self.text);
        self
    }
}
