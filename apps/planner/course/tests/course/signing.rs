//! Signed consensus: what the coach writes of the roles stands once they have confirmed it.

use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::event::Event;
use pipemux_planner_course::turn::TurnKind;
use pipemux_planner_course::{Role, Stage, schema};
use serde_json::{Value, json};

use crate::support::{NO, Play, YES, extraction, synthesis};

/// A course whose coach extracts this after two rounds.
fn extracted(answer: Value) -> Play {
    let mut play = Play::begun();
    play.round([YES, YES, YES, YES, NO]);
    play.round([YES, YES, YES, YES, NO]);
    play.answer(answer);
    play
}

/// What a role answers to the points that cite it.
#[track_caller]
fn confirms(play: &mut Play, role: Role, answers: Value) {
    let turns = &play.course.turns.open;
    let turn = turns.iter().find(|turn| turn.kind == TurnKind::Confirm(role)).expect("its turn").id;
    let answer = json!({"answers": answers});
    play.ok(Event::Answered { turn, answer, missing: Vec::new() });
}

#[test]
fn points_stand_as_the_roles_that_they_cite_confirm_them() {
    let point = |text: &str, roles: &[&str]| json!({"point": text, "roles": roles});
    let mut play = extracted(json!({
        "agreed_points": [
            point("log it", &["ProductPlanner", "RiskPlanner"]),
            point("in SQLite", &["ProductPlanner", "RiskPlanner"]),
            point("size", &["RiskPlanner"]),
        ],
        "conflicting_points": [point("how long", &["RiskPlanner"]), point("who", &["ProductPlanner"])],
    }));
    let asked: Vec<TurnKind> = play.course.turns.open.iter().map(|turn| turn.kind).collect();
    let wanted = [Role::ProductPlanner, Role::RiskPlanner].map(TurnKind::Confirm);
    assert_eq!(asked, wanted, "all that are cited, at the same time, and nobody else");
    let payload = play.course.payload_of(wanted[1], &Default::default());
    assert_eq!(schema::check("payload.confirm", &payload), Ok(()));
    assert_eq!(payload["points"][3], json!({"kind": "conflicting", "text": "how long"}));
    let turn = play.turn();
    for (answers, why) in
        [(json!(["yes"]), "1 for 3 points"), (json!(["maybe", "no", "no"]), "got")]
    {
        let answer = json!({"answers": answers});
        let refusal = play.refused(Event::Answered { turn, answer, missing: Vec::new() });
        assert!(refusal.message.contains(why), "{}", refusal.message);
    }
    confirms(
        &mut play,
        Role::RiskPlanner,
        json!(["yes", {"reword": "in files"}, {"reword": "at most 1 GB"}, {"reword": "a year"}]),
    );
    confirms(&mut play, Role::ProductPlanner, json!(["yes", "yes", "no"]));
    let made = play.course.cycle.extraction.clone().expect("an extraction");
    assert_eq!(made.agreed_points, ["log it", "at most 1 GB"]);
    assert_eq!(
        made.conflicting_points,
        ["in SQLite (RiskPlanner: in files)", "how long (RiskPlanner: a year)"]
    );
    assert_eq!(play.course.stage, Stage::Meeting);
}

#[test]
fn roles_that_a_synthesis_names_are_asked_whether_it_is_their_point() {
    let mut play = extracted(extraction());
    while let TurnKind::Confirm(role) = play.kind() {
        confirms(&mut play, role, json!(["yes", "yes"]));
        if play.course.turns.first().is_none() {
            break;
        }
    }
    play.reply("a year");
    play.round([YES, YES, YES, YES, NO]);
    let mut made = synthesis();
    made["reserved_points"] = json!([
        {"role": "RiskPlanner", "concern": "size", "severity": "error"},
        {"role": "TestPlanner", "concern": "no data", "severity": "warning"},
    ]);
    made["strong_disagreements"] = json!([{"topic": "storage", "positions": {"RiskPlanner": "files", "TestPlanner": "SQLite"}}]);
    play.answer(made);
    // What all have signed in the extraction isn't asked again.
    let asked: Vec<TurnKind> = play.course.turns.open.iter().map(|turn| turn.kind).collect();
    assert_eq!(asked, [Role::TestPlanner, Role::RiskPlanner].map(TurnKind::Confirm));
    confirms(&mut play, Role::TestPlanner, json!(["no", "no"]));
    confirms(&mut play, Role::RiskPlanner, json!([{"reword": "at most 1 GB"}, "yes"]));
    let version = play.course.versions.newest().expect("a version").clone();
    let wanted = [
        "RiskPlanner: block · because",
        "RiskPlanner: at most 1 GB (error)",
        "disagreement: storage",
    ];
    assert_eq!(version.objections, wanted);
    let Artifact::Draft(text) = &version.artifact else { panic!("a draft") };
    assert!(!text.contains("no data") && !text.contains("SQLite"), "{text}");
    assert!(text.contains("## What was agreed\n\n- log it\n"), "{text}");
}

#[test]
fn role_that_is_left_out_is_not_waited_for() {
    let mut play = extracted(extraction());
    play.ok(Event::LeaveOut { role: Role::RiskPlanner });
    for role in &Role::ALL[..4] {
        confirms(&mut play, *role, json!(["yes", "no"]));
    }
    let made = play.course.cycle.extraction.as_ref().expect("an extraction");
    assert_eq!(made.agreed_points, ["log it"]);
    assert!(made.conflicting_points.is_empty(), "what all deny is nobody's");
}
