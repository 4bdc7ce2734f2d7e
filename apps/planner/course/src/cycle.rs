//! A cycle: from the first round on a brief to the resulting plan or draft.

use std::collections::{BTreeMap, BTreeSet};

use crate::answers::{Extraction, Reserved, Synthesis, Verdict};
use crate::event::{By, Driver};
use crate::question::Meeting;
use crate::role::Role;
use crate::signing::{PointKind, Signing};
use crate::stage::Stage;

/// The rounds of a cycle, its meeting, and what the coach makes of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cycle {
    /// The number of the version, from 1.
    pub number: u32,
    /// The verdicts, by round.
    pub rounds: BTreeMap<u8, BTreeMap<Role, Spoken>>,
    /// Roles that the user has left out.
    pub left_out: BTreeSet<Role>,
    /// The clarification meeting, once it has begun.
    pub meeting: Option<Meeting>,
    /// What rounds 1 and 2 have agreed on.
    pub extraction: Option<Extraction>,
    /// What came of the rounds.
    pub synthesis: Option<Synthesis>,
    /// The signing under way: a text that roles must confirm before it takes effect.
    pub signing: Option<Signing>,
    /// What roles have agreed on, word for word.
    pub signed: BTreeSet<String>,
    /// True once round 2 has begun: then nothing comes about without a meeting.
    pub(crate) meeting_due: bool,
    pub(crate) reached: BTreeSet<Stage>,
}

/// A verdict with its time, originator and context.
#[derive(Debug, Clone, PartialEq)]
pub struct Spoken {
    pub verdict: Verdict,
    /// The time of the verdict.
    pub ts: String,
    /// The originator of the verdict.
    pub by: By,
    /// The revision of the brief that the verdict judges.
    pub revision: u32,
    /// Files and anchors that the verdict cites but that don't exist.
    pub missing: Vec<String>,
}

impl Cycle {
    /// Returns the verdicts of a round.
    pub fn verdicts(&self, round: u8) -> impl Iterator<Item = (Role, &Spoken)> {
        self.rounds.get(&round).into_iter().flatten().map(|(role, spoken)| (*role, spoken))
    }

    /// Returns what a role has said in a round.
    pub fn verdict(&self, round: u8, role: Role) -> Option<&Spoken> {
        self.rounds.get(&round)?.get(&role)
    }

    /// Returns the roles with this verdict in a round.
    pub(crate) fn roles_with(&self, round: u8, ok: Option<bool>) -> Vec<&'static str> {
        let of = self.verdicts(round).filter(|(_, one)| one.verdict.ok == ok);
        of.map(|(role, _)| role.name()).collect()
    }

    /// Returns the roles that have not spoken in a round.
    pub(crate) fn silent(&self, round: u8) -> impl Iterator<Item = Role> {
        let is_silent = move |role: &Role| {
            !self.left_out.contains(role) && self.verdict(round, *role).is_none()
        };
        Role::ALL.into_iter().filter(is_silent)
    }

    /// Returns true if all five agree in a round on a revision of the brief.
    pub(crate) fn all_agree(&self, round: u8, revision: u32) -> bool {
        Role::ALL.into_iter().all(|role| {
            self.verdict(round, role)
                .is_some_and(|one| one.verdict.ok == Some(true) && one.revision == revision)
        })
    }

    /// Returns true if one reader played several roles of this cycle without a driver between them.
    pub fn roles_shared_context(&self) -> bool {
        let mut roles: BTreeMap<&str, BTreeSet<Role>> = BTreeMap::new();
        for (role, spoken) in self.rounds.values().flatten() {
            if spoken.by.driver == Driver::Agent {
                roles.entry(&spoken.by.reader).or_default().insert(*role);
            }
        }
        roles.values().any(|roles| roles.len() > 1)
    }

    /// Returns the questions that a role raised in its newest verdicts of rounds 1 and 2, the
    /// newest round first, each once. A role that doesn't repeat in round 2 what it asked in round
    /// 1 hasn't taken it back: it does that in the meeting, with a reason.
    pub(crate) fn raised(&self, role: Role, newest: usize) -> impl Iterator<Item = &str> {
        let spoken = [2, 1].into_iter().filter_map(move |round| self.verdict(round, role));
        let mut known = BTreeSet::new();
        spoken
            .take(newest)
            .flat_map(|spoken| &spoken.verdict.blocking_open_questions)
            .map(String::as_str)
            .filter(move |text| known.insert(letters(text)))
    }

    /// Returns what roles agree on by now.
    pub(crate) fn agreed_points(&self) -> Vec<String> {
        let of_synthesis = self.synthesis.as_ref().map(|made| made.agreed_points.clone());
        match of_synthesis {
            Some(points) if !points.is_empty() => points,
            _ => self.extraction.as_ref().map_or_else(Vec::new, |made| made.agreed_points.clone()),
        }
    }

    /// Returns true if each question of the meeting was answered, taken back by its role, or
    /// recorded as unknown.
    pub fn all_questions_settled(&self) -> bool {
        self.meeting.iter().flat_map(|meeting| &meeting.questions).all(|one| one.state.is_settled())
    }

    /// Returns the roles that are still to confirm something.
    pub(crate) fn signers(&self) -> Vec<Role> {
        let Some(signing) = &self.signing else { return Vec::new() };
        let is_asked = |role: &Role| {
            !self.left_out.contains(role)
                && !signing.answers.contains_key(role)
                && signing.of(*role).next().is_some()
        };
        Role::ALL.into_iter().filter(is_asked).collect()
    }

    /// Replaces what the coach wrote by what the roles have confirmed of it.
    pub(crate) fn settle(&mut self) {
        let Some(signing) = self.signing.take() else { return };
        let (agreed, open) = signing.agreed();
        if let Some(made) = &mut self.synthesis {
            made.agreed_points.retain(|text| self.signed.contains(text));
            made.agreed_points.extend(agreed.iter().cloned());
            made.unsigned_points = open;
            made.reserved_points = signing
                .confirmed(PointKind::Reserved)
                .map(|(severity, role, concern)| Reserved {
                    role,
                    concern,
                    severity: severity.to_owned(),
                })
                .collect();
            for disagreement in &mut made.strong_disagreements {
                let of = signing.confirmed(PointKind::Position);
                let of = of.filter(|(topic, ..)| *topic == disagreement.topic);
                disagreement.positions = of.map(|(_, role, position)| (role, position)).collect();
            }
            made.strong_disagreements.retain(|one| !one.positions.is_empty());
        } else if let Some(made) = &mut self.extraction {
            let conflicting = open.into_iter().chain(signing.conflicting()).collect();
            *made = Extraction { agreed_points: agreed.clone(), conflicting_points: conflicting };
        }
        self.signed.extend(agreed);
    }

    /// Sums up a round, as the coach tells the next one.
    pub fn summary(&self, round: u8) -> String {
        let mut parts = Vec::new();
        for (word, ok) in [("agree", Some(true)), ("have a concern", None), ("block", Some(false))]
        {
            let of = self.roles_with(round, ok);
            if !of.is_empty() {
                parts.push(format!("{} {word}: {}", of.len(), of.join(", ")));
            }
        }
        parts.extend(self.left_out.iter().map(|role| format!("{role} is left out")));
        let mut text = format!("Round {round}: {}.", parts.join("; "));
        for (role, spoken) in self.verdicts(round) {
            if spoken.verdict.ok != Some(true) {
                text += &format!("\n{role}: {}", spoken.verdict.reasons.join(" "));
            }
            for question in &spoken.verdict.blocking_open_questions {
                text += &format!("\n{role} asks: {question}");
            }
        }
        text
    }
}

/// Returns what two wordings of one question have in common: letters and digits, in lower case.
fn letters(text: &str) -> String {
    let letters: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
    // A question of nothing but signs is told from others by them.
    if letters.is_empty() { text.trim().to_owned() } else { letters.to_lowercase() }
}
