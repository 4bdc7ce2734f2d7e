//! Consents: what only a person may allow.
//!
//! An app that would do something on a person's account that no agent may decide, such as starting a program that a file
//! of the project names, fails the action with a fault that carries a [`ConsentRequest`]. The daemon keeps the request and
//! says how a person allows it; nothing waits for that. Once a person has, the daemon sends the request's key with every
//! [`Invoke`](crate::app::Invoke) of that app in that workspace, and the action can be sent again.

use serde::{Deserialize, Serialize};

/// What an app asks a person to allow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentRequest {
    /// Names exactly what is allowed, and comes back when it is: `trust planner.toml sha256:…`. What is allowed changes with
    /// it: a key for a file's content has the content's hash. At most [`CONSENT_KEY_MAX`](crate::limits::CONSENT_KEY_MAX)
    /// bytes.
    pub key: String,
    /// What is to be allowed, in one line: `trust planner.toml`.
    pub what: String,
    /// Everything that it would start, open or send, a line each: a person decides by them, so nothing is left out.
    #[serde(default)]
    pub shows: Vec<String>,
    /// How long it stays allowed, in milliseconds from the person's answer; 0 until it is withdrawn.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub for_ms: u64,
}

/// What a person decided about a consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsentDecision {
    /// It is allowed.
    Allow,
    /// It isn't allowed; the app may ask again.
    Refuse,
    /// It was allowed, and isn't any more.
    Withdraw,
}

/// Where a person answered. A client sends a decision only if it got it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonChannel {
    /// At a terminal.
    Terminal,
    /// In the dialog of a harness that can ask its user.
    Elicitation,
    /// On a page in a browser.
    Page,
}

impl PersonChannel {
    /// Returns its name, as logs write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Elicitation => "elicitation",
            Self::Page => "page",
        }
    }
}

/// The arguments of `consent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentArgs {
    /// The consent's number; absent to list all of the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// What a person decided about it; absent to show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<ConsentDecision>,
    /// Where a person decided; a decision without it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<PersonChannel>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
