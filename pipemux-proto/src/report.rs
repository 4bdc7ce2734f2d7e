//! The answer of a verb as data: what `--json` prints.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::fault::{Fault, Level};
use crate::job::JobStatus;
use crate::value::Value;

/// The answer of `run`, `click`, `answer`, `open` and `view`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The workspace's name.
    pub workspace: String,
    /// The workspace's epoch after the call.
    pub epoch: u64,
    /// The steps of the run; empty for `view`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport>,
    /// The question that waits for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionReport>,
    /// All questions that `view` or `answer` shows, where several are open; `question` is the first
    /// of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<QuestionReport>,
    /// The kept steps of the failed run, to be run once its failed call is corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptReport>,
    /// The windows that a run called, or the requested windows of `view`.
    #[serde(default)]
    pub windows: Vec<Context>,
    /// The changes of the windows that the client has, in the order of its request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldReport>,
    /// The panels of the workspace document that are on, by name: what the daemon itself adds to
    /// it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub panels: BTreeMap<String, String>,
    /// The running jobs of these windows' sessions, and those that a step of the run started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobStatus>,
    /// Lines for the reader, for example that an app was restarted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// The reason why no step was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
    /// The token counts of the answer.
    pub receipt: TokenReceipt,
}

/// Estimated tokens: those shown, of those available.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenReceipt {
    /// The number of tokens of this answer.
    pub shown: u64,
    /// The number of tokens if everything were shown.
    pub available: u64,
    /// The tokens with which a whole context of a prompt begins as the last one of its reader did.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub same: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The changes shown to a client that has a version of a window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldReport {
    /// The window's session, or the name that the client used instead.
    pub window: String,
    /// What is shown.
    pub change: HeldChange,
    /// The version that the client has now, for its next request: `3.0.0`; absent when it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The reason why the changes can't be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
}

/// The extent to which a window is shown to a client that has a version of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldChange {
    /// Nothing is shown, because the client has the current version.
    Unchanged,
    /// The changes are shown; as data, the whole window.
    Changed,
    /// The whole window is shown.
    Whole,
    /// Nothing or a part is shown, and the client has no version of the window.
    #[default]
    Lost,
}

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// The step took effect.
    Done,
    /// The step didn't succeed.
    Failed,
    /// The step waits for the answer to a question.
    Needs,
    /// The step wasn't begun.
    Skipped,
    /// The app died or fell silent during the step, so its outcome is unknown.
    Unknown,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// The call as it was written.
    pub call: String,
    /// The label and the session of the clicked link, if the call is a click.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clicked: Option<String>,
    /// The result.
    pub status: StepStatus,
    /// The result in one line.
    #[serde(default)]
    pub brief: String,
    /// Multi-line detail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The further contents of the step as Markdown, such as the result of a query.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// The action's return value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The number of the job that the step started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u64>,
    /// The reason why the step failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
}

/// A question that waits for an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct QuestionReport {
    /// The number for `answer --to`.
    pub id: u64,
    /// The needed effort: one answer, a choice, or further questions after this one.
    #[serde(default)]
    pub level: Level,
    /// The question.
    pub text: String,
    /// The listed options.
    pub options: Vec<AnswerOption>,
    /// The number of further options.
    #[serde(default)]
    pub unlisted: u64,
    /// The fields of a form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldReport>,
    /// True when the answer is never printed, logged or kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// Whole commands that answer the question.
    pub hints: Vec<String>,
}

/// A field of a form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FieldReport {
    /// The name by which the field is answered.
    pub name: String,
    /// The type, as declarations show it: `'todo'|'done'`.
    #[serde(rename = "type")]
    pub ty: String,
    /// What the field means.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// True when the form stays open without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// The value of an absent field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The value that was already given, in the call syntax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// True when the value is never printed, logged or kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// The things to choose from, in the call syntax.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<AnswerOption>,
}

/// The steps after a failed one, which wait for a corrected call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptReport {
    /// The number for `answer --to`.
    pub id: u64,
    /// The steps as they were written, each on one line; long input is given by its size.
    #[serde(default)]
    pub steps: Vec<String>,
    /// The length of the standard input that is kept with the steps, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<u64>,
    /// Whole commands that go on with them or drop them.
    pub hints: Vec<String>,
}

/// A possible answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerOption {
    /// The option's text.
    pub label: String,
    /// The rest of the option's line, which distinguishes it from others with the same text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// A link that chooses the option.
    #[serde(rename = "ref")]
    pub link: String,
}
