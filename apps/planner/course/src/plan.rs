//! The plan that comes of five agreements.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::artifact::SHARED;
use crate::course::Course;
use crate::plan_fields::items;
use crate::question::Meeting;
use crate::role::Role;

/// Makes the plan of what the coach wrote.
pub(crate) fn plan(course: &Course, body: &Value) -> Value {
    let mut plan = json!({"meta": {
        "task_id": course.topic, "created_at": course.record.now, "version": course.versions.next_number(),
        "consensus_status": "consensus",
    }});
    if course.cycle.roles_shared_context() {
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
    if course.is_signed() {
        plan["brief"] = course.brief.whole().into();
        plan["answers"] = answers(course);
        for part in ["constraints", "decisions"] {
            plan[part] = if body[part].is_array() { body[part].clone() } else { json!([]) };
        }
    }
    add_reservations(&mut plan, course);
    let at = course.cycle.synthesis.as_ref().map(|made| made.at.clone()).unwrap_or_default();
    plan["consensus_snapshot"] = json!({
        "agreed_by": Role::ALL.map(Role::name), "reserved_by": [], "synthesis_at": at,
    });
    plan
}

/// Returns what the user answered in the meeting.
fn answers(course: &Course) -> Value {
    let asked = course.cycle.meeting.iter().flat_map(Meeting::asked);
    let shown = asked.map(|one| {
        let answer = one.shown_answer().unwrap_or_else(|| "unknown".into());
        json!({"question": one.text, "answer": answer, "asked_by": one.asker()})
    });
    shown.collect()
}

/// Adds what the coach reserves to the risks, with the coach as its author: it has no vote.
fn add_reservations(plan: &mut Value, course: &Course) {
    let Some(made) = &course.cycle.synthesis else { return };
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
        .flat_map(|part| items(plan, part))
        .filter_map(|item| item["id"].as_str().map(str::to_owned))
        .collect();
    let free = (1..).map(|number| format!("C{number}")).filter(|id| !ids.contains(id));
    let risks = plan.get_mut("risks").and_then(Value::as_array_mut);
    let Some(risks) = risks.filter(|_| course.is_signed()) else { return };
    risks.extend(
        free.zip(added).map(|(id, text)| json!({"id": id, "text": text, "author": "Coach"})),
    );
}
