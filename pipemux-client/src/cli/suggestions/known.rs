//! Known apps, their frequent actions, and verbs that this release lacks.

use std::time::Duration;

use pipemux_client::Options;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Body, Format, Verb};
use pipemux_client::proto::value::Value;

/// The apps that come with this release.
pub const BUILT_IN: &[&str] = &["editor", "notebook", "monitor"];

/// How long the daemon may take to connect, and then to answer. A better hint isn't worth a longer wait.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Actions that people type as if they were verbs, each with its app.
const ACTIONS: &[(&str, &str)] = &[
    ("add", "notebook"),
    ("delete_lines", "editor"),
    ("diff", "editor"),
    ("find", "editor"),
    ("goto", "editor"),
    ("insert", "editor"),
    ("redo", "editor"),
    ("replace", "editor"),
    ("replace_lines", "editor"),
    ("save", "editor"),
    ("save_as", "editor"),
    ("search", "notebook"),
    ("undo", "editor"),
];

/// Verbs that this release lacks, each with the command that comes nearest.
const MISSING_VERBS: &[(&str, &str)] =
    &[("completions", "pipemux --help"), ("man", "pipemux --help"), ("mcp", "pipemux --help")];

/// Returns the names of the registered apps if a running daemon lists them, else those of the built-in apps.
pub fn apps(options: &Options) -> Vec<String> {
    registered_apps(options).unwrap_or_else(|| BUILT_IN.iter().map(|&app| app.to_owned()).collect())
}

/// Returns the app that has the action, if it is in the table of frequent actions.
pub fn app_of_action(action: &str) -> Option<&'static str> {
    ACTIONS.iter().find(|(name, _)| *name == action).map(|(_, app)| *app)
}

/// Returns the command that comes nearest to a verb that this release lacks.
pub fn instead_of_missing(verb: &str) -> Option<&'static str> {
    MISSING_VERBS.iter().find(|(name, _)| *name == verb).map(|(_, instead)| *instead)
}

fn registered_apps(options: &Options) -> Option<Vec<String>> {
    let mut connection = Connection::open_existing_within(options, TIMEOUT).ok()??;
    let mut call = options.call(Verb::Apps);
    call.format = Format::Json;
    let answer = connection.call(&call, TIMEOUT).ok()?;
    let Body::Data(Value::List(apps)) = answer.body else { return None };
    let name = |app: &Value| app.get("id").and_then(Value::as_str).map(str::to_owned);
    Some(apps.iter().filter_map(name).collect())
}
