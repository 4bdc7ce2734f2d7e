//! Parses a line of JSON as a command line.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use clap::error::ErrorKind;
use pipemux_client::options::passed_variables;
use pipemux_client::proto::client::{Verb as RequestVerb, VerbRequest};
use pipemux_client::tools::{ToolCall, ToolRequest};
use pipemux_client::{ClientError, workspace};
use serde::Deserialize;
use serde_json::Value;

use super::streams::{InputLine, LINE_MAX};
use crate::args::{Cli, GlobalArgs, Verb};
use crate::command_env::{CommandEnv, ProcessEnv, UNUSED_INPUT};
use crate::listen::{Message, ToolEnv};
use crate::local_texts::{help_of_verb, local_text};
use crate::requester::Requester;
use crate::to_request::{Execution, to_request};
use crate::usage_errors::{self, is_help_of_program};
use crate::{fast_args, guide, listen, suggestions};

/// A valid request, shown in the hint to an invalid one.
const EXAMPLE: &str = r#"{"id": 1, "args": ["run", "editor.save()"]}"#;

/// The request on one line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipeRequest {
    /// Is repeated in the answer.
    #[serde(default)]
    pub id: Value,
    /// The arguments of a `pipemux` command line.
    args: Vec<String>,
    /// A tool's call in their place.
    #[serde(skip)]
    tool: Option<ToolCall>,
    /// Standard input.
    stdin: Option<String>,
    /// The current directory; by default that of this process.
    cwd: Option<PathBuf>,
    /// Like `--workspace`.
    workspace: Option<String>,
    /// Like `--reader`.
    reader: Option<String>,
    /// The environment variables; by default those of this process.
    env: Option<BTreeMap<String, String>>,
    /// Like `--json`.
    #[serde(default)]
    pub json: bool,
}

/// How a request is answered.
#[derive(Debug)]
pub enum RequestAction {
    /// The daemon is asked.
    Call {
        call: Box<VerbRequest>,
        timeout: Duration,
        /// True for an answer in JSON.
        json: bool,
    },
    /// The client answers with this text.
    Text { text: String },
}

impl PipeRequest {
    /// Parses a line. An error comes with the request's id, if the line has one.
    pub fn parse(line: InputLine) -> Result<Self, Box<(Value, ClientError)>> {
        let refused = |id, why: String| {
            let error = ClientError::invalid(why).hint(format!("expected, on one line: {EXAMPLE}"));
            Box::new((id, error))
        };
        let InputLine::Bytes(bytes) = line else {
            let why = format!("the line is longer than the allowed {LINE_MAX} bytes");
            return Err(refused(Value::Null, why));
        };
        let value: Value = serde_json::from_slice(&bytes)
            .map_err(|error| refused(Value::Null, format!("the line is not JSON: {error}")))?;
        let id = value.get("id").or_else(|| value.get("call_id")).cloned().unwrap_or_default();
        let tool = match value.get("args") {
            Some(_) => None,
            None => ToolCall::from_json(&value).map_err(|error| Box::new((id.clone(), error)))?,
        };
        let refused =
            |why: String| refused(id.clone(), format!("the line is not a request: {why}"));
        let rest = match &tool {
            // What stands beside a call is the interface's, except for what a line may have.
            Some(_) => Value::Object(beside_call(&value)),
            None => value,
        };
        let request: Self =
            serde_json::from_value(rest).map_err(|error| refused(error.to_string()))?;
        Ok(Self { id: id.clone(), tool, ..request })
    }

    /// Parses the command line and decides how it is answered.
    ///
    /// # Errors
    /// The command line can't be parsed, or its verb doesn't have exactly one answer.
    pub fn action(self, process: &Requester) -> Result<RequestAction, ClientError> {
        if let Some(call) = &self.tool {
            let requester = self.requester(process, GlobalArgs::default());
            return tool_action(&requester, call.to_request(&ToolEnv(&self))?);
        }
        let words: Vec<OsString> = std::iter::once("pipemux")
            .chain(self.args.iter().map(String::as_str))
            .map(Into::into)
            .collect();
        let parsed = fast_args::parse(&words).map_or_else(|| Cli::try_parse_from(&words), Ok);
        let cli = match parsed {
            Ok(cli) => cli.resolve(),
            Err(error) if error.kind() == ErrorKind::DisplayHelp && is_help_of_program(&words) => {
                return Ok(RequestAction::Text { text: guide::help() });
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) =>
            {
                return Ok(RequestAction::Text { text: error.render().to_string() });
            }
            Err(error) => {
                let words: Vec<&str> = self.args.iter().map(String::as_str).collect();
                return Err(usage_errors::explain(&error, &words));
            }
        };
        let requester = self.requester(process, cli.global);
        let Some(verb) = cli.verb else { return Ok(RequestAction::Text { text: guide::help() }) };
        if let Some(text) = help_of_verb(&verb, &requester.options) {
            return Ok(RequestAction::Text { text });
        }
        let verb = match to_request(verb, &self)? {
            Execution::Request(verb) => verb,
            Execution::Local(Verb::Listen) => match listen::to_request(&self)? {
                Message::Blocks(verb) => verb,
                Message::Call(request) => return tool_action(&requester, request),
                Message::Nothing => {
                    return Ok(RequestAction::Text { text: listen::NO_BLOCKS.to_owned() + "\n" });
                }
            },
            Execution::Local(Verb::Up | Verb::Status { limits: false }) => RequestVerb::Status,
            Execution::Local(Verb::Status { limits: true }) => RequestVerb::Limits,
            Execution::Local(Verb::Down { stay: false }) => RequestVerb::Down,
            Execution::Local(
                verb @ (Verb::Help { .. }
                | Verb::Skill
                | Verb::ToolSchema { .. }
                | Verb::Completions { .. }),
            ) => {
                let text = local_text(&verb).unwrap_or_default();
                return Ok(RequestAction::Text { text });
            }
            Execution::Local(Verb::Unknown(words)) => {
                return Err(suggestions::unknown_verb(&words, &requester.options));
            }
            Execution::Local(_) => {
                let verb = self.args.first().map_or("", String::as_str);
                let why =
                    format!("`{verb}` can't be used in a pipe: it doesn't give exactly one answer");
                let hint = format!(
                    "run it as a process of its own: pipemux {verb} · or wait for a change: view --wait 60"
                );
                return Err(ClientError::invalid(why).hint(hint));
            }
        };
        let timeout = requester.timeout_for(&verb);
        let mut call = requester.call(verb);
        if self.cwd.is_some() {
            call.cwd = self.directory_text()?;
        }
        if self.env.is_some() && call.verb.may_open() {
            call.env = passed_variables(self.variables());
        }
        let json = requester.global.json;
        Ok(RequestAction::Call { call: Box::new(call), timeout, json })
    }

    /// Combines the request's own settings with those of this process; the request takes
    /// precedence.
    fn requester(&self, process: &Requester, global: GlobalArgs) -> Requester {
        let mut requester = process.clone();
        let options = &mut requester.options;
        let variable = |name: &str| self.env.as_ref().and_then(|env| env.get(name)).cloned();
        let named = global.workspace.clone().or_else(|| self.workspace.clone());
        let named = named.or_else(|| variable("PIPEMUX_WORKSPACE"));
        let own = process.global.workspace.clone();
        let own = own.or_else(|| std::env::var("PIPEMUX_WORKSPACE").ok());
        match (named, &self.cwd) {
            (Some(name), _) => options.workspace = workspace::find(Some(&name), None),
            (None, Some(cwd)) if own.is_none_or(|name| name.is_empty()) => {
                // Symbolic links are resolved, so that a project has one workspace however it is
                // reached.
                let cwd = cwd.canonicalize().ok();
                options.workspace = workspace::find(None, cwd.as_deref());
            }
            (None, _) => {}
        }
        let reader = global.reader.clone().or_else(|| self.reader.clone());
        let reader = reader.or_else(|| variable("PIPEMUX_READER")).filter(|name| !name.is_empty());
        let token = global.reader_token.clone().or_else(|| variable("PIPEMUX_READER_TOKEN"));
        // The token of this process belongs to its own reader.
        let own = reader.as_ref().is_none_or(|reader| *reader == options.reader);
        let own = own.then(|| options.reader_token.clone());
        options.reader_token = token.or(own).unwrap_or_default();
        options.reader = reader.unwrap_or_else(|| options.reader.clone());
        options.timeout = global.timeout.unwrap_or(options.timeout);
        let json = global.json || self.json;
        requester.global = GlobalArgs { json, ..global };
        requester
    }
}

/// Returns the fields of a line that aren't the call's own, as those of a request without a command
/// line.
fn beside_call(value: &Value) -> serde_json::Map<String, Value> {
    let names = ["cwd", "workspace", "reader", "env", "json"];
    let field = |name: &str| Some((name.to_owned(), value.get(name)?.clone()));
    let args = ("args".to_owned(), Value::Array(Vec::new()));
    names.into_iter().filter_map(field).chain([args]).collect()
}

fn tool_action(requester: &Requester, request: ToolRequest) -> Result<RequestAction, ClientError> {
    match request {
        ToolRequest::Text(text) => Ok(RequestAction::Text { text }),
        ToolRequest::Verb(verb) => {
            let (call, timeout) = requester.tool_call(*verb);
            let json = requester.global.json;
            Ok(RequestAction::Call { call: Box::new(call), timeout, json })
        }
    }
}

impl CommandEnv for PipeRequest {
    fn stdin(&self, most: usize) -> Result<String, ClientError> {
        let Some(text) = &self.stdin else {
            return Err(ClientError::invalid(
                "there is no standard input: expected \"stdin\" in the request",
            )
            .hint(r#"{"id": 1, "args": ["run", "editor.insert(3, text=stdin)"], "stdin": "…"}"#));
        };
        match text.len() > most {
            true => {
                Err(ClientError::invalid(format!("stdin is longer than the allowed {most} bytes"))
                    .hint("split it over several runs"))
            }
            false => Ok(text.clone()),
        }
    }

    fn has_own_input(&self) -> bool {
        self.stdin.as_ref().is_some_and(|text| !text.is_empty())
    }

    fn leave_input(&self) -> Result<(), ClientError> {
        match self.has_own_input() {
            true => Err(ClientError::invalid(UNUSED_INPUT)),
            false => Ok(()),
        }
    }

    fn directory(&self) -> Result<PathBuf, ClientError> {
        match &self.cwd {
            Some(path) if path.is_absolute() => Ok(path.clone()),
            Some(path) => {
                let why = format!("cwd is `{}`: expected an absolute path", path.display());
                Err(ClientError::invalid(why))
            }
            None => ProcessEnv { timeout: Duration::ZERO }.directory(),
        }
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        match &self.env {
            Some(env) => env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            None => std::env::vars_os().collect(),
        }
    }
}
