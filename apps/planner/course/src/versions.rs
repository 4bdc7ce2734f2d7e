//! The versions of the artifacts that a topic's cycles produced. A version never changes.

use crate::artifact::Artifact;
use crate::event::Effect;
use crate::limits::VERSIONS_MAX;

/// A version of a cycle's artifact, as created, edited or rolled back to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Version {
    /// The number of the version, from 1.
    pub number: u32,
    /// The time of creation.
    pub at: String,
    pub artifact: Artifact,
    /// The content of the file, if it was written by hand.
    pub text: Option<String>,
    /// The number of the earlier version that this one restored.
    pub rolled_back_from: Option<u32>,
    /// True if somebody changed by hand what was made, so that nobody has agreed to it.
    pub edited: bool,
    /// Objections to it, for the warning of a draft.
    pub objections: Vec<String>,
    /// The points that the roles had agreed on when the version was created.
    pub agreed: Vec<String>,
}

impl Version {
    /// Returns the content of its file.
    pub fn text(&self) -> String {
        self.text.clone().unwrap_or_else(|| self.artifact.text())
    }
}

/// The newest versions of a topic, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Versions {
    /// The versions.
    pub all: Vec<Version>,
    /// The newest version's file, if it was written in another, equivalent form.
    pub(crate) written: Option<String>,
}

impl Versions {
    /// Returns the newest version.
    pub fn newest(&self) -> Option<&Version> {
        self.all.last()
    }

    /// Returns the version of this number.
    pub fn get(&self, number: u32) -> Option<&Version> {
        self.all.iter().find(|version| version.number == number)
    }

    /// Returns the content of the newest version's file.
    pub fn file_text(&self) -> Option<String> {
        Some(self.written.clone().unwrap_or(self.newest()?.text()))
    }

    /// Returns the number of the next version.
    pub(crate) fn next_number(&self) -> u32 {
        self.newest().map_or(1, |version| version.number + 1)
    }

    /// Adds a version, with the next number.
    pub(crate) fn push(&mut self, version: Version, now: &str, effects: &mut Vec<Effect>) {
        let number = self.next_number();
        if self.all.len() >= VERSIONS_MAX {
            // The files of each version stay. What was agreed on is kept longest.
            let last = self.all.len() - 1;
            let edited = self.all.iter().take(last).position(|version| version.edited);
            self.all.remove(edited.unwrap_or(0));
        }
        self.all.push(Version { number, at: now.to_owned(), ..version });
        self.written = None;
        effects.push(Effect::Version(number));
    }
}
