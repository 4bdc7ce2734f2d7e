//! Consents: what only a person may allow.
//!
//! An app that would do something on a person's account that no agent may decide, such as starting
//! a program that a file of the project names, fails the action with a fault that carries a
//! [`ConsentRequest`]. The daemon keeps the request and says how a person allows it; nothing waits
//! for that. Once a person has, the daemon sends the request's key with every
//! [`Invoke`](crate::app::Invoke) of that app in that workspace, and the action can be sent again.

use serde::{Deserialize, Serialize};

/// The permission that an app asks a person for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentRequest {
    /// Identifies exactly what is allowed, and is sent back once a person allows it: `trust
    /// planner.toml sha256:…`. The key must change with what is allowed: for the content of a file
    /// it contains a hash. At most [`CONSENT_KEY_MAX`](crate::limits::CONSENT_KEY_MAX) bytes.
    pub key: String,
    /// The permission, in one line: `trust planner.toml`.
    pub what: String,
    /// Everything that the action would start, open or send, one item per line. A person decides by
    /// this list, so nothing may be left out.
    #[serde(default)]
    pub shows: Vec<String>,
    /// The duration in milliseconds from the person's answer; 0 means until withdrawn.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub for_ms: u64,
}

/// A person's decision about a consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsentDecision {
    /// The consent is given.
    Allow,
    /// The consent is refused; the app may ask again.
    Refuse,
    /// A consent that was given is withdrawn.
    Withdraw,
}

/// The channel of a person's answer. A client names it only if it got the answer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonChannel {
    /// The person answered at a terminal.
    Terminal,
    /// The person answered in the dialog of a harness that can ask its user.
    Elicitation,
    /// The person answered on a page in a browser.
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
    /// The consent's number; `None` lists all consents of the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The person's decision about the consent; `None` shows the consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<ConsentDecision>,
    /// The channel of the person's decision; a decision without it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<PersonChannel>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
