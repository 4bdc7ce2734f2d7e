//! Drivers: who answers a turn when it isn't the reader of the window. Each runs on a thread of its
//! own.
//!
//! | module | purpose |
//! |---|---|
//! | `command` | a program: the payload on standard input, JSON on standard output |
//! | `acp` | an agent that speaks the Agent Client Protocol |
//! | `http` | an endpoint of the OpenAI-compatible chat API, streamed |
//! | `extract` | finds the answer in envelopes, fences and chatter |

pub mod acp;
pub mod command;
mod extract;
pub mod http;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pipemux_planner_course::turn::TurnKind;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::config::DriverSpec;

pub use extract::extract;

/// Tells a driver that nobody waits for it any more.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<Mutex<Running>>);

/// What runs until it is cancelled.
#[derive(Debug, Default)]
struct Running {
    is_cancelled: bool,
    /// The process group of the program.
    group: Option<Pid>,
    /// True if its driver tells the program, and ends it then.
    takes_leave: bool,
}

impl Running {
    fn kill(&self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Cancel {
    /// Cancels. A program is killed before this returns, but for one that takes its leave: its
    /// driver ends it.
    pub fn set(&self) {
        let mut running = self.running();
        running.is_cancelled = true;
        if !running.takes_leave {
            running.kill();
        }
    }

    /// Cancels, and kills the program before this returns, so that none is left behind when the
    /// session ends right after.
    pub fn kill(&self) {
        let mut running = self.running();
        running.is_cancelled = true;
        running.kill();
    }

    /// Returns true once it is cancelled.
    pub fn is_set(&self) -> bool {
        self.running().is_cancelled
    }

    /// Names the process group that is to end when this is cancelled; none once it is reaped.
    fn watch(&self, group: Option<Pid>) {
        let mut running = self.running();
        (running.group, running.takes_leave) = (group, false);
        if running.is_cancelled {
            running.kill();
        }
    }

    /// Leaves it to the driver to end the program when this is cancelled.
    fn take_leave(&self) {
        self.running().takes_leave = true;
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAnswer {
    /// For the record, which is shared.
    pub reason: String,
    /// What the driver said itself, which may be a secret: it is shown and logged, and stands in no
    /// file of the project.
    pub detail: String,
}

impl From<String> for NoAnswer {
    fn from(reason: String) -> Self {
        Self { reason, detail: String::new() }
    }
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.detail.is_empty() {
            true => f.write_str(&self.reason),
            false => write!(f, "{}: {}", self.reason, self.detail),
        }
    }
}

/// Asks a driver. A malformed answer is sent back once, with the reason.
///
/// # Errors
/// Why there is no answer.
pub fn ask(
    spec: &DriverSpec,
    kind: TurnKind,
    payload: &Value,
    key: Option<&str>,
    cancel: &Cancel,
) -> Result<Value, NoAnswer> {
    let mut asked = payload.clone();
    let mut first: Option<String> = None;
    loop {
        if cancel.is_set() {
            return Err("it was cancelled".to_owned().into());
        }
        let text = match spec {
            DriverSpec::Agent => return Err("the reader of the window answers".to_owned().into()),
            DriverSpec::Command { words, deadline, .. } => {
                command::run(words, &asked, *deadline, cancel)?
            }
            DriverSpec::Acp { words, deadline, .. } => acp::ask(words, &asked, *deadline, cancel)?,
            DriverSpec::Http { base_url, model, deadline, .. } => http::ask(
                &http::Endpoint { base_url, model, key, deadline: *deadline },
                &asked,
                cancel,
            )?,
        };
        let answer = extract(&text, kind).and_then(|answer| {
            kind.check_for(payload, &answer)?;
            Ok(answer)
        });
        match (answer, &first) {
            (Ok(answer), _) => return Ok(answer),
            (Err(why), None) => {
                let prompt = payload["my_prompt"].as_str().unwrap_or_default();
                asked["my_prompt"] =
                    format!("{prompt}\nYour last answer could not be used: {why}. Answer with the JSON only.").into();
                first = Some(why);
            }
            (Err(why), Some(first)) => {
                return Err(format!("malformed twice: {first}; then: {why}").into());
            }
        }
    }
}
