//! A verb's answer as data: what `--json` prints.

use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::fault::{Fault, Level};
use crate::value::Value;

/// The answer of `run`, `click`, `answer`, `open` and `view`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The workspace's name.
    pub workspace: String,
    /// Its epoch after the call.
    pub epoch: u64,
    /// What was carried out; empty for `view`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// What is asked, if something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Asked>,
    /// Windows: of an act those it invoked, of `view` what was asked for.
    #[serde(default)]
    pub windows: Vec<Context>,
    /// What the reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// Why nothing was carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
    /// Tokens.
    pub receipt: Receipt,
}

/// Tokens shown of tokens available, estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// In this answer.
    pub shown: u64,
    /// If everything were shown.
    pub available: u64,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It took effect.
    Done,
    /// It did not.
    Failed,
    /// It asks.
    Needs,
    /// It was not begun.
    Skipped,
    /// It was with the app when the app died or fell silent.
    Unknown,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The call as it was written.
    pub call: String,
    /// How it ended.
    pub status: Status,
    /// One line.
    #[serde(default)]
    pub brief: String,
    /// More.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
}

/// An open question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// For `answer --to`.
    pub id: u64,
    /// How much is needed: one answer, a choice, or further questions after this one.
    #[serde(default)]
    pub level: Level,
    /// What is asked.
    pub text: String,
    /// What may be answered.
    pub options: Vec<AnswerOption>,
    /// How many more options there are.
    #[serde(default)]
    pub unlisted: u64,
    /// Whole commands that answer it.
    pub hints: Vec<String>,
}

/// One way to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerOption {
    /// What it is.
    pub label: String,
    /// A link that chooses it.
    #[serde(rename = "ref")]
    pub link: String,
}
