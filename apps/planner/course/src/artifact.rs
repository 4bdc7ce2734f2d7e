//! The result of a cycle: a plan, which needs consensus, or a draft.

use serde_json::Value;

use crate::ordered;

/// The product of a cycle.
#[derive(Debug, Clone, PartialEq)]
pub enum Artifact {
    /// `planning.ai.json`
    Plan(Value),
    /// `planning.draft.md`
    Draft(String),
}

/// What an artifact says whose roles were not independent of each other.
pub(crate) const SHARED: &str = "roles shared one context";

impl Default for Artifact {
    fn default() -> Self {
        Self::Draft(String::new())
    }
}

impl Artifact {
    /// Returns the name of its file.
    pub fn file(&self) -> &'static str {
        match self {
            Self::Plan(_) => "planning.ai.json",
            Self::Draft(_) => "planning.draft.md",
        }
    }

    /// Returns `plan` or `draft`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Plan(_) => "plan",
            Self::Draft(_) => "draft",
        }
    }

    /// Returns the content of its file.
    pub fn text(&self) -> String {
        match self {
            Self::Plan(plan) => ordered::pretty(plan),
            Self::Draft(text) => text.clone(),
        }
    }

    /// Returns true for the content of its file as earlier versions wrote it, with the fields
    /// sorted by their names.
    pub fn is_earlier_form(&self, text: &str) -> bool {
        let Self::Plan(plan) = self else { return false };
        serde_json::to_string_pretty(plan)
            .is_ok_and(|sorted| text.strip_suffix('\n') == Some(&sorted))
    }

    /// Returns it as a further version that brings back an earlier one and says so itself, by
    /// earlier rules.
    pub(crate) fn rolled_back(&self, from: u32, number: u32) -> Self {
        match self {
            Self::Plan(plan) => {
                let mut plan = plan.clone();
                // An edited plan may have any form.
                if let Some(meta) = plan.get_mut("meta").and_then(Value::as_object_mut) {
                    meta.insert("version".into(), number.into());
                    meta.insert("rolled_back_from".into(), from.into());
                }
                Self::Plan(plan)
            }
            Self::Draft(text) => {
                Self::Draft(format!("> Version {number} brings back version {from}.\n\n{text}"))
            }
        }
    }
}
