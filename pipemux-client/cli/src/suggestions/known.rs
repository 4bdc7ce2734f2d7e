//! Known apps and their actions.

use std::time::Duration;

use pipemux_catalog::APPS;
use pipemux_client::Options;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Body, Format, Verb};
use pipemux_client::proto::prototype::Prototype;
use pipemux_client::proto::value::Value;

/// The time limit for connecting, and then for the answer. Hints aren't worth more.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Most sessions that an error names.
const SESSIONS_MAX: usize = 8;

/// Returns the names of the registered apps if a running daemon lists them, else those of the
/// built-in apps.
pub fn apps(options: &Options) -> Vec<String> {
    registered_apps(options).unwrap_or_else(|| APPS.iter().map(|app| app.id.to_owned()).collect())
}

/// Returns the built-in app that has an action of that name which so many words may be the
/// arguments of: of several, the one that does most.
pub fn app_of_action(action: &str, words: usize) -> Option<&'static str> {
    let takes = |one: &Prototype| {
        let required = one.params.iter().filter(|param| param.is_required()).count();
        one.written_name() == action && required <= words
    };
    APPS.iter().find(|app| app.prototypes().iter().any(takes)).map(|app| app.id)
}

/// Returns true for the name of an action of a built-in app.
pub fn is_action(name: &str) -> bool {
    APPS.iter().any(|app| app.prototypes().iter().any(|one| one.written_name() == name))
}

/// Returns the first sessions that a running daemon lists, at most [`SESSIONS_MAX`].
pub fn sessions(options: &Options) -> Vec<String> {
    let mut sessions = listed(options, Verb::Sessions, "session").unwrap_or_default();
    sessions.truncate(SESSIONS_MAX);
    sessions
}

/// Returns the names of the registered apps if a running daemon lists them.
pub fn registered_apps(options: &Options) -> Option<Vec<String>> {
    listed(options, Verb::Apps, "id")
}

/// Returns a field of each thing that a running daemon lists.
fn listed(options: &Options, verb: Verb, field: &str) -> Option<Vec<String>> {
    let mut connection = Connection::open_existing_within(options, TIMEOUT).ok()??;
    let mut call = options.call(verb);
    call.format = Format::Json;
    let answer = connection.call(&call, TIMEOUT).ok()?;
    let Body::Data(Value::List(all)) = answer.body else { return None };
    let name = |one: &Value| one.get(field).and_then(Value::as_str).map(str::to_owned);
    Some(all.iter().filter_map(name).collect())
}
