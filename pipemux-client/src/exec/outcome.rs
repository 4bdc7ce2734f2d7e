//! What a tool answers, or why it didn't do what it was asked to.

use pipemux_proto::Code as Kind;

use super::daemon::Stopped;
use crate::error::ClientError;

/// The answer of a tool to the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolAnswer {
    /// The text.
    pub text: String,
    /// True for an error.
    pub is_error: bool,
    /// Of commands: what each printed, and how it ended, for interfaces that want that apart.
    pub outputs: Vec<(String, Option<i64>)>,
    /// The kind of an error that the daemon told.
    pub(super) kind: Option<Kind>,
}

impl ToolAnswer {
    pub(super) fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub(super) fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true, ..Self::default() }
    }
}

/// A tool's answer, or why there is none.
pub(super) type Outcome = Result<ToolAnswer, Failure>;

/// The reason why a tool failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The model is given this answer.
    Told(ToolAnswer),
    /// No daemon answers: the error is reported to the harness.
    Lost(ClientError),
}

impl From<ToolAnswer> for Failure {
    fn from(answer: ToolAnswer) -> Self {
        Self::Told(answer)
    }
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Told(fault) => {
                let hints = fault.hints.iter().map(String::as_str);
                let lines: Vec<_> = [fault.message.as_str()].into_iter().chain(hints).collect();
                let kind = Some(fault.code);
                Self::Told(ToolAnswer { kind, ..ToolAnswer::failed(lines.join("\n")) })
            }
            Stopped::Lost(error) => Self::Lost(error),
        }
    }
}
