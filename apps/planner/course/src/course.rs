//! The state of a course.

use std::collections::BTreeMap;

use crate::answers::Verdict;
use crate::artifact::Artifact;
use crate::brief::Brief;
use crate::cycle::Cycle;
use crate::event::{Effect, SIGNED};
use crate::lang::Lang;
use crate::record::{MeetingLine, Record};
use crate::role::{Role, Speaker};
use crate::stage::Stage;
use crate::turn::{TurnKind, Turns};
use crate::versions::{Version, Versions};

/// A course. Only [`Course::apply`] changes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    pub topic: String,
    pub stage: Stage,
    pub paused: bool,
    /// The version of the rules: [`RULES`](crate::event::RULES) for a new course.
    pub rules: u32,
    /// The id of the reader who gave the brief and speaks for the user.
    pub user: String,
    /// The readers who took a role or the coach's part, by speaker.
    pub takers: BTreeMap<Speaker, String>,
    /// True if the roles of round 2 are asked at the same time, too.
    pub parallel: bool,
    pub expert: Option<Expert>,
    pub brief: Brief,
    pub cycle: Cycle,
    pub turns: Turns,
    pub versions: Versions,
    pub record: Record,
    /// Hand-overs so far.
    pub handed_over: u32,
    pub(crate) entries: u64,
    /// What the entry that is applied wants done.
    pub(crate) effects: Vec<Effect>,
}

/// The invited expert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expert {
    pub reader: String,
    /// True if there is no plan while the expert blocks it.
    pub veto: bool,
    /// What was said, in order, with what the expert thinks of the brief.
    pub words: Vec<(Option<bool>, String)>,
}

impl Expert {
    /// Returns what an expert with a veto said last, if that blocks.
    pub(crate) fn objection(&self) -> Option<&str> {
        match self.words.last() {
            Some((Some(false), text)) if self.veto => Some(text),
            _ => None,
        }
    }
}

impl Course {
    /// Returns who is to speak now, the first of several.
    pub fn speaker(&self) -> Option<Speaker> {
        self.turns.first().map(|turn| turn.kind.speaker())
    }

    /// Returns how many entries were applied.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns the language of its frame: that of the brief.
    pub fn lang(&self) -> Lang {
        if self.is_signed() { self.brief.lang() } else { Lang::English }
    }

    /// Returns true if only roles agree: see [`crate::signing`].
    pub(crate) fn is_signed(&self) -> bool {
        self.rules >= SIGNED
    }

    /// Returns the questions that a role raised in rounds 1 and 2, each once.
    pub fn raised(&self, role: Role) -> impl Iterator<Item = &str> {
        self.cycle.raised(role, if self.rules == 0 { 1 } else { 2 })
    }

    /// Returns true if all five agree in a round on the brief as it is, and no expert with a veto
    /// blocks.
    pub(crate) fn all_agree(&self, round: u8) -> bool {
        self.cycle.all_agree(round, self.brief.revision) && !self.is_vetoed()
    }

    /// Returns true while an expert to whom the user gave a veto blocks.
    pub(crate) fn is_vetoed(&self) -> bool {
        self.expert.as_ref().and_then(Expert::objection).is_some()
    }

    /// Returns the round whose verdicts a synthesis sums up.
    pub(crate) fn last_round(&self) -> u8 {
        match self.stage {
            Stage::Synthesis(round) | Stage::Plan(round) => round,
            _ => 3,
        }
    }

    /// Returns what was asked in the meeting with what was answered, and the expert's words.
    pub(crate) fn answered_questions(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for question in self.cycle.meeting.iter().flat_map(|meeting| meeting.asked()) {
            let mut text = question.text.clone();
            if !question.exchange.is_empty() {
                text += &format!(" (before the answer: {})", question.exchange.join(" / "));
            }
            all.push((text, question.shown_answer().unwrap_or_else(|| "unknown".into())));
        }
        if let Some(expert) = &self.expert {
            let name = crate::text::shown_name(&expert.reader);
            for (ok, text) in &expert.words {
                let word = Verdict { ok: *ok, ..Verdict::default() }.word();
                let question = format!("What does the invited expert ({name}) say?");
                all.push((question, format!("{word}: {text}")));
            }
        }
        all
    }

    pub(crate) fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.cycle.reached.insert(stage);
    }

    pub(crate) fn open_turn(&mut self, kind: TurnKind) {
        self.turns.open(kind, &mut self.effects);
    }

    pub(crate) fn end_turns(&mut self, ends: impl Fn(TurnKind) -> bool) {
        self.turns.end(&mut self.effects, ends);
    }

    /// Notes something at the present stage.
    pub(crate) fn note(&mut self, who: &str, gist: &str, text: &str) {
        self.record.note(self.stage.shown(), who, gist, text);
    }

    pub(crate) fn add_line(&mut self, who: &str, line: &MeetingLine<'_>) {
        self.record.line(self.cycle.number, who, line, &mut self.effects);
    }

    pub(crate) fn add_version(&mut self, version: Version) {
        self.versions.push(version, &self.record.now, &mut self.effects);
    }

    /// Adds what the cycle made, and has the user decide on it.
    pub(crate) fn add_artifact(&mut self, artifact: Artifact, objections: Vec<String>) {
        let agreed = self.cycle.agreed_points();
        self.add_version(Version { artifact, objections, agreed, ..Version::default() });
        self.enter(Stage::Confirm);
    }
}
