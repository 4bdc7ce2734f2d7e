//! Drivers: who answers a turn when it isn't the reader of the window. Each runs on a thread of its
//! own.
//!
//! | module | purpose |
//! |---|---|
//! | `command` | a program: the payload on standard input, JSON on standard output |
//! | `acp` | an agent that speaks the Agent Client Protocol |
//! | `http` | an endpoint of the OpenAI-compatible chat API, streamed |
//! | `extract` | finds the answer in envelopes, fences and chatter |
//! | `cancel`, `no_answer` | ends a driver that nobody waits for; why there is no answer |

pub mod acp;
mod cancel;
pub mod command;
mod extract;
pub mod http;
mod no_answer;

use pipemux_planner_course::turn::TurnKind;
use serde_json::Value;

use crate::config::DriverSpec;

pub use cancel::Cancel;
pub use extract::extract;
pub use no_answer::NoAnswer;

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
