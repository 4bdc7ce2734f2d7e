//! Which turn is next. Called after each entry; it opens at most one turn, and goes through the stages until one waits.

use crate::artifact::{self, Artifact};
use crate::course::{Course, Stage, Version};
use crate::event::Effect;
use crate::limits::VERSIONS_MAX;
use crate::role::Role;
use crate::turn::{Turn, TurnKind};

impl Course {
    /// Goes on until somebody has to speak: a turn is open, or the user is to act.
    pub(crate) fn advance(&mut self, effects: &mut Vec<Effect>) {
        while self.turn.is_none() && !self.paused {
            let next = match self.stage {
                Stage::Intent => Some(TurnKind::Intent),
                Stage::Round(round) => match self.next_role(round) {
                    Some(role) => Some(TurnKind::Verdict(round, role)),
                    None => {
                        self.end_round(round);
                        continue;
                    }
                },
                Stage::Meeting => match self.advance_meeting(effects) {
                    // Nothing but the user's answer leads on, or the meeting is closed.
                    None if self.stage == Stage::Meeting => return,
                    None => continue,
                    turn => turn,
                },
                Stage::Extraction if self.extraction.is_some() => {
                    self.enter(Stage::Round(3));
                    continue;
                }
                Stage::Extraction => Some(TurnKind::Extraction),
                Stage::Synthesis(after) if self.synthesis.is_some() => {
                    self.end_synthesis(after, effects);
                    continue;
                }
                Stage::Synthesis(_) => Some(TurnKind::Synthesis),
                Stage::Plan(_) => {
                    match self.synthesis.as_ref().and_then(|made| made.plan.clone()) {
                        Some(body) => {
                            let plan = artifact::plan(self, &body);
                            self.add_version(Artifact::Plan(plan), None, effects);
                            self.enter(Stage::Confirm);
                            return;
                        }
                        None => Some(TurnKind::Plan),
                    }
                }
                Stage::Empty
                | Stage::AskIntent
                | Stage::Confirm
                | Stage::Accepted
                | Stage::Discarded => return,
            };
            if let Some(kind) = next {
                self.turns += 1;
                self.turn = Some(Turn { id: self.turns, kind, failed: None });
                effects.push(Effect::Play(self.turns));
            }
        }
    }

    /// Returns the role that speaks next in a round.
    fn next_role(&self, round: u8) -> Option<Role> {
        let spoken = self.rounds.get(&round);
        let is_open = |role: &Role| {
            !self.left_out.contains(role) && spoken.is_none_or(|spoken| !spoken.contains_key(role))
        };
        Role::ALL.into_iter().find(is_open)
    }

    fn end_round(&mut self, round: u8) {
        match round {
            1 if self.all_agree(1) && !self.meeting_due => self.enter(Stage::Synthesis(1)),
            1 => {
                self.meeting_due = true;
                self.enter(Stage::Round(2));
            }
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
        let blocked = self.expert.as_ref().is_some_and(|expert| {
            expert.veto && expert.words.last().is_some_and(|(ok, _)| *ok == Some(false))
        });
        Role::ALL.iter().all(agreed) && !blocked
    }

    fn end_synthesis(&mut self, after: u8, effects: &mut Vec<Effect>) {
        let clean = self.synthesis.as_ref().is_some_and(|made| {
            made.reserved_points.is_empty() && made.strong_disagreements.is_empty()
        });
        match (self.all_agree(after) && clean, after) {
            (true, _) => self.enter(Stage::Plan(after)),
            // Somebody keeps a reservation, so the discussion goes on as after any verdict that isn't true.
            (false, 1) => {
                self.synthesis = None;
                self.meeting_due = true;
                self.enter(Stage::Round(2));
            }
            (false, _) => {
                let draft = artifact::draft(self);
                self.add_version(Artifact::Draft(draft), None, effects);
                self.enter(Stage::Confirm);
            }
        }
    }

    /// Adds a version.
    pub(crate) fn add_version(
        &mut self,
        artifact: Artifact,
        from: Option<u32>,
        effects: &mut Vec<Effect>,
    ) {
        let number = self.next_version();
        let objections = match &artifact {
            Artifact::Plan(_) => Vec::new(),
            Artifact::Draft(_) => artifact::objections(self),
        };
        let at = self.now.clone();
        if self.versions.len() >= VERSIONS_MAX {
            // The files of each version stay.
            self.versions.remove(0);
        }
        self.versions.push(Version {
            number,
            at,
            artifact,
            rolled_back_from: from,
            edited: false,
            objections,
        });
        effects.push(Effect::Version(number));
    }

    /// Returns the number of the next version.
    pub(crate) fn next_version(&self) -> u32 {
        self.versions.last().map_or(1, |version| version.number + 1)
    }
}
