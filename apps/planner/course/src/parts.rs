//! What a course consists of: additions to the brief, what was said, versions, the expert.

use crate::artifact::Artifact;
use crate::event::{By, Refusal};
use crate::limits::TEXT_MAX;
use crate::turn::Verdict;

/// A part of the brief that came later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// Where it comes from: `added by the user`, `inherited from …`.
    pub from: String,
    /// What it says.
    pub text: String,
}

/// Something that was said, for the record.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// When it was said, in RFC 3339.
    pub ts: String,
    /// Where: `round 1`.
    pub place: String,
    /// Who said it: a role, the coach or the user.
    pub who: String,
    /// By whom it came.
    pub by: By,
    /// In short: `block · the migration is missing`.
    pub gist: String,
    /// All of it.
    pub text: String,
}

/// A version: a cycle's artifact, or what became of one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Version {
    /// Its number, from 1.
    pub number: u32,
    /// When it was made.
    pub at: String,
    /// What was made.
    pub artifact: Artifact,
    /// The content of its file, where that was written by hand.
    pub text: Option<String>,
    /// The version that it brought back.
    pub rolled_back_from: Option<u32>,
    /// True if somebody changed by hand what was made, so that nobody has agreed to it.
    pub edited: bool,
    /// Objections to it, for the warning of a draft.
    pub objections: Vec<String>,
    /// What roles had agreed on when it was made.
    pub agreed: Vec<String>,
}

impl Version {
    /// Returns the content of its file.
    pub fn text(&self) -> String {
        self.text.clone().unwrap_or_else(|| self.artifact.text())
    }
}

/// The invited expert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expert {
    /// The reader who speaks as the expert.
    pub reader: String,
    /// True if there is no plan while the expert blocks it.
    pub veto: bool,
    /// What was said, in order.
    pub words: Vec<(Option<bool>, String)>,
}

/// Writes a verdict for the record.
pub(crate) fn verdict_text(verdict: &Verdict, missing: &[String]) -> String {
    let mut text = format!("{}\n", verdict.word());
    let missing = missing.to_vec();
    let parts = [
        ("reasons", &verdict.reasons),
        ("suggestions", &verdict.suggestions),
        ("open questions", &verdict.blocking_open_questions),
        ("cites what doesn't exist", &missing),
    ];
    for (name, items) in parts {
        if !items.is_empty() {
            text += &format!("{name}:\n- {}\n", items.join("\n- "));
        }
    }
    text
}

/// Returns a text that the user gave, without the space around it.
pub(crate) fn within(text: &str) -> Result<String, Refusal> {
    let text = text.trim();
    let length = text.chars().count();
    match length {
        0 => Err(Refusal::new("the text is empty", "")),
        length if length > TEXT_MAX => Err(Refusal::new(
            format!(
                "the text has {length} characters, at most {TEXT_MAX}: write it to a file and name that"
            ),
            "",
        )),
        _ => Ok(text.to_owned()),
    }
}
