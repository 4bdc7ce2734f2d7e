//! The options that every verb accepts.

use std::time::Duration;

use clap::{Args, ValueEnum};
use pipemux_client::proto::command;
use pipemux_client::proto::limits::HINT_OPTIONS_MAX;
use pipemux_client::proto::projection::Lod;

use super::values::{epoch, seconds, tokens};

/// Options of every verb.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options of every verb")]
pub struct GlobalArgs {
    /// Workspace [default: PIPEMUX_WORKSPACE, else the project around this directory]
    #[arg(long, global = true, value_name = "NAME")]
    pub workspace: Option<String>,
    /// Reader; each is shown only what it has not seen yet [default: PIPEMUX_READER]
    #[arg(long, global = true, value_name = "NAME")]
    pub reader: Option<String>,
    /// Token that is needed from now on to speak as this reader [default: PIPEMUX_READER_TOKEN]
    #[arg(long, global = true, value_name = "TOKEN")]
    pub reader_token: Option<String>,
    /// Print JSON instead of Markdown
    #[arg(long, global = true)]
    pub json: bool,
    /// Token budget for this answer; with `open`, the window's default
    #[arg(long, global = true, value_name = "TOKENS", value_parser = tokens, allow_negative_numbers = true)]
    pub budget: Option<u32>,
    /// Level of detail of this answer; with `open`, the window's default
    #[arg(long, global = true, ignore_case = true)]
    pub lod: Option<LodArg>,
    /// Epoch that refs and line numbers belong to, such as e17 [default: what you saw last]
    #[arg(long, global = true, value_name = "EPOCH", value_parser = epoch, allow_negative_numbers = true)]
    pub at: Option<u64>,
    /// Show the call of every link
    #[arg(long, global = true)]
    pub titles: bool,
    /// Time limit of the request [default: 30]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,
    /// How long the verb waits for the ends of jobs; only verbs that have an option for it.
    #[arg(skip)]
    pub job_wait: Option<Duration>,
}

impl GlobalArgs {
    /// Returns the options that commands in hints repeat: without them they would be another reader's, or of another
    /// workspace. They are quoted for a shell.
    pub fn hint_options(&self) -> String {
        let options = [("--workspace", &self.workspace), ("--reader", &self.reader)];
        let given = options.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        let words: Vec<&str> = given.flat_map(|(name, value)| [name, value]).collect();
        let options = command::join(&words);
        // Without the options a command is still of use.
        if options.len() > HINT_OPTIONS_MAX { String::new() } else { options }
    }
}

/// A level of detail as the user types it.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum LodArg {
    Gist,
    Summary,
    Full,
}

impl From<LodArg> for Lod {
    fn from(lod: LodArg) -> Lod {
        match lod {
            LodArg::Gist => Lod::Gist,
            LodArg::Summary => Lod::Summary,
            LodArg::Full => Lod::Full,
        }
    }
}
