//! A line, read as the command line that it is.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use clap::error::ErrorKind;
use pipemux_client::proto::client::{Call, Verb as Wanted};
use pipemux_client::{ClientError, workspace};
use serde::Deserialize;
use serde_json::Value;

use super::streams::{LINE_MAX, Line};
use crate::cli::args::{Cli, Verb};
use crate::cli::around::{Around, Process};
use crate::cli::ask::Asker;
use crate::cli::wanted::{Means, wanted};
use crate::cli::{help_text, listen, misread, quick, slips};

/// What a request looks like, for whoever sent something else.
const EXAMPLE: &str = r#"{"id": 1, "args": ["run", "editor.save()"]}"#;

/// One line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Comes back in its answer.
    #[serde(default)]
    pub id: Value,
    /// What stands behind `pipemux` on a command line.
    args: Vec<String>,
    /// Standard input.
    stdin: Option<String>,
    /// The current directory; else that of this process.
    cwd: Option<PathBuf>,
    /// As `--workspace`.
    workspace: Option<String>,
    /// As `--reader`.
    reader: Option<String>,
    /// The environment; else that of this process.
    env: Option<BTreeMap<String, String>>,
    /// As `--json`.
    #[serde(default)]
    pub json: bool,
}

/// What is done about a line.
#[derive(Debug)]
pub enum Asked {
    /// The daemon is asked.
    Call {
        /// What.
        call: Box<Call>,
        /// How long it may take.
        timeout: Duration,
        /// True when it is answered with data.
        json: bool,
    },
    /// It is answered here.
    Text {
        /// With this.
        text: String,
    },
}

impl Request {
    /// Reads a line; what is wrong with it comes with the id, as far as there is one.
    pub fn read(line: Line) -> Result<Self, Box<(Value, ClientError)>> {
        let refused = |id, why: String| {
            let error = ClientError::invalid(why).hint(format!("expected, on one line: {EXAMPLE}"));
            Box::new((id, error))
        };
        let Line::Bytes(bytes) = line else {
            let why = format!("the line is longer than the {LINE_MAX} bytes that are read");
            return Err(refused(Value::Null, why));
        };
        let value: Value = serde_json::from_slice(&bytes)
            .map_err(|error| refused(Value::Null, format!("the line is no JSON: {error}")))?;
        let id = value.get("id").cloned().unwrap_or_default();
        serde_json::from_value(value)
            .map_err(|error| refused(id, format!("the line is no request: {error}")))
    }

    /// What the daemon is asked.
    ///
    /// # Errors
    /// The command line can't be read, or is one that isn't answered once.
    pub fn asked(self, process: &Asker) -> Result<Asked, ClientError> {
        let words: Vec<OsString> = std::iter::once("pipemux")
            .chain(self.args.iter().map(String::as_str))
            .map(Into::into)
            .collect();
        let read = quick::read(&words).map_or_else(|| Cli::try_parse_from(&words), Ok);
        let cli = match read {
            Ok(cli) => cli,
            Err(error)
                if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) =>
            {
                return Ok(Asked::Text { text: error.render().to_string() });
            }
            Err(error) => {
                let words: Vec<&str> = self.args.iter().map(String::as_str).collect();
                return Err(misread::explained(&error, &words));
            }
        };
        let asker = self.asker(process, cli.global);
        let Some(verb) = cli.verb else { return Ok(Asked::Text { text: help_text() }) };
        let verb = match wanted(verb, &self)? {
            Means::Request(verb) => verb,
            Means::More(Verb::Listen) => match listen::asked(&self)? {
                Some(verb) => verb,
                None => return Ok(Asked::Text { text: listen::NOTHING.to_owned() + "\n" }),
            },
            Means::More(Verb::Status { limits: false }) => Wanted::Status,
            Means::More(Verb::Status { limits: true }) => Wanted::Limits,
            Means::More(Verb::Down) => Wanted::Down,
            Means::More(Verb::Help { .. }) => return Ok(Asked::Text { text: help_text() }),
            Means::More(Verb::Other(words)) => {
                return Err(slips::corrected(&words, &asker.options));
            }
            Means::More(_) => {
                let verb = self.args.first().map_or("", String::as_str);
                let why = format!("`{verb}` isn't answered once: expected another verb in a pipe");
                let hint = format!(
                    "run it beside this: pipemux {verb} · or wait for a change: view --wait 60"
                );
                return Err(ClientError::invalid(why).hint(hint));
            }
        };
        let timeout = asker.time_for(&verb);
        let mut call = asker.call(verb);
        if self.cwd.is_some() {
            call.cwd = self.cwd()?;
        }
        let json = asker.global.json;
        Ok(Asked::Call { call: Box::new(call), timeout, json })
    }

    /// Who asks, where: the line's word counts, else that of this process.
    fn asker(&self, process: &Asker, global: crate::cli::args::Global) -> Asker {
        let mut asker = process.clone();
        let options = &mut asker.options;
        let variable = |name: &str| self.env.as_ref().and_then(|env| env.get(name)).cloned();
        let named = global.workspace.clone().or_else(|| self.workspace.clone());
        let named = named.or_else(|| variable("PIPEMUX_WORKSPACE"));
        let ours = process.global.workspace.clone();
        let ours = ours.or_else(|| std::env::var("PIPEMUX_WORKSPACE").ok());
        match (named, &self.cwd) {
            (Some(name), _) => options.workspace = workspace::find(Some(&name), None),
            (None, Some(cwd)) if ours.is_none_or(|name| name.is_empty()) => {
                // Whichever link led there: the same project is the same desk.
                let cwd = cwd.canonicalize().ok();
                options.workspace = workspace::find(None, cwd.as_deref());
            }
            (None, _) => {}
        }
        let reader = global.reader.clone().or_else(|| self.reader.clone());
        let reader = reader.or_else(|| variable("PIPEMUX_READER")).filter(|name| !name.is_empty());
        options.reader = reader.unwrap_or_else(|| options.reader.clone());
        options.timeout = global.timeout.unwrap_or(options.timeout);
        let json = global.json || self.json;
        asker.global = crate::cli::args::Global { json, ..global };
        asker
    }
}

impl Around for Request {
    fn stdin(&self, most: usize) -> Result<String, ClientError> {
        let Some(text) = &self.stdin else {
            return Err(ClientError::invalid(
                "there is no standard input: expected it in the request",
            )
            .hint(r#"{"id": 1, "args": ["run", "editor.insert(3, text=stdin)"], "stdin": "…"}"#));
        };
        match text.len() > most {
            true => Err(ClientError::invalid(format!(
                "stdin is longer than the {most} bytes that are allowed"
            ))
            .hint("split it over several runs")),
            false => Ok(text.clone()),
        }
    }

    fn directory(&self) -> Result<PathBuf, ClientError> {
        match &self.cwd {
            Some(path) if path.is_absolute() => Ok(path.clone()),
            Some(path) => {
                let why = format!("cwd is `{}`: expected an absolute path", path.display());
                Err(ClientError::invalid(why))
            }
            None => Process { timeout: Duration::ZERO }.directory(),
        }
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        match &self.env {
            Some(env) => env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            None => std::env::vars_os().collect(),
        }
    }
}
