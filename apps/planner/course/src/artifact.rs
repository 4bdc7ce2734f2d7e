//! What comes of a cycle: a plan, only by consensus, or a draft.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::course::Course;
use crate::event::SIGNED;
use crate::meeting::QuestionState;
use crate::ordered;
use crate::role::Role;
use crate::turn::{Synthesis, flat, quoted, shown_name};

/// The product of a cycle.
#[derive(Debug, Clone, PartialEq)]
pub enum Artifact {
    /// `planning.ai.json`
    Plan(Value),
    /// `planning.draft.md`
    Draft(String),
}

/// What an artifact says whose roles were not independent of each other.
const SHARED: &str = "roles shared one context";

impl Default for Artifact {
    fn default() -> Self {
        Self::Draft(String::new())
    }
}

impl Artifact {
    /// Returns the name of its file.
    pub fn file(&self) -> &'static str {
        match self {
            Self::Plan(_) => "planning.ai.json",
            Self::Draft(_) => "planning.draft.md",
        }
    }

    /// Returns `plan` or `draft`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Plan(_) => "plan",
            Self::Draft(_) => "draft",
        }
    }

    /// Returns the content of its file.
    pub fn text(&self) -> String {
        match self {
            Self::Plan(plan) => ordered::pretty(plan),
            Self::Draft(text) => text.clone(),
        }
    }

    /// Returns true for the content of its file as earlier versions wrote it, with the fields sorted by their names.
    pub fn is_earlier_form(&self, text: &str) -> bool {
        let Self::Plan(plan) = self else { return false };
        serde_json::to_string_pretty(plan)
            .is_ok_and(|sorted| text.strip_suffix('\n') == Some(&sorted))
    }

    /// Returns it as a further version that brings back an earlier one and says so itself, by earlier rules.
    pub(crate) fn rolled_back(&self, from: u32, number: u32) -> Self {
        match self {
            Self::Plan(plan) => {
                let mut plan = plan.clone();
                // An edited plan may have any form.
                if let Some(meta) = plan.get_mut("meta").and_then(Value::as_object_mut) {
                    meta.insert("version".into(), number.into());
                    meta.insert("rolled_back_from".into(), from.into());
                }
                Self::Plan(plan)
            }
            Self::Draft(text) => {
                Self::Draft(format!("> Version {number} brings back version {from}.\n\n{text}"))
            }
        }
    }
}

/// Makes the plan of what the coach wrote.
pub(crate) fn plan(course: &Course, body: &Value) -> Value {
    let mut plan = json!({"meta": {
        "task_id": course.topic, "created_at": course.now, "version": course.next_version(),
        "consensus_status": "consensus",
    }});
    if course.roles_shared_context() {
        plan["meta"]["note"] = SHARED.into();
    }
    let parts = [
        "why",
        "what",
        "requirements",
        "draft_files",
        "acceptance",
        "scope",
        "non_goals",
        "open_questions",
        "test_plan",
        "risks",
    ];
    for part in parts {
        plan[part] = body[part].clone();
    }
    if course.rules >= SIGNED {
        plan["brief"] = course.whole_brief().into();
        plan["answers"] = answers(course);
        for part in ["constraints", "decisions"] {
            plan[part] = if body[part].is_array() { body[part].clone() } else { json!([]) };
        }
    }
    add_reservations(&mut plan, course);
    let at = course.synthesis.as_ref().map(|made| made.at.clone()).unwrap_or_default();
    plan["consensus_snapshot"] = json!({
        "agreed_by": Role::ALL.map(Role::name), "reserved_by": [], "synthesis_at": at,
    });
    plan
}

/// Returns what the user answered in the meeting.
fn answers(course: &Course) -> Value {
    let asked = course.meeting.as_ref().map(|meeting| meeting.asked()).unwrap_or_default();
    let shown = asked.into_iter().map(|one| {
        let answer = one.shown_answer().unwrap_or_else(|| "unknown".into());
        json!({"question": one.text, "answer": answer, "asked_by": one.asker()})
    });
    shown.collect()
}

/// Adds what the coach reserves to the risks, with the coach as its author: it has no vote.
fn add_reservations(plan: &mut Value, course: &Course) {
    let Some(made) = &course.synthesis else { return };
    let reserved = made.reserved_points.iter().map(|one| {
        format!("{} ({}; the coach names {}, who agreed)", one.concern, one.severity, one.role)
    });
    let disagreements = made.strong_disagreements.iter().map(|one| {
        let positions = one.positions.iter().map(|(role, text)| format!("{role}: {text}"));
        format!("{}: {}", one.topic, positions.collect::<Vec<_>>().join("; "))
    });
    let added: Vec<String> = reserved.chain(disagreements).collect();
    let ids: BTreeSet<String> = ["requirements", "acceptance", "test_plan", "risks"]
        .iter()
        .flat_map(|part| plan[*part].as_array().into_iter().flatten())
        .filter_map(|item| item["id"].as_str().map(str::to_owned))
        .collect();
    let free = (1..).map(|number| format!("C{number}")).filter(|id| !ids.contains(id));
    let risks = plan.get_mut("risks").and_then(Value::as_array_mut);
    let Some(risks) = risks.filter(|_| course.rules >= SIGNED) else { return };
    risks.extend(
        free.zip(added).map(|(id, text)| json!({"id": id, "text": text, "author": "Coach"})),
    );
}

/// Returns what stands against a plan, a line each.
pub(crate) fn objections(course: &Course) -> Vec<String> {
    let mut all = Vec::new();
    let spoken = course.rounds.get(&3);
    for role in Role::ALL {
        match spoken.and_then(|spoken| spoken.get(&role)) {
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
    if let Some(made) = &course.synthesis {
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
    if let Some(expert) = course.expert.as_ref().filter(|expert| expert.veto)
        && let Some((Some(false), text)) = expert.words.last()
    {
        all.push(format!("Expert {}: block · {}", shown_name(&expert.reader), flat(text)));
    }
    all
}

/// Writes the draft.
pub(crate) fn draft(course: &Course) -> String {
    let synthesis = course.synthesis.clone().unwrap_or_default();
    let lang = course.lang();
    let mut text = format!("# {}{}\n\n", lang.pick("Draft: ", "规划草案："), course.topic);
    text += lang.pick(
        "> ⚠ This is a draft, not a plan by consensus. Whoever builds on it takes the risk of what stands under \
         \"What was not agreed\".\n\n",
        "> ⚠ 这是规划草案，非共识产物。使用者自行承担“未达成共识”部分的风险。\n\n",
    );
    let (version, cycle) = (lang.pick("Version", "版本"), lang.pick("cycle", "循环"));
    text +=
        &format!("{version} {} · {} · {cycle} {}", course.next_version(), course.now, course.cycle);
    if course.roles_shared_context() {
        text += &format!(" · {SHARED}");
    }
    text += &format!(
        "\n\n## {}\n\n{}\n\n## {}\n\n",
        lang.pick("Brief", "需求原文"),
        quoted(&course.whole_brief()),
        lang.pick("What was not agreed", "未达成共识"),
    );
    let objections = objections(course);
    for objection in &objections {
        text += &format!("- {objection}\n");
    }
    if objections.is_empty() {
        text += lang.pick("- nothing\n", "- 无\n");
    }
    text += &positions(&synthesis);
    text += lang.pick("\n## What was agreed\n\n", "\n## 已达成共识\n\n");
    let agreed = course.agreed_points();
    match agreed.is_empty() {
        true => text += lang.pick("- nothing yet\n", "- 暂无\n"),
        false => agreed.iter().for_each(|point| text += &format!("- {}\n", flat(point))),
    }
    text += &format!("\n{}\n", quoted(&synthesis.summary));
    text += lang.pick("\n## Record by round\n", "\n## 各轮讨论记录\n");
    for (round, spoken) in &course.rounds {
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
    text += lang.pick("\n## Clarification meeting\n\n", "\n## 澄清小会\n\n");
    for question in course.meeting.iter().flat_map(|meeting| &meeting.questions) {
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
