//! Asks an agent that speaks the Agent Client Protocol: JSON-RPC 2.0, a message a line, on its
//! standard input and output.
//!
//! A role says what it thinks, and does nothing: the agent's session is in an empty folder,
//! permissions are refused, and neither files nor terminals are offered. What the agent does
//! without asking is bounded by its own settings and the sandbox.
//!
//! The messages are written here, because the protocol's crate is asynchronous, bounds neither a
//! message nor a wait, and brings 12 crates for three requests.

mod process;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use docui::deadline;
use pipemux_planner_course::ordered;
use serde_json::{Value, json};

use self::process::{Next, Process};
use super::cancel::Cancel;
use super::command;
use super::no_answer::NoAnswer;
use crate::limits::{ACP_LEAVE, DRIVER_OUTPUT_MAX};

/// The supported version of the protocol.
const VERSION: u64 = 1;

/// The error code of an agent that needs a login.
const AUTH_REQUIRED: i64 = -32_000;

/// The error code for an unsupported method.
const NO_SUCH_METHOD: i64 = -32_601;

/// The instruction that an agent gets before the payload.
const TASK: &str =
    "Do what my_prompt says. You have no tools, and need none: all that counts is below.";

/// Asks an agent, and returns what it said.
///
/// # Errors
/// It can't be started, fails, wants a login, takes too long, sends too much, or was cancelled.
pub fn ask(
    words: &[String],
    payload: &Value,
    deadline: Duration,
    cancel: &Cancel,
) -> Result<String, NoAnswer> {
    let folder = Folder::create().map_err(|error| format!("no folder for a session: {error}"))?;
    let mut agent = Agent::start(words, deadline, cancel)?;
    let turn = agent.turn(&folder.0, payload);
    if turn.is_err() {
        agent.leave();
    }
    let (exit, detail) = agent.process.end(matches!(turn, Err(Problem::Ended(_))));
    match turn {
        Ok(()) => Ok(std::mem::take(&mut agent.text)),
        Err(Problem::Other(why)) => Err(why),
        Err(Problem::Ended(method)) => {
            let how = exit.map_or("closed its output".to_owned(), |exit| command::how(exit.code()));
            let reason = format!("`{}` {how} before it answered {method}", agent.name);
            Err(NoAnswer { reason, detail })
        }
    }
}

/// An empty temporary folder, removed at the end of the turn.
struct Folder(PathBuf);

impl Folder {
    fn create() -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("planner-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            // One that is there already may be anybody's.
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return created.map(|()| Self(path)),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The reason why a turn failed.
enum Problem {
    /// The agent's standard output ended before the agent answered this request.
    Ended(&'static str),
    /// Any other reason.
    Other(NoAnswer),
}

impl<T: Into<NoAnswer>> From<T> for Problem {
    fn from(why: T) -> Self {
        Self::Other(why.into())
    }
}

/// A running agent and the state of its turn.
struct Agent<'a> {
    /// The agent's program name for display to the user.
    name: String,
    process: Process<'a>,
    cancel: &'a Cancel,
    deadline: Duration,
    end: Instant,
    /// The number of the latest request.
    requests: u64,
    session: Option<Value>,
    /// The login methods that the agent reports.
    logins: Vec<String>,
    /// The model's output so far.
    text: String,
    has_refused: bool,
    is_leaving: bool,
}

impl<'a> Agent<'a> {
    fn start(words: &'a [String], limit: Duration, cancel: &'a Cancel) -> Result<Self, String> {
        let program = words.first().map(Path::new).and_then(Path::file_name).unwrap_or_default();
        Ok(Self {
            name: program.to_string_lossy().into_owned(),
            process: Process::start(words, cancel)?,
            cancel,
            deadline: limit,
            end: deadline::after(limit),
            requests: 0,
            session: None,
            logins: Vec::new(),
            text: String::new(),
            has_refused: false,
            is_leaving: false,
        })
    }

    /// Has the agent answer a payload.
    fn turn(&mut self, folder: &Path, payload: &Value) -> Result<(), Problem> {
        let hello = self.request(
            "initialize",
            json!({
                "protocolVersion": VERSION,
                "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false},
                "clientInfo": {"name": "pipemux-planner", "title": "PipeMux planner", "version": env!("CARGO_PKG_VERSION")},
            }),
        )?;
        let version = &hello["protocolVersion"];
        if *version != VERSION {
            let (name, version) = (&self.name, short(version));
            return Err(format!("`{name}` speaks version {version} of ACP, the planner version {VERSION}: use another release of it").into());
        }
        self.logins = logins(&hello["authMethods"]);
        let made = self.request("session/new", json!({"cwd": folder, "mcpServers": []}))?;
        let session = made["sessionId"].as_str().map(Value::from);
        let session = session
            .ok_or_else(|| format!("`{}` answered session/new without a session", self.name))?;
        self.session = Some(session.clone());
        self.cancel.take_leave();
        let text = format!("{TASK}\n{}", ordered::line(payload));
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        let ended = self.request("session/prompt", prompt)?;
        let why = match ended["stopReason"].as_str() {
            Some("end_turn") => return Ok(()),
            Some(why @ ("max_tokens" | "max_turn_requests" | "refusal" | "cancelled")) => why,
            _ => "no reason that is known",
        };
        let after = if self.has_refused { " after it was refused a tool" } else { "" };
        Err(format!("`{}` stopped{after}: {why}", self.name).into())
    }

    /// Makes a request, and returns its result.
    fn request(&mut self, method: &'static str, params: Value) -> Result<Value, Problem> {
        self.requests += 1;
        let id = self.requests;
        self.process.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            if self.cancel.is_set() {
                return Err("it was cancelled".to_owned().into());
            }
            if Instant::now() >= self.end {
                let (name, limit) = (&self.name, self.deadline.as_secs());
                return Err(format!("`{name}` did not answer {method} within {limit} s").into());
            }
            let message = match self.receive(self.end)? {
                Next::Message(message) => message,
                Next::Nothing => continue,
                Next::End => return Err(Problem::Ended(method)),
            };
            if self.is_answer(&message) {
                // A turn that is over isn't left.
                self.session = None;
                let error = &message["error"];
                return match error.is_null() {
                    true => Ok(message["result"].clone()),
                    false => Err(self.refusal(method, error).into()),
                };
            }
        }
    }

    /// True if a message answers the last request.
    fn is_answer(&self, message: &Value) -> bool {
        let has_end = message.get("result").or(message.get("error")).is_some();
        has_end && message["method"].is_null() && message["id"] == self.requests
    }

    /// Waits a moment for a message, and serves it if it asks for something.
    fn receive(&mut self, until: Instant) -> Result<Next, Problem> {
        let next = self.process.receive(until).map_err(|why| format!("`{}` {why}", self.name))?;
        if let Next::Message(message) = &next {
            self.serve(message)?;
        }
        Ok(next)
    }

    /// Takes in what the agent says, and refuses what it asks for.
    fn serve(&mut self, message: &Value) -> Result<(), Problem> {
        let Some(method) = message["method"].as_str() else { return Ok(()) };
        let (params, update) = (&message["params"], &message["params"]["update"]);
        let is_ours = self.session.as_ref().is_some_and(|ours| *ours == params["sessionId"]);
        if method == "session/update" && is_ours && update["sessionUpdate"] == "agent_message_chunk"
        {
            self.text += update["content"]["text"].as_str().unwrap_or_default();
            if self.text.len() > DRIVER_OUTPUT_MAX {
                let name = &self.name;
                return Err(format!("`{name}` said more than {DRIVER_OUTPUT_MAX} bytes").into());
            }
        }
        let Some(id) = message.get("id") else { return Ok(()) };
        let answer = match method {
            "session/request_permission" => {
                self.has_refused = true;
                let options = params["options"].as_array().map(Vec::as_slice).unwrap_or_default();
                let reject = options.iter().find(|one| one["kind"] == "reject_once");
                let outcome = match reject.filter(|_| !self.is_leaving) {
                    Some(option) => json!({"outcome": "selected", "optionId": option["optionId"]}),
                    None => json!({"outcome": "cancelled"}),
                };
                json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}})
            }
            _ => {
                let error =
                    json!({"code": NO_SUCH_METHOD, "message": "The planner doesn't offer this."});
                json!({"jsonrpc": "2.0", "id": id, "error": error})
            }
        };
        self.process.send(&answer);
        Ok(())
    }

    /// Says why a request was answered with an error.
    fn refusal(&self, method: &str, error: &Value) -> NoAnswer {
        self.process.log(&format!("{method}: {error}"));
        let code = error["code"].as_i64().unwrap_or_default();
        let said = [&error["data"]["details"], &error["data"], &error["message"]];
        let said = said.into_iter().find_map(Value::as_str).unwrap_or_default().to_owned();
        let name = &self.name;
        let (reason, detail) = match code {
            AUTH_REQUIRED => {
                let logins = self.logins.iter().cloned().chain([said]);
                let logins = logins.collect::<Vec<_>>().join("; ");
                (format!("`{name}` wants a login: log in with its own program"), logins)
            }
            _ => (format!("`{name}` refused {method} (error {code})"), said),
        };
        NoAnswer { reason, detail }
    }

    /// Tells the agent that its turn is over, and gives it a moment to end it.
    fn leave(&mut self) {
        let Some(session) = self.session.clone() else { return };
        self.is_leaving = true;
        let params = json!({"sessionId": session});
        self.process.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}));
        let until = deadline::after(ACP_LEAVE);
        while Instant::now() < until {
            match self.receive(until) {
                Ok(Next::Message(message)) if !self.is_answer(&message) => {}
                Ok(Next::Nothing) => {}
                _ => return,
            }
        }
    }
}

/// Returns a text as it is, and any other value as JSON.
fn short(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the ways to log in, as the agent describes them.
fn logins(methods: &Value) -> Vec<String> {
    let methods = methods.as_array().map(Vec::as_slice).unwrap_or_default();
    let said =
        |one: &Value| one["description"].as_str().or(one["name"].as_str()).map(str::to_owned);
    methods.iter().filter_map(said).collect()
}
