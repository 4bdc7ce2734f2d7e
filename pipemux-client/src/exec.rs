//! The tools that models know already: a call as an interface gives it is carried out by PipeMux's apps, and answered in
//! the tool's own words and in the interface's own form.
//!
//! | module | holds |
//! |---|---|
//! | `exec` | the table of names, and what all tools have in common |
//! | `wire` | calls and results as the interfaces write them |
//! | `daemon`, `code` | runs calls of apps; writes such calls, with their arguments quoted |
//! | `edits` | what several tools do with files |
//! | `text` | numbered lines, and texts that are cut |
//! | `text_editor`, `bash`, `memory` | Anthropic's tools |
//! | `apply_patch`, `shell` | OpenAI's, as Codex words their answers |
//! | `filesystem`, `graph` | those of the MCP servers for files and for memory |
//! | `folders` | where a path leads, and what is below a folder |
//! | `pipemux` | PipeMux's own tools |

mod apply_patch;
mod bash;
mod code;
mod daemon;
mod edits;
mod filesystem;
mod folders;
mod graph;
mod memory;
mod pipemux;
mod shell;
mod text;
mod text_editor;
mod wire;

use pipemux_proto::Code as Kind;
use serde_json::{Map, Value};

use crate::error::ClientError;
use crate::options::Options;
use daemon::{Daemon, Stopped};
pub use wire::Call;

/// How a tool answers.
type Tool = fn(&Arguments<'_>, &mut Daemon) -> Outcome;

/// The tools by their names. PipeMux's own are apart: they take code.
const TOOLS: &[(&str, Tool)] = &[
    ("str_replace_based_edit_tool", text_editor::answer),
    ("str_replace_editor", text_editor::answer),
    ("text_editor", text_editor::answer),
    ("bash", bash::answer),
    ("memory", memory::answer),
    ("apply_patch", apply_patch::answer),
    ("apply_patch_call", apply_patch::operation),
    ("shell", shell::answer),
    ("shell_command", shell::answer),
    ("local_shell", shell::answer),
    ("container.exec", shell::answer),
    ("shell_call", shell::several),
    ("read_text_file", filesystem::read),
    ("read_file", filesystem::read),
    ("read_multiple_files", filesystem::read_several),
    ("write_file", filesystem::write),
    ("edit_file", filesystem::edit),
    ("create_directory", filesystem::create_directory),
    ("list_directory", filesystem::list),
    ("directory_tree", filesystem::tree),
    ("move_file", filesystem::move_file),
    ("search_files", filesystem::search),
    ("get_file_info", filesystem::info),
    ("list_allowed_directories", filesystem::allowed),
    ("create_entities", graph::answer),
    ("create_relations", graph::answer),
    ("add_observations", graph::answer),
    ("delete_entities", graph::answer),
    ("delete_observations", graph::answer),
    ("delete_relations", graph::answer),
    ("read_graph", graph::answer),
    ("search_nodes", graph::answer),
    ("open_nodes", graph::answer),
];

/// What a tool tells the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolAnswer {
    /// The text.
    pub text: String,
    /// True for an error.
    pub is_error: bool,
    /// Of commands: what each printed, and how it ended, for interfaces that want that apart.
    pub outputs: Vec<(String, Option<i64>)>,
    /// The kind of an error that the daemon told.
    kind: Option<Kind>,
}

impl ToolAnswer {
    fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true, ..Self::default() }
    }
}

/// A tool's answer, or why there is none.
type Outcome = Result<ToolAnswer, Failure>;

/// Why a tool didn't do what it was asked to.
#[derive(Debug)]
enum Failure {
    /// The model is told.
    Told(ToolAnswer),
    /// No daemon answers: the harness is told.
    Lost(ClientError),
}

impl From<ToolAnswer> for Failure {
    fn from(answer: ToolAnswer) -> Self {
        Self::Told(answer)
    }
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Told(fault) => {
                let hints = fault.hints.iter().map(String::as_str);
                let lines: Vec<_> = [fault.message.as_str()].into_iter().chain(hints).collect();
                let kind = Some(fault.code);
                Self::Told(ToolAnswer { kind, ..ToolAnswer::failed(lines.join("\n")) })
            }
            Stopped::Lost(error) => Self::Lost(error),
        }
    }
}

/// The arguments of a call.
#[derive(Debug, Clone, Copy)]
struct Arguments<'c> {
    tool: &'c str,
    map: &'c Map<String, Value>,
}

impl<'c> Arguments<'c> {
    fn wrong(&self, name: &str, expected: &str) -> Failure {
        let given = match self.map.get(name) {
            None => "is missing".to_owned(),
            Some(_) => format!("is not {expected}"),
        };
        ToolAnswer::failed(format!("{}: the parameter `{name}` {given}", self.tool)).into()
    }

    fn given(&self, name: &str) -> Option<&'c Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Result<&'c str, Failure> {
        self.optional_text(name)?.ok_or_else(|| self.wrong(name, "a text"))
    }

    fn optional_text(&self, name: &str) -> Result<Option<&'c str>, Failure> {
        let text = |value: &'c Value| value.as_str().ok_or_else(|| self.wrong(name, "a text"));
        self.given(name).map(text).transpose()
    }

    fn optional_number(&self, name: &str) -> Result<Option<i64>, Failure> {
        let number = |value: &Value| {
            let number = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok());
            number.ok_or_else(|| self.wrong(name, "an integer"))
        };
        self.given(name).map(number).transpose()
    }

    fn flag(&self, name: &str) -> bool {
        matches!(self.given(name), Some(Value::Bool(true)))
    }

    /// Returns integers; not given, or an empty list, is none.
    fn range(&self, name: &str) -> Result<Option<Vec<i64>>, Failure> {
        let Some(value) = self.given(name) else { return Ok(None) };
        let items = value.as_array().ok_or_else(|| self.wrong(name, "a list of integers"))?;
        let numbers: Option<Vec<i64>> = items.iter().map(Value::as_i64).collect();
        let numbers = numbers.ok_or_else(|| self.wrong(name, "a list of integers"))?;
        Ok(Some(numbers).filter(|numbers| !numbers.is_empty()))
    }
}

/// Carries out the calls of one reader.
#[derive(Debug)]
pub struct Executor {
    daemon: Daemon,
}

impl Executor {
    /// Makes one that connects with the first call, and starts the daemon if it is not running. Commands in hints repeat
    /// `hint_options`.
    pub fn new(options: Options, hint_options: String) -> Self {
        Self { daemon: Daemon::new(options, hint_options) }
    }

    /// Carries out a call, and returns its result as one line of JSON, in the form of the interface that the call came
    /// from.
    ///
    /// # Errors
    /// No daemon answers. What a tool can't do is a result, not an error.
    pub fn execute(&mut self, call: &Call) -> Result<String, ClientError> {
        let arguments = Arguments { tool: &call.name, map: &call.arguments };
        let tool = TOOLS.iter().find(|(name, _)| *name == call.name);
        let outcome = match tool {
            Some((_, tool)) => tool(&arguments, &mut self.daemon),
            None => pipemux::answer(&arguments, &mut self.daemon),
        };
        match outcome {
            Ok(answer) | Err(Failure::Told(answer)) => Ok(call.result(&answer).to_string()),
            Err(Failure::Lost(error)) => Err(error),
        }
    }

    /// Confirms what the newest results show, once they were written out.
    pub fn confirm(&mut self) {
        self.daemon.confirm();
    }
}

/// Returns the names of the tools that are understood.
pub fn names() -> Vec<&'static str> {
    let own = crate::tools::TOOLS.iter().map(|tool| tool.name);
    TOOLS.iter().map(|(name, _)| *name).chain(own).collect()
}
