//! Why a discussion goes on, and who can end it.

use crate::course::{Course, Stage};
use crate::role::Role;

impl Course {
    /// Says why a discussion goes on, and who can end it; none where nobody discusses.
    pub fn why(&self) -> Option<String> {
        let ends = match self.stage {
            Stage::Round(1) => "five agreements are the plan at once",
            Stage::Round(2) | Stage::Extraction => {
                "the roles: after the meeting, five agreements in round 3 are the plan"
            }
            Stage::Meeting => {
                "the user's answers end the meeting; five agreements in round 3 are the plan"
            }
            Stage::Round(_) => {
                "five agreements are the plan; of anything else comes a draft, on which the user decides"
            }
            _ => return None,
        };
        let mut why: Vec<String> = (1..=2).filter_map(|round| self.votes(round)).collect();
        if let Some(expert) = self.expert.as_ref().filter(|_| self.is_vetoed()) {
            why.push(format!("the expert {} blocks", expert.reader));
        }
        let signers: Vec<&str> = self.signers().into_iter().map(Role::name).collect();
        if !signers.is_empty() {
            why.push(format!("to confirm what the coach wrote: {}", signers.join(", ")));
        }
        let ends = format!("who ends it: {ends}");
        Some(match why.is_empty() {
            true => ends,
            false => format!("why it goes on: {}\n{ends}", why.join(" · ")),
        })
    }

    /// Says how the roles voted in a round that is over: `round 1: block TestPlanner, concern RiskPlanner, 3 agree`.
    fn votes(&self, round: u8) -> Option<String> {
        if self.stage == Stage::Round(round) || self.verdicts(round).next().is_none() {
            return None;
        }
        let mut parts = Vec::new();
        for (word, ok) in [("block", Some(false)), ("concern", None)] {
            let of = self.verdicts(round).filter(|(_, one)| one.verdict.ok == ok);
            let of: Vec<&str> = of.map(|(role, _)| role.name()).collect();
            if !of.is_empty() {
                parts.push(format!("{word} {}", of.join(" and ")));
            }
        }
        parts.extend(self.left_out.iter().map(|role| format!("{role} is left out")));
        let agree = self.verdicts(round).filter(|(_, one)| one.verdict.ok == Some(true)).count();
        parts.push(format!("{agree} agree"));
        Some(format!("round {round}: {}", parts.join(", ")))
    }
}
