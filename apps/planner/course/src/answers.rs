//! The types of speakers' answers, following the schemas of their turns.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::refusal::Refusal;
use crate::role::Role;

/// Reads an answer as its type.
///
/// # Errors
/// The answer has another form.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(answer: &Value) -> Result<T, Refusal> {
    serde_json::from_value(answer.clone()).map_err(|error| Refusal::new(error.to_string(), ""))
}

/// The purpose of an earlier plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// This brief refines it: its consensus is inherited.
    Refine,
    /// A new plan; the earlier one is shown as a reference.
    NewWithReference,
    /// A new plan that doesn't use the earlier one.
    New,
    /// The discussion continues from the point where it stopped.
    ContinueDiscussion,
    /// A purpose that the user states in their own words.
    Other,
    /// The coach can't determine the purpose: the user is asked.
    Unsure,
}

impl Intent {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refine => "refine",
            Self::NewWithReference => "new_with_reference",
            Self::New => "new",
            Self::ContinueDiscussion => "continue_discussion",
            Self::Other => "other",
            Self::Unsure => "unsure",
        }
    }
}

/// A role's verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// True agrees, false blocks, null has a concern.
    pub ok: Option<bool>,
    /// The reasons why the role agrees, blocks or has a concern.
    #[serde(default)]
    pub reasons: Vec<String>,
    #[serde(default)]
    pub suggestions: Vec<String>,
    /// The questions that the user must answer before the role can agree.
    #[serde(default)]
    pub blocking_open_questions: Vec<String>,
}

impl Verdict {
    /// Returns how the verdict is shown.
    pub fn word(&self) -> &'static str {
        match self.ok {
            Some(true) => "agree",
            Some(false) => "block",
            None => "concern",
        }
    }
}

/// The points of agreement and conflict of rounds 1 and 2.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extraction {
    #[serde(deserialize_with = "texts")]
    pub agreed_points: Vec<String>,
    #[serde(deserialize_with = "texts")]
    pub conflicting_points: Vec<String>,
}

/// A concern that a role maintains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserved {
    pub role: String,
    pub concern: String,
    /// `warning` or `error`.
    pub severity: String,
}

/// A topic on which roles disagree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disagreement {
    pub topic: String,
    /// What each role says, by its name.
    pub positions: BTreeMap<String, String>,
}

/// The outcome of the rounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Synthesis {
    #[serde(default, deserialize_with = "texts")]
    pub agreed_points: Vec<String>,
    #[serde(default)]
    pub reserved_points: Vec<Reserved>,
    #[serde(default)]
    pub strong_disagreements: Vec<Disagreement>,
    /// The points that the coach considered agreed but that roles did not confirm.
    #[serde(default, skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub unsigned_points: Vec<String>,
    #[serde(default)]
    pub summary: String,
    /// The time of the synthesis.
    #[serde(default, skip_serializing)]
    pub at: String,
    /// The plan, if the coach wrote it in the same turn.
    #[serde(default, skip_serializing)]
    pub plan: Option<Value>,
}

/// The coach's answer to the question what an earlier plan is for.
#[derive(Deserialize)]
pub(crate) struct IntentAnswer {
    pub(crate) intent: Intent,
    #[serde(default)]
    pub(crate) reason: String,
}

/// What a role wants done with its question before the user is asked.
#[derive(Deserialize)]
pub(crate) struct Judgement {
    pub(crate) action: JudgementAction,
    #[serde(default)]
    pub(crate) question: String,
    pub(crate) reason: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JudgementAction {
    Ask,
    Modify,
    Skip,
}

impl JudgementAction {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Modify => "modify",
            Self::Skip => "skip",
        }
    }
}

/// A role's further question; null for none.
#[derive(Deserialize)]
pub(crate) struct FollowUp {
    pub(crate) question: Option<String>,
}

/// A role's answer to what the user asked back.
#[derive(Deserialize)]
pub(crate) struct AnswerBack {
    pub(crate) answer: String,
}

/// The points of an extraction or a synthesis with the roles that they cite.
#[derive(Deserialize)]
pub(crate) struct CitedPoints {
    pub(crate) agreed_points: Vec<Cited>,
    #[serde(default)]
    pub(crate) conflicting_points: Vec<Cited>,
}

/// A point that the coach writes: a text, or a text with the names of roles.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Cited {
    Text(String),
    Of {
        point: String,
        #[serde(default)]
        roles: Vec<String>,
    },
}

impl Cited {
    pub(crate) fn text(&self) -> &str {
        let (Self::Text(text) | Self::Of { point: text, .. }) = self;
        text.trim()
    }

    pub(crate) fn names(&self) -> &[String] {
        match self {
            Self::Text(_) => &[],
            Self::Of { roles, .. } => roles,
        }
    }

    /// Returns the roles that the point is of: all, unless some are named.
    pub(crate) fn roles(&self) -> Vec<Role> {
        let named: Vec<Role> = self.names().iter().filter_map(|name| Role::parse(name)).collect();
        if named.is_empty() { Role::ALL.to_vec() } else { named }
    }
}

/// Reads points of which only the texts are kept.
fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let points = Vec::<Cited>::deserialize(deserializer)?;
    Ok(points.iter().map(|point| point.text().to_owned()).collect())
}

/// A role's answers to the points that cite it, in their order.
#[derive(Deserialize)]
pub(crate) struct Confirmation {
    pub(crate) answers: Vec<PointAnswer>,
}

/// What a role says of a point.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "PointAnswerForm")]
pub enum PointAnswer {
    /// The role confirms the point.
    Yes,
    /// The role denies the point.
    No,
    /// This does.
    Reword(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PointAnswerForm {
    Word(String),
    Reword { reword: String },
}

impl From<PointAnswerForm> for PointAnswer {
    fn from(form: PointAnswerForm) -> Self {
        match form {
            PointAnswerForm::Word(word) if word == "yes" => Self::Yes,
            PointAnswerForm::Word(_) => Self::No,
            PointAnswerForm::Reword { reword } => Self::Reword(reword.trim().to_owned()),
        }
    }
}
