//! The tools that models know already: a call as an interface gives it is carried out by PipeMux's
//! apps, and answered in the tool's own words and in the interface's own form.
//!
//! | module | holds |
//! |---|---|
//! | `exec` | the table of names, and what all tools have in common |
//! | `arguments`, `outcome` | what a tool is given, and what it answers |
//! | `wire` | calls and results as the interfaces write them |
//! | `daemon`, `code` | runs calls of apps; writes such calls, with their arguments quoted |
//! | `edits` | what several tools do with files |
//! | `text` | numbered lines, and texts that are cut |
//! | `text_editor`, `bash`, `memory` | Anthropic's tools |
//! | `apply_patch`, `shell` | OpenAI's, as Codex words their answers |
//! | `filesystem` | those of the MCP server for files |
//! | `folders` | where a path leads, and what is below a folder |
//! | `pipemux` | PipeMux's own tools |

mod apply_patch;
mod arguments;
mod bash;
mod code;
mod daemon;
mod edits;
mod filesystem;
mod folders;
mod memory;
mod outcome;
mod pipemux;
mod shell;
mod text;
mod text_editor;
mod wire;

use crate::error::ClientError;
use crate::options::Options;
use crate::tools::Tool;
use arguments::Arguments;
use daemon::Daemon;
pub use outcome::ToolAnswer;
use outcome::{Failure, Outcome};
pub use wire::Call;

/// Carries out a call of a tool.
type Answer = fn(&Arguments<'_>, &mut Daemon) -> Outcome;

/// The tools by their names. PipeMux's own are apart: they take code.
const TOOLS: &[(&str, Answer)] = &[
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
];

/// Carries out the calls of one reader.
#[derive(Debug)]
pub struct Executor {
    daemon: Daemon,
}

impl Executor {
    /// Makes one that connects with the first call, and starts the daemon if it is not running.
    /// Commands in hints repeat `hint_options`.
    pub fn new(options: Options, hint_options: String) -> Self {
        Self { daemon: Daemon::new(options, hint_options) }
    }

    /// Carries out a call, and returns its result as one line of JSON, in the form of the interface
    /// that the call came from.
    ///
    /// # Errors
    /// No daemon answers. What a tool can't do is a result, not an error.
    pub fn execute(&mut self, call: &Call) -> Result<String, ClientError> {
        let arguments = Arguments { tool: &call.name, map: &call.arguments };
        let tool = TOOLS.iter().find(|(name, _)| *name == call.name);
        let outcome = match tool {
            Some((_, tool)) => tool(&arguments, &mut self.daemon),
            None => match Tool::named(&call.name) {
                Some(tool) => pipemux::answer(tool, &arguments, &mut self.daemon),
                None => {
                    let (name, known) = (&call.name, names().join(", "));
                    let why = format!("there is no tool {name}; there are {known}");
                    Err(ToolAnswer::failed(why).into())
                }
            },
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
