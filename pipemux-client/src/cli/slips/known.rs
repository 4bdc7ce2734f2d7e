//! What is known of apps and of verbs besides the verbs that there are.

use std::time::Duration;

use pipemux_client::Options;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Body, Format, Verb};
use pipemux_client::proto::value::Value;

/// The apps that come with this release.
pub const BUILT_IN: &[&str] = &["editor", "notebook", "monitor"];

/// How long the daemon may take for each of connecting and answering: a better hint is worth no wait.
const PATIENCE: Duration = Duration::from_millis(500);

/// Names that are no verbs, but actions that come to mind without their app.
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

/// Verbs to come, each with what there is instead.
const ABSENT: &[(&str, &str)] = &[
    ("app", "pipemux apps"),
    ("completions", "pipemux --help"),
    ("doctor", "pipemux status"),
    ("man", "pipemux --help"),
    ("mcp", "pipemux --help"),
    ("watch", "pipemux view"),
];

/// The names of the registered apps when a daemon is up and says so, else of the built-in ones.
pub fn apps(options: &Options) -> Vec<String> {
    registered(options).unwrap_or_else(|| BUILT_IN.iter().map(|&app| app.to_owned()).collect())
}

/// The app that has the action, as far as that is known here.
pub fn owner_of(action: &str) -> Option<&'static str> {
    ACTIONS.iter().find(|(name, _)| *name == action).map(|(_, app)| *app)
}

/// For a verb that this release lacks, the command that comes nearest.
pub fn instead_of_absent(verb: &str) -> Option<&'static str> {
    ABSENT.iter().find(|(name, _)| *name == verb).map(|(_, instead)| *instead)
}

fn registered(options: &Options) -> Option<Vec<String>> {
    let mut connection = Connection::find_within(options, PATIENCE).ok()??;
    let mut call = options.call(Verb::Apps);
    call.format = Format::Json;
    let answer = connection.call(&call, PATIENCE).ok()?;
    let Body::Data(Value::List(apps)) = answer.body else { return None };
    let name = |app: &Value| app.get("id").and_then(Value::as_str).map(str::to_owned);
    Some(apps.iter().filter_map(name).collect())
}
