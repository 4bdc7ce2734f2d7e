//! Which turns are next. Called after each entry; it opens those that are missing, and goes through the stages until one waits.

use crate::artifact::{self, Artifact};
use crate::course::{Course, Stage};
use crate::event::{Effect, SIGNED};
use crate::role::Role;
use crate::turn::TurnKind;

impl Course {
    /// Goes on until somebody has to speak: turns are open, or the user is to act.
    pub(crate) fn advance(&mut self, effects: &mut Vec<Effect>) {
        while !self.paused {
            let wanted: Vec<TurnKind> = match self.stage {
                Stage::Intent => vec![TurnKind::Intent],
                Stage::Round(round) => {
                    let speakers = self.speakers(round);
                    if speakers.is_empty() {
                        self.end_round(round);
                        continue;
                    }
                    speakers.into_iter().map(|role| TurnKind::Verdict(round, role)).collect()
                }
                Stage::Meeting => {
                    let turns = self.advance_meeting(effects);
                    if turns.is_empty() && self.stage != Stage::Meeting {
                        continue;
                    }
                    // Without one nothing but the user's answer leads on.
                    turns
                }
                Stage::Extraction if self.extraction.is_some() => match self.confirmations() {
                    Some(turns) => turns,
                    None => {
                        let is_met = self.meeting.as_ref().is_some_and(|one| one.closed.is_some());
                        let before = self.rules >= SIGNED && !is_met;
                        self.enter(if before { Stage::Meeting } else { Stage::Round(3) });
                        continue;
                    }
                },
                Stage::Extraction => vec![TurnKind::Extraction],
                Stage::Synthesis(after) if self.synthesis.is_some() => match self.confirmations() {
                    Some(turns) => turns,
                    None => {
                        self.end_synthesis(after, effects);
                        continue;
                    }
                },
                Stage::Synthesis(_) => vec![TurnKind::Synthesis],
                Stage::Plan(_) => {
                    match self.synthesis.as_ref().and_then(|made| made.plan.clone()) {
                        Some(body) => {
                            let plan = artifact::plan(self, &body);
                            self.add_version(Artifact::Plan(plan), effects);
                            self.enter(Stage::Confirm);
                            return;
                        }
                        None => vec![TurnKind::Plan],
                    }
                }
                Stage::Empty
                | Stage::AskIntent
                | Stage::Confirm
                | Stage::Accepted
                | Stage::Discarded => return,
            };
            for kind in wanted {
                if !self.open_turns.iter().any(|turn| turn.kind == kind) {
                    self.open(kind, effects);
                }
            }
            return;
        }
    }

    /// Returns the turns in which roles confirm something; none once what they confirmed stands.
    fn confirmations(&mut self) -> Option<Vec<TurnKind>> {
        let signers = self.signers();
        if signers.is_empty() {
            self.settle();
            return None;
        }
        Some(signers.into_iter().map(TurnKind::Confirm).collect())
    }

    /// Returns the roles that are to speak now in a round: all that haven't, or the first of them.
    fn speakers(&self, round: u8) -> Vec<Role> {
        let spoken = self.rounds.get(&round);
        let is_open = |role: &Role| {
            !self.left_out.contains(role) && spoken.is_none_or(|spoken| !spoken.contains_key(role))
        };
        let at_once = self.rules >= SIGNED && (round == 1 || (round == 2 && self.parallel));
        let most = if at_once { Role::ALL.len() } else { 1 };
        Role::ALL.into_iter().filter(is_open).take(most).collect()
    }

    fn end_round(&mut self, round: u8) {
        match round {
            1 if self.all_agree(1) && (!self.meeting_due || self.rules >= SIGNED) => {
                self.enter(Stage::Synthesis(1));
            }
            1 => {
                self.meeting_due = true;
                self.enter(Stage::Round(2));
            }
            2 if self.rules >= SIGNED => self.enter(Stage::Extraction),
            2 => self.enter(Stage::Meeting),
            _ => self.enter(Stage::Synthesis(3)),
        }
    }

    /// Returns true if all five agree in a round on the brief as it is, and no expert with a veto blocks.
    pub(crate) fn all_agree(&self, round: u8) -> bool {
        let agreed = |role: &Role| {
            self.rounds.get(&round).and_then(|spoken| spoken.get(role)).is_some_and(|spoken| {
                spoken.verdict.ok == Some(true) && spoken.revision == self.revision
            })
        };
        Role::ALL.iter().all(agreed) && !self.is_vetoed()
    }

    /// Returns true while an expert to whom the user gave a veto blocks.
    pub(crate) fn is_vetoed(&self) -> bool {
        self.expert.as_ref().is_some_and(|expert| {
            expert.veto && expert.words.last().is_some_and(|(ok, _)| *ok == Some(false))
        })
    }

    fn end_synthesis(&mut self, after: u8, effects: &mut Vec<Effect>) {
        let clean = self.synthesis.as_ref().is_some_and(|made| {
            made.reserved_points.is_empty() && made.strong_disagreements.is_empty()
        });
        match (self.all_agree(after) && (clean || self.rules >= SIGNED), after) {
            (true, _) => self.enter(Stage::Plan(after)),
            // By earlier rules a reservation, else an expert's veto that came in the meantime.
            (false, 1) => {
                self.synthesis = None;
                self.meeting_due = true;
                self.enter(Stage::Round(2));
            }
            (false, _) => {
                let draft = artifact::draft(self);
                self.add_version(Artifact::Draft(draft), effects);
                self.enter(Stage::Confirm);
            }
        }
    }
}
