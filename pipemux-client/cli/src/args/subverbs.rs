//! The verbs below `app` and `service`, with their arguments and help.

use std::path::PathBuf;

use clap::Subcommand;
use pipemux_client::proto::ProviderId;

use super::values::{lines, provider};
use crate::app_new::Language;

#[derive(Debug, Subcommand)]
pub enum AppVerb {
    /// Check a manifest, copy it to your apps, and register the app at once
    Add {
        /// A TOML file with at least `id` and `command`
        #[arg(value_name = "MANIFEST.TOML")]
        manifest: PathBuf,
        /// Replace another app that has the same id
        #[arg(long)]
        replace: bool,
    },
    /// Write an app to begin with, with its tests and its manifest
    ///
    ///   pipemux app new todo --lang python
    ///
    /// Makes a directory of that name. Python and TypeScript apps carry the kit with them; a Rust app is built on
    /// docui.
    #[command(verbatim_doc_comment)]
    New {
        /// The app's id, and the name of its directory
        #[arg(value_name = "NAME", value_parser = provider)]
        name: ProviderId,
        /// The language
        #[arg(long, value_enum, default_value_t = Language::Python)]
        lang: Language,
        /// The directory of docui, for Rust
        #[arg(long, value_name = "PATH")]
        docui: Option<PathBuf>,
    },
    /// Find what an app's author should mend
    ///
    /// Runs the app without a daemon, in empty directories, and speaks the protocol to it: windows, all
    /// actions with valid and invalid arguments, questions, sleep, kills, odd frames. Prints one line for
    /// each flaw: the place, the rule, what to do. The exit status is 0 if there is none, else 1.
    ///
    ///   pipemux app check todo.toml
    ///   pipemux app check todo.toml -- notes.md     with arguments of `open`
    ///
    /// What an action does outside of its directories is real: a destructive one is tried only on
    /// things that the check itself made.
    #[command(verbatim_doc_comment)]
    Check {
        /// A manifest, or the id of a registered app
        #[arg(value_name = "MANIFEST.TOML")]
        manifest: PathBuf,
        /// Arguments for the app's open; those that begin with - go after --
        #[arg(value_name = "ARGS")]
        args: Vec<String>,
        /// Try destructive actions on whatever the app shows
        #[arg(long)]
        destructive: bool,
    },
    /// Remove an app from your apps
    ///
    /// An app of the same id that comes with PipeMux is registered again.
    Remove {
        /// The app's id
        #[arg(value_name = "PROVIDER", value_parser = provider)]
        provider: ProviderId,
    },
}

#[derive(Debug, Subcommand)]
pub enum ServiceVerb {
    /// Write the units, enable them and start the socket; the next command starts the daemon
    Install {
        /// Only show what would be written and run
        #[arg(long)]
        dry_run: bool,
    },
    /// Stop the service with its daemon, and remove the units; your data stays
    Uninstall {
        /// Only show what would be removed and run
        #[arg(long)]
        dry_run: bool,
    },
    /// Tell whether the service is installed and what runs
    Status,
    /// Print the last lines of the daemon's log, from the journal where there is one
    Logs {
        /// Print new lines as they come
        #[arg(long, short)]
        follow: bool,
        /// Number of lines
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = lines, allow_negative_numbers = true)]
        lines: u32,
    },
    /// Link the place where clients look for the daemon to the socket of a packaged unit
    #[command(hide = true)]
    Link {
        /// The path of the unit's socket
        #[arg(value_name = "SOCKET")]
        socket: PathBuf,
        /// Take the link out
        #[arg(long)]
        remove: bool,
    },
}
