//! `pipemux config`: where the person's rules are and what they say; `--write` begins the file with
//! each rule explained.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use pipemux_client::ClientError;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::Value;
use pipemux_client::proto::client::{Body, Format, Verb, VerbRequest};
use serde_json::json;

use super::requester::Requester;

/// The template that `--write` writes: every setting has a `#` before it.
const TEMPLATE: &str = include_str!("config/config.toml");

/// Shows the file of the person's rules, or with `write` begins it if it isn't there. Returns the
/// exit status.
///
/// # Errors
/// There is no home directory, or the file can't be read or written.
pub fn execute(requester: &Requester, write: bool) -> Result<u8, ClientError> {
    let path = path().ok_or_else(|| {
        ClientError::invalid("no directory for config.toml: none of PIPEMUX_CONFIG_DIR, XDG_CONFIG_HOME and HOME is an absolute path")
    })?;
    let shown = path.display();
    let failed = |error: io::Error| ClientError::invalid(format!("{shown}: {error}"));
    if write {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        let made = options.write(true).create_new(true).mode(0o600).open(&path);
        match made.and_then(|mut file| file.write_all(TEMPLATE.as_bytes())) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(failed)?,
        }
    }
    let text = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let says = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let rules: Vec<&str> = text.iter().flat_map(|text| text.lines()).filter(says).collect();
    let rest = match (&text, rules.as_slice()) {
        (None, _) => "not there: the defaults hold · pipemux config --write begins it".to_owned(),
        (_, []) => "says nothing yet: the defaults hold".to_owned(),
        (_, rules) => format!("{}\nchecked by: pipemux doctor", rules.join("\n")),
    };
    let in_force = in_force(requester).filter(|file| *file != path);
    let elsewhere = in_force.as_ref().map_or(String::new(), |file| {
        format!(
            "\nnot in force: the daemon was started where {} is the file · pipemux down, then pipemux up from here, to change that",
            file.display()
        )
    });
    let data = json!({ "path": path, "there": text.is_some(), "rules": rules.join("\n"), "in_force": in_force.as_ref().unwrap_or(&path) });
    Ok(requester.print_own(&format!("{shown}\n{rest}{elsewhere}"), &data))
}

/// Returns the file whose rules a running daemon follows.
fn in_force(requester: &Requester) -> Option<PathBuf> {
    let mut connection = Connection::open_existing(&requester.options).ok()??;
    let call = VerbRequest { format: Format::Json, ..requester.call(Verb::Status) };
    let answer = connection.call(&call, requester.timeout_for(&call.verb)).ok()?;
    let Body::Data(Value::Map(rows)) = answer.body else { return None };
    let row = rows.iter().find(|(name, _)| name == "rules_file")?;
    row.1.as_str().filter(|file| !file.is_empty()).map(PathBuf::from)
}

/// Returns the file's path, as the daemon finds it.
fn path() -> Option<PathBuf> {
    let absolute =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("PIPEMUX_CONFIG_DIR")
        .or_else(|| absolute("XDG_CONFIG_HOME").map(|base| base.join("pipemux")))
        .or_else(|| absolute("HOME").map(|home| home.join(".config/pipemux")))?;
    Some(folder.join("config.toml"))
}
