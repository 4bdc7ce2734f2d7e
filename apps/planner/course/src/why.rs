//! Explains why a discussion continues, and who can end it.

use crate::course::Course;
use crate::role::Role;
use crate::stage::Stage;
use crate::text::shown_name;

impl Course {
    /// Says why a discussion goes on, and who can end it; none where nobody discusses.
    pub fn why(&self) -> Option<String> {
        let lang = self.lang();
        let ends = match self.stage {
            Stage::Round(1) => {
                lang.pick("five agreements are the plan at once", "五个角色都同意即产出规划案")
            }
            Stage::Round(2) | Stage::Extraction => {
                lang.pick(
                    "the roles: after the meeting, five agreements in round 3 are the plan",
                    "各角色：小会之后，第 3 轮五个角色都同意即为规划案",
                )
            }
            Stage::Meeting => {
                lang.pick(
                    "the user's answers end the meeting; five agreements in round 3 are the plan",
                    "用户的回答结束小会；第 3 轮五个角色都同意即为规划案",
                )
            }
            Stage::Round(_) => {
                lang.pick(
                    "five agreements are the plan; of anything else comes a draft, on which the user decides",
                    "五个角色都同意即为规划案；否则产出规划草案，由用户决定",
                )
            }
            _ => return None,
        };
        let is_agreed =
            |round: u8| self.cycle.verdicts(round).all(|(_, one)| one.verdict.ok == Some(true));
        // The newest round says it, unless all agree in it.
        let first = if votes(self, 2).is_some() && !is_agreed(2) { 2 } else { 1 };
        let mut why: Vec<String> = (first..=2).filter_map(|round| votes(self, round)).collect();
        if let Some(expert) = self.expert.as_ref().filter(|_| self.is_vetoed()) {
            why.push(lang.pick(
                format!("the expert {} blocks", shown_name(&expert.reader)),
                format!("专家 {} 反对", shown_name(&expert.reader)),
            ));
        }
        let signers: Vec<&str> = self.cycle.signers().into_iter().map(Role::name).collect();
        if !signers.is_empty() {
            why.push(lang.pick(
                format!("to confirm what the coach wrote: {}", signers.join(", ")),
                format!("待确认敏捷教练所写内容：{}", signers.join("、")),
            ));
        }
        let ends = lang.pick(format!("who ends it: {ends}"), format!("谁能结束：{ends}"));
        let why = why.join(" · ");
        Some(match why.is_empty() {
            true => ends,
            false => lang
                .pick(format!("why it goes on: {why}\n{ends}"), format!("为何继续：{why}\n{ends}")),
        })
    }
}

/// Says how the roles voted in a round that is over: `round 1: block TestPlanner, concern
/// RiskPlanner, 3 agree`.
fn votes(course: &Course, round: u8) -> Option<String> {
    if course.stage == Stage::Round(round) || course.cycle.verdicts(round).next().is_none() {
        return None;
    }
    let lang = course.lang();
    let mut parts = Vec::new();
    let words = [(lang.pick("block", "反对"), Some(false)), (lang.pick("concern", "保留"), None)];
    for (word, ok) in words {
        let of = course.cycle.roles_with(round, ok);
        if !of.is_empty() {
            parts.push(format!("{word} {}", of.join(lang.pick(" and ", "、"))));
        }
    }
    parts.extend(
        course
            .cycle
            .left_out
            .iter()
            .map(|role| lang.pick(format!("{role} is left out"), format!("{role} 不参加"))),
    );
    let agree = course.cycle.roles_with(round, Some(true)).len();
    parts.push(lang.pick(format!("{agree} agree"), format!("{agree} 个同意")));
    Some(lang.pick(
        format!("round {round}: {}", parts.join(", ")),
        format!("第 {round} 轮：{}", parts.join("，")),
    ))
}
