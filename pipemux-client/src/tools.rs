//! PipeMux as tools of a model: what a harness registers, and what a call of one of them asks the
//! daemon.
//!
//! | module | holds |
//! |---|---|
//! | `definitions` | the tools: names, descriptions, parameters, annotations |
//! | `code` | the code of a call: calls of apps, or one command such as `answer 1` or `view` |
//! | `request` | what a call asks of the daemon |
//! | `options` | the options of commands, and their words |
//! | `call` | a call as JSON, in the shapes that harnesses and the large interfaces use |
//!
//! A model that uses tools has no shell. So a command stands without the program's name, and hints
//! in its answers do, too; with the name it is understood as well.

mod call;
mod code;
mod definitions;
mod options;
mod request;

pub use call::{ModelMessage, ToolCall};
pub use code::help_topic;
pub use definitions::{ASK, CLOSE, OPEN, RUN, TOOLS, Tool};
pub use request::{CallerEnv, ToolRequest, ToolVerb};
