//! What the user may do at any time: retry, leave out, adjust, go back, pause, decide, roll back.

use crate::artifact::Artifact;
use crate::course::{Addition, Course, Expert, Stage};
use crate::event::{BackTo, By, Effect, Refusal, SIGNED};
use crate::limits::TEXT_MAX;
use crate::meeting::QuestionState;
use crate::role::{Role, Speaker};
use crate::sections::outline;
use crate::turn::{Turn, TurnKind, shown_name};

impl Course {
    /// Opens a turn.
    pub(crate) fn open(&mut self, kind: TurnKind, effects: &mut Vec<Effect>) {
        self.turns += 1;
        self.open_turns.push(Turn { id: self.turns, kind, failed: None });
        effects.push(Effect::Play(self.turns));
    }

    /// Ends the open turns of a kind: nobody waits for them any more.
    pub(crate) fn end_turns(&mut self, effects: &mut Vec<Effect>, ends: impl Fn(TurnKind) -> bool) {
        self.open_turns.retain(|turn| {
            let stays = !ends(turn.kind);
            if !stays {
                effects.push(Effect::Cancel(turn.id));
            }
            stays
        });
    }

    pub(crate) fn retry(&mut self, effects: &mut Vec<Effect>) -> Result<(), Refusal> {
        let mut again = self.open_turns.iter_mut().filter(|turn| turn.failed.is_some()).peekable();
        if again.peek().is_some() {
            for turn in again {
                turn.failed = None;
                effects.push(Effect::Play(turn.id));
            }
            return Ok(());
        }
        Err(match self.speaker() {
            Some(speaker) => Refusal::new(format!("{speaker} has not failed"), ""),
            None => Refusal::new("no turn is open", ""),
        })
    }

    pub(crate) fn leave_out(
        &mut self,
        role: Role,
        by: &By,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        let is_asked =
            matches!(self.stage, Stage::Round(_) | Stage::Meeting) || self.signing.is_some();
        if !is_asked {
            return Err(Refusal::new(
                format!("no role speaks now: the stage is {}", self.stage.shown()),
                "",
            ));
        }
        if !self.left_out.insert(role) {
            return Err(Refusal::new(format!("{role} is left out already"), ""));
        }
        let text = format!("leaves {role} out: only a draft can come of this cycle");
        self.note(self.stage.shown(), "user".into(), by, text.clone(), &text);
        self.end_turns(effects, |kind| kind.speaker() == Speaker::Role(role));
        Ok(())
    }

    pub(crate) fn take_role(&mut self, role: Speaker, by: &By) -> Result<(), Refusal> {
        match self.takers.get(&role) {
            Some(other) if *other != by.reader => {
                Err(Refusal::new(format!("{role} is played by reader {}", shown_name(other)), ""))
            }
            _ => {
                self.takers.insert(role, by.reader.clone());
                let name = shown_name(&by.reader);
                let text = format!("{name} plays {role}");
                self.note(self.stage.shown(), name, by, text.clone(), &text);
                Ok(())
            }
        }
    }

    /// Adds to the brief. Who has judged the brief as it was judges it again.
    pub(crate) fn adjust(
        &mut self,
        text: &str,
        by: &By,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        if self.stage == Stage::Discarded {
            return Err(Refusal::new("it is discarded", "plan('…')"));
        }
        self.within_additions()?;
        self.note(self.stage.shown(), "user".into(), by, format!("adjusts: {text}"), text);
        self.revision += 1;
        let addition = Addition { from: "added by the user".into(), text: text.to_owned() };
        match self.stage {
            Stage::Confirm | Stage::Accepted => {
                self.keep_consensus();
                self.additions.push(addition);
                self.new_cycle();
            }
            Stage::Round(round) => {
                self.additions.push(addition);
                self.end_turns(effects, |_| true);
                self.rounds.remove(&round);
            }
            Stage::Synthesis(round) | Stage::Plan(round) => {
                self.additions.push(addition);
                self.end_turns(effects, |_| true);
                self.rounds.remove(&round);
                (self.synthesis, self.signing) = (None, None);
                self.enter(Stage::Round(round));
            }
            _ => self.additions.push(addition),
        }
        Ok(())
    }

    /// Refuses a further addition where those of the user are too long.
    pub(crate) fn within_additions(&self) -> Result<(), Refusal> {
        let of_user = self.additions.iter().filter(|one| {
            self.rules < SIGNED
                || !(one.from.starts_with("agreed in ") || one.from.starts_with("inherited from "))
        });
        let length = of_user.map(|one| one.text.chars().count()).sum::<usize>();
        match length > 4 * TEXT_MAX {
            true => Err(Refusal::new(
                format!("the additions have {length} characters: begin a new topic"),
                "plan('…')",
            )),
            false => Ok(()),
        }
    }

    /// Takes what was agreed along into the next cycle.
    fn keep_consensus(&mut self) {
        let version = self.versions.last().map_or(0, |version| version.number);
        if let Some(last) = self.versions.last().filter(|_| self.rules >= SIGNED) {
            // The newest plan or draft has what earlier ones had.
            self.additions.retain(|one| !one.from.starts_with("agreed in version "));
            let (from, text) = match &last.artifact {
                Artifact::Plan(plan) if last.edited => (", edited by hand since", outline(plan)),
                Artifact::Plan(plan) => ("", outline(plan)),
                Artifact::Draft(_) => ("", listed(&last.agreed)),
            };
            if !text.is_empty() {
                let from = format!("agreed in version {version}{from}");
                self.additions.push(Addition { from, text });
            }
            return;
        }
        let Some(made) = self.synthesis.as_ref().filter(|made| !made.agreed_points.is_empty())
        else {
            return;
        };
        let text = format!("- {}", made.agreed_points.join("\n- "));
        self.additions.push(Addition { from: format!("agreed in version {version}"), text });
    }

    fn new_cycle(&mut self) {
        self.cycle += 1;
        self.rounds.clear();
        self.left_out.clear();
        (self.meeting, self.extraction, self.synthesis) = (None, None, None);
        self.signing = None;
        self.signed.clear();
        self.meeting_due = false;
        self.reached.clear();
        self.enter(Stage::Round(1));
    }

    /// Goes back to a stage; it and those behind it run again. What was said stays on record.
    pub(crate) fn back(
        &mut self,
        to: BackTo,
        by: &By,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        let stage = match to {
            BackTo::Round1 => Stage::Round(1),
            BackTo::Round2 => Stage::Round(2),
            BackTo::Meeting => Stage::Meeting,
            BackTo::Extraction => Stage::Extraction,
            BackTo::Round3 => Stage::Round(3),
        };
        if !self.reached.contains(&stage) {
            return Err(Refusal::new(
                format!("{} was not reached in this cycle", stage.shown()),
                "back('round1')",
            ));
        }
        if matches!(self.stage, Stage::Accepted | Stage::Discarded) {
            return Err(Refusal::new(
                format!("it is {}", self.stage.shown()),
                "adjust('what is to be different')",
            ));
        }
        self.end_turns(effects, |_| true);
        let text = format!("goes back to {}", stage.shown());
        self.note(self.stage.shown(), "user".into(), by, text.clone(), &text);
        if to == BackTo::Round1 {
            self.rounds.remove(&1);
        }
        if to <= BackTo::Round2 {
            self.rounds.remove(&2);
        }
        let is_signed = self.rules >= SIGNED;
        if to <= BackTo::Meeting {
            self.meeting = None;
        }
        // What was answered in a meeting isn't asked again for the sake of the extraction before it.
        if to <= BackTo::Round2 || to == BackTo::Extraction || (to == BackTo::Meeting && !is_signed)
        {
            self.extraction = None;
            self.signed.clear();
        }
        self.rounds.remove(&3);
        (self.synthesis, self.signing) = (None, None);
        // What lies behind is reached once it has run again.
        self.reached.retain(|reached| {
            reached.rank(is_signed) <= stage.rank(is_signed)
                || (*reached == Stage::Meeting && to == BackTo::Extraction)
        });
        // A meeting is given what was extracted before it.
        let is_extracted = !is_signed || self.extraction.is_some();
        self.enter(if stage == Stage::Meeting && !is_extracted {
            Stage::Extraction
        } else {
            stage
        });
        Ok(())
    }

    pub(crate) fn pause(&mut self, effects: &mut Vec<Effect>) -> Result<(), Refusal> {
        if std::mem::replace(&mut self.paused, true) {
            return Err(Refusal::new("it is paused already", "resume()"));
        }
        effects.extend(self.open_turns.iter().map(|turn| Effect::Cancel(turn.id)));
        Ok(())
    }

    pub(crate) fn resume(&mut self, effects: &mut Vec<Effect>) -> Result<(), Refusal> {
        if !std::mem::replace(&mut self.paused, false) {
            return Err(Refusal::new("it isn't paused", ""));
        }
        let waits = self.open_turns.iter().filter(|turn| turn.failed.is_none());
        effects.extend(waits.map(|turn| Effect::Play(turn.id)));
        Ok(())
    }

    /// Accepts or discards the artifact.
    pub(crate) fn decide(&mut self, to: Stage, by: &By) -> Result<(), Refusal> {
        let may =
            matches!((self.stage, to), (Stage::Confirm, _) | (Stage::Accepted, Stage::Discarded));
        let Some(version) = self.versions.last().filter(|_| may) else {
            let stage = self.stage.shown();
            return Err(Refusal::new(
                format!("there is nothing to decide on: the stage is {stage}"),
                "",
            ));
        };
        let text = format!("version {} is {}", version.number, to.shown());
        self.note("decision".into(), "user".into(), by, text.clone(), &text);
        self.enter(to);
        Ok(())
    }

    /// Takes a reader as the expert: whom the user invites, or a person who joins.
    pub(crate) fn invite(&mut self, reader: &str, veto: bool, by: &By) -> Result<(), Refusal> {
        let name = shown_name(reader);
        let right = if veto { " with a veto" } else { "" };
        let (who, text) = match by.person && by.reader == reader {
            true => ("Expert", format!("{name} joins as the expert{right}")),
            false => ("user", format!("invites {name} as an expert{right}")),
        };
        self.expert = Some(Expert { reader: reader.to_owned(), veto, words: Vec::new() });
        self.note(self.stage.shown(), who.into(), by, text.clone(), &text);
        Ok(())
    }

    /// Takes the expert's word.
    pub(crate) fn expert_spoke(
        &mut self,
        ok: Option<bool>,
        text: &str,
        by: &By,
    ) -> Result<(), Refusal> {
        let stage = self.stage.shown();
        let Some(expert) = &mut self.expert else {
            return Err(Refusal::new("no expert is invited", "invite('READER')"));
        };
        if expert.reader != by.reader {
            let reader = shown_name(&expert.reader);
            return Err(Refusal::new(
                format!("the expert is reader {reader}, not {}", shown_name(&by.reader)),
                "",
            ));
        }
        expert.words.push((ok, text.to_owned()));
        let word = match ok {
            Some(true) => "agree",
            Some(false) => "block",
            None => "concern",
        };
        self.note(stage, "Expert".into(), by, format!("{word} · {text}"), text);
        Ok(())
    }

    /// Returns true if each question of the meeting was answered, taken back by its role, or recorded as unknown.
    pub fn all_questions_settled(&self) -> bool {
        let settled =
            |state: &QuestionState| !matches!(state, QuestionState::Waiting | QuestionState::Open);
        self.meeting
            .as_ref()
            .is_none_or(|meeting| meeting.questions.iter().all(|one| settled(&one.state)))
    }
}

/// Writes points, a line each.
pub(crate) fn listed(points: &[String]) -> String {
    if points.is_empty() { String::new() } else { format!("- {}", points.join("\n- ")) }
}
