//! What a course consists of: additions to the brief, what was said, versions, the expert.

use crate::artifact::Artifact;
use crate::event::By;

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

/// A version: a cycle's artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// Its number, from 1.
    pub number: u32,
    /// When it was made.
    pub at: String,
    /// What was made.
    pub artifact: Artifact,
    /// The version that it brought back.
    pub rolled_back_from: Option<u32>,
    /// True if somebody changed it by hand since.
    pub edited: bool,
    /// Objections to it, for the warning of a draft.
    pub objections: Vec<String>,
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
