//! Builds the draft of a cycle that ends without consensus, and lists the objections to a plan.

use crate::answers::Synthesis;
use crate::artifact::SHARED;
use crate::course::Course;
use crate::cycle::Cycle;
use crate::lang::Lang;
use crate::question::QuestionState;
use crate::role::Role;
use crate::text::{flat, quoted, shown_name};

/// Returns what stands against a plan, a line each.
pub(crate) fn objections(course: &Course) -> Vec<String> {
    let mut all = Vec::new();
    for role in Role::ALL {
        match course.cycle.verdict(3, role) {
            None => all.push(format!("{role}: was left out")),
            Some(spoken) if spoken.verdict.ok != Some(true) => {
                all.push(format!(
                    "{role}: {} · {}",
                    spoken.verdict.word(),
                    flat(&spoken.verdict.reasons.join(" "))
                ));
            }
            Some(_) => {}
        }
    }
    if let Some(made) = &course.cycle.synthesis {
        all.extend(
            made.reserved_points
                .iter()
                .map(|one| format!("{}: {} ({})", one.role, flat(&one.concern), one.severity)),
        );
        all.extend(made.unsigned_points.iter().map(|point| format!("not agreed: {}", flat(point))));
        all.extend(
            made.strong_disagreements
                .iter()
                .map(|one| format!("disagreement: {}", flat(&one.topic))),
        );
    }
    if let Some(expert) = &course.expert
        && let Some(text) = expert.objection()
    {
        all.push(format!("Expert {}: block · {}", shown_name(&expert.reader), flat(text)));
    }
    all
}

/// Writes the draft, with what stands against a plan.
pub(crate) fn draft(course: &Course, objections: &[String]) -> String {
    let synthesis = course.cycle.synthesis.clone().unwrap_or_default();
    let lang = course.lang();
    let mut text = format!("# {}{}\n\n", lang.pick("Draft: ", "规划草案："), course.topic);
    text += lang.pick(
        "> ⚠ This is a draft, not a plan by consensus. Whoever builds on it takes the risk of what stands under \
         \"What was not agreed\".\n\n",
        "> ⚠ 这是规划草案，非共识产物。使用者自行承担“未达成共识”部分的风险。\n\n",
    );
    let (version, cycle) = (lang.pick("Version", "版本"), lang.pick("cycle", "循环"));
    text += &format!(
        "{version} {} · {} · {cycle} {}",
        course.versions.next_number(),
        course.record.now,
        course.cycle.number
    );
    if course.cycle.roles_shared_context() {
        text += &format!(" · {SHARED}");
    }
    text += &format!(
        "\n\n## {}\n\n{}\n\n## {}\n\n",
        lang.pick("Brief", "需求原文"),
        quoted(&course.brief.whole()),
        lang.pick("What was not agreed", "未达成共识"),
    );
    for objection in objections {
        text += &format!("- {objection}\n");
    }
    if objections.is_empty() {
        text += lang.pick("- nothing\n", "- 无\n");
    }
    text += &positions(&synthesis);
    text += lang.pick("\n## What was agreed\n\n", "\n## 已达成共识\n\n");
    let agreed = course.cycle.agreed_points();
    match agreed.is_empty() {
        true => text += lang.pick("- nothing yet\n", "- 暂无\n"),
        false => agreed.iter().for_each(|point| text += &format!("- {}\n", flat(point))),
    }
    text += &format!("\n{}\n", quoted(&synthesis.summary));
    text += &rounds(&course.cycle, lang);
    text += &meeting(course, lang);
    text += lang.pick(
        "\n## What you can do next\n\n\
             - adjust('…') adds to the brief; what was agreed is kept, and the roles judge again\n\
             - back('round3') has the last round judged again; back('meeting') asks again\n\
             - handoff() hands this draft over, after a warning that you confirm and that is recorded\n\
             - discard() ends it; all versions stay\n",
        "\n## 接下来可以做什么\n\n\
             - adjust('…') 补充需求；已达成的共识保留，各角色重新判断\n\
             - back('round3') 重新进行最后一轮；back('meeting') 重新提问\n\
             - handoff() 交接这份草案：先警告，由你确认并记录\n\
             - discard() 结束；所有版本保留\n",
    );
    text
}

/// Writes who said what in each round.
fn rounds(cycle: &Cycle, lang: Lang) -> String {
    let mut text = lang.pick("\n## Record by round\n", "\n## 各轮讨论记录\n").to_owned();
    for (round, spoken) in &cycle.rounds {
        text += &lang.pick(format!("\n### Round {round}\n\n"), format!("\n### 第 {round} 轮\n\n"));
        for (role, one) in spoken {
            text += &format!(
                "- **{role}** · {} · {}\n",
                one.verdict.word(),
                flat(&one.verdict.reasons.join(" "))
            );
            one.verdict
                .suggestions
                .iter()
                .for_each(|suggestion| text += &format!("  - suggests: {}\n", flat(suggestion)));
            if !one.missing.is_empty() {
                text +=
                    &format!("  - cites what doesn't exist: {}\n", flat(&one.missing.join(", ")));
            }
        }
    }
    text
}

/// Writes what was asked in the meeting, and what the expert said.
fn meeting(course: &Course, lang: Lang) -> String {
    let mut text = lang.pick("\n## Clarification meeting\n\n", "\n## 澄清小会\n\n").to_owned();
    for question in course.cycle.meeting.iter().flat_map(|meeting| &meeting.questions) {
        text += &format!("- **{}**: {}\n", question.asker(), flat(&question.text));
        if let Some(before) = &question.before {
            text += &format!("  - was: {}\n", flat(before));
        }
        question.exchange.iter().for_each(|line| text += &format!("  - {}\n", flat(line)));
        text += &match &question.state {
            QuestionState::Dropped(reason) => format!("  - dropped: {}\n", flat(reason)),
            _ => format!(
                "  - user: {}\n",
                flat(&question.shown_answer().unwrap_or_else(|| "unknown".into()))
            ),
        };
    }
    if let Some(expert) = &course.expert {
        for (_, word) in &expert.words {
            text += &format!("- **Expert {}**: {}\n", shown_name(&expert.reader), flat(word));
        }
    }
    text
}

/// Writes what each role says where they disagree, and its state.
fn positions(synthesis: &Synthesis) -> String {
    let mut text = String::new();
    for one in &synthesis.strong_disagreements {
        text += &format!("\n### {} · open\n\n", flat(&one.topic));
        one.positions
            .iter()
            .for_each(|(role, position)| text += &format!("- {role}: {}\n", flat(position)));
    }
    text
}
