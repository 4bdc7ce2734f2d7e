//! Versions: each is made once and stays as it is. An edit by hand makes a further one, and so does going back to one.

use serde_json::Value;

use crate::artifact::{self, Artifact};
use crate::course::{Course, Stage, Version};
use crate::event::{By, Effect, Refusal, SIGNED};
use crate::limits::VERSIONS_MAX;

impl Course {
    /// Adds what a cycle made.
    pub(crate) fn add_version(&mut self, artifact: Artifact, effects: &mut Vec<Effect>) {
        let objections = match &artifact {
            Artifact::Plan(_) => Vec::new(),
            Artifact::Draft(_) => artifact::objections(self),
        };
        let agreed = self.agreed_points();
        let made = Version { artifact, objections, agreed, ..Version::default() };
        self.push_version(made, effects);
    }

    /// Returns what roles agree on by now.
    pub(crate) fn agreed_points(&self) -> Vec<String> {
        let of_synthesis = self.synthesis.as_ref().map(|made| made.agreed_points.clone());
        match of_synthesis {
            Some(points) if !points.is_empty() => points,
            _ => self.extraction.as_ref().map_or_else(Vec::new, |made| made.agreed_points.clone()),
        }
    }

    fn push_version(&mut self, made: Version, effects: &mut Vec<Effect>) {
        let number = self.next_version();
        if self.versions.len() >= VERSIONS_MAX {
            // The files of each version stay. What was agreed on is kept longest.
            let last = self.versions.len() - 1;
            let edited = self.versions.iter().take(last).position(|version| version.edited);
            self.versions.remove(edited.unwrap_or(0));
        }
        self.versions.push(Version { number, at: self.now.clone(), ..made });
        self.written = None;
        effects.push(Effect::Version(number));
    }

    /// Returns the number of the next version.
    pub(crate) fn next_version(&self) -> u32 {
        self.versions.last().map_or(1, |version| version.number + 1)
    }

    /// Takes what somebody made of the artifact's file by hand. What says the same in another form is no other version.
    pub(crate) fn edited(
        &mut self,
        text: &str,
        by: &By,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        let Some(version) = self.versions.last() else {
            return Err(Refusal::new("there is no artifact", ""));
        };
        if self.file_text().as_deref() == Some(text) {
            return Err(Refusal::new("the file is as it was", ""));
        }
        let artifact = match &version.artifact {
            Artifact::Draft(_) => Artifact::Draft(text.to_owned()),
            Artifact::Plan(_) => match serde_json::from_str(text) {
                Ok(plan @ Value::Object(_)) => Artifact::Plan(plan),
                Ok(_) => return Err(Refusal::new("the plan is no JSON object now", "")),
                Err(error) => {
                    return Err(Refusal::new(format!("the plan is no JSON now: {error}"), ""));
                }
            },
        };
        let number = version.number;
        let is_same = artifact == version.artifact;
        let what = if self.rules < SIGNED && !is_same {
            // By earlier rules what was agreed on gives way.
            if let Some(version) = self.versions.last_mut() {
                (version.artifact, version.edited) = (artifact, true);
            }
            self.written = Some(text.to_owned());
            format!("version {number} was edited by hand; it is taken as it is")
        } else if is_same {
            self.written = Some(text.to_owned());
            format!("the file of version {number} was written in another form; it says the same")
        } else {
            let agreed = self.versions.iter().rev().find(|one| one.artifact == artifact);
            let made = match agreed {
                Some(one) => Version { rolled_back_from: Some(one.number), ..one.clone() },
                None => Version { edited: true, rolled_back_from: None, ..version.clone() },
            };
            self.push_version(Version { artifact, text: Some(text.to_owned()), ..made }, effects);
            if self.stage == Stage::Accepted {
                // That was another one.
                self.enter(Stage::Confirm);
            }
            let now = number + 1;
            format!("version {number} was edited by hand; version {now} is what became of it")
        };
        self.note("decision".into(), "user".into(), by, what.clone(), &what);
        Ok(())
    }

    /// Makes an earlier version the present one, word for word, as a new version that is marked as that one was.
    pub(crate) fn roll_back(
        &mut self,
        to: u32,
        by: &By,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        if !matches!(self.stage, Stage::Confirm | Stage::Accepted) {
            let stage = self.stage.shown();
            return Err(Refusal::new(
                format!("a discussion is under way: the stage is {stage}"),
                "",
            ));
        }
        let Some(version) = self.versions.iter().find(|version| version.number == to) else {
            return Err(Refusal::new(format!("there is no version {to}"), "versions()"));
        };
        let mut made = Version { rolled_back_from: Some(to), ..version.clone() };
        match self.rules < SIGNED {
            true => {
                made.artifact = version.artifact.rolled_back(to, self.next_version());
                made.text = None;
            }
            false => made.text = Some(version.text()),
        }
        self.push_version(made, effects);
        let text = format!("goes back to version {to}");
        self.note("decision".into(), "user".into(), by, text.clone(), &text);
        self.enter(Stage::Confirm);
        Ok(())
    }
}
