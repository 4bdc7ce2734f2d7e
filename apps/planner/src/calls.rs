//! The calls that answer turns, to be filled in.

use pipemux_planner_course::turn::TurnKind;

/// Returns the call that answers a turn, to be filled in.
pub fn template(kind: TurnKind) -> String {
    match kind {
        TurnKind::Verdict(_, role) => {
            format!("verdict('{role}', ok=true, reasons=['…'], suggestions=[], questions=[])")
        }
        TurnKind::Judge(..) => "speak({action: 'ask', reason: '…'})".into(),
        TurnKind::FollowUp(_) => "speak({question: null})".into(),
        TurnKind::AnswerBack(..) => "speak({answer: '…'})".into(),
        TurnKind::Confirm(role) => format!("speak({{answers: ['yes']}}, role='{role}')"),
        TurnKind::Intent => "speak({intent: 'refine', reason: '…'})".into(),
        TurnKind::Extraction => "speak({agreed_points: ['…'], conflicting_points: []})".into(),
        TurnKind::Synthesis => {
            "speak({agreed_points: ['…'], reserved_points: [], strong_disagreements: [], summary: '…'})".into()
        }
        TurnKind::Plan => "speak({why: '…', what: '…', requirements: [{id: 'R1', text: '…'}], draft_files: [{path: '…', \
                           purpose: '…'}], acceptance: [{id: 'A1', requirement: 'R1', text: '…'}], scope: ['…'], \
                           non_goals: [], open_questions: [], test_plan: [{id: 'T1', covers: ['A1'], text: '…'}], risks: \
                           [{id: 'K1', text: '…', owner: '…', affects: ['R1']}]})"
            .into(),
    }
}

/// Returns what else a turn may answer, in a line; empty if the call says it.
pub fn choices(kind: TurnKind) -> &'static str {
    match kind {
        TurnKind::Verdict(..) => {
            "ok: true agrees, false blocks, null has a concern; questions: up to 3 that only the user can answer"
        }
        TurnKind::Judge(..) => {
            "action: ask, skip, or modify with question: 'the new wording'; the user sees the reason"
        }
        TurnKind::FollowUp(_) => "question: null for none, or one more question to the user",
        TurnKind::Intent => {
            "intent: refine, new_with_reference, new, continue_discussion, or unsure: then the user is asked"
        }
        TurnKind::Synthesis => {
            "reserved_points: [{role, concern, severity: 'warning'|'error'}]; strong_disagreements: [{topic, positions: {Role: \
             '…'}}]: of five agreements they become risks, else the roles confirm them"
        }
        TurnKind::Plan => {
            "ids link: acceptance to a requirement, tests to what they cover, risks to what they affect; also constraints and \
             decisions: lists of texts; acceptance and tests may have a command, a line of sh that ends with status 0 once it holds"
        }
        TurnKind::Confirm(_) => "for each point, in order: 'yes', 'no' or {reword: '…'}",
        TurnKind::Extraction => {
            "a point that not all roles share: {point: '…', roles: ['TestPlanner']}"
        }
        TurnKind::AnswerBack(..) => "",
    }
}
