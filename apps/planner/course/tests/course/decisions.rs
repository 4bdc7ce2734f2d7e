//! The seven decisions, one test or more each.

use pipemux_planner_course::answers::Intent;
use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::event::{BackTo, Event, Prior, RULES};
use pipemux_planner_course::turn::TurnKind;
use pipemux_planner_course::{Role, Speaker, Stage, schema};
use serde_json::json;

use crate::support::{NO, Play, YES, extraction, plan, slow, synthesis, verdict};

#[test]
fn five_agreements_in_round_1_lead_to_a_plan_at_once() {
    let mut play = Play::begun();
    play.round([YES; 5]);
    assert_eq!(play.course.stage, Stage::Synthesis(1));
    play.answer(synthesis());
    assert_eq!(play.course.stage, Stage::Plan(1));
    play.answer(plan());
    assert_eq!(play.course.stage, Stage::Confirm);
    let Some(Artifact::Plan(made)) =
        play.course.versions.newest().map(|version| version.artifact.clone())
    else {
        panic!("a plan");
    };
    assert_eq!(schema::check("planning.ai", &made), Ok(()));
    assert_eq!(made["meta"]["note"], "roles shared one context");
    assert!(play.course.record.lines.is_empty(), "there was no meeting");
}

#[test]
fn plan_may_come_with_the_synthesis() {
    let mut play = Play::begun();
    play.round([YES; 5]);
    let mut both = synthesis();
    both["plan"] = plan();
    play.answer(both);
    assert_eq!(play.course.stage, Stage::Confirm);
}

#[test]
fn one_concern_leads_to_round_2_and_round_2_always_to_the_meeting() {
    let mut play = Play::begun();
    play.round([YES, YES, YES, YES, None]);
    assert_eq!(play.course.stage, Stage::Round(2));
    let payload = play.payload();
    assert_eq!(schema::check("payload.round_2", &payload), Ok(()));
    assert!(
        payload["coach_summary"]
            .as_str()
            .is_some_and(|text| text.contains("1 have a concern: RiskPlanner"))
    );
    play.round([YES; 5]);
    assert_eq!(play.course.stage, Stage::Extraction);
    play.signed(extraction());
    assert_eq!(play.course.stage, Stage::Meeting);
    assert!(
        play.course.record.lines[0]["text"]
            .as_str()
            .is_some_and(|text| text.contains("TestPlanner"))
    );
}

#[test]
fn round_3_is_given_exactly_the_six_fields() {
    let mut play = Play::begun();
    play.ok(Event::Adjust { text: "and keep it small".into() });
    play.ok(Event::Invite { reader: "eve".into(), veto: false });
    play.take("eve", Event::ExpertSpoke { ok: None, text: "mind the law".into() })
        .expect("the expert speaks");
    play.round([YES, NO, None, YES, YES]);
    play.round([YES, NO, YES, YES, YES]);
    play.signed(extraction());
    play.reply("keep it for a year");
    play.answer(verdict(YES, &[]));
    let payload = play.payload();
    assert_eq!(schema::check("payload.round_3", &payload), Ok(()));
    let names: Vec<&String> = payload.as_object().expect("an object").keys().collect();
    let wanted = [
        "clarification_questions",
        "consensus_from_r1_r2",
        "my_prompt",
        "previous_ai_responses_in_r3",
        "user_answers",
        "user_brief",
    ];
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(sorted, wanted);
    assert_eq!(payload["user_brief"], "add an audit log\n\n[added by the user]\nand keep it small");
    assert_eq!(payload["consensus_from_r1_r2"], extraction());
    assert_eq!(payload["user_answers"]["question_1"], "keep it for a year");
    assert_eq!(
        payload["clarification_questions"]["question_2"],
        "What does the invited expert (eve) say?"
    );
    assert_eq!(payload["user_answers"]["question_2"], "concern: mind the law");
    assert_eq!(payload["previous_ai_responses_in_r3"]["ProductPlanner"]["ok"], true);
    assert_eq!(
        payload["previous_ai_responses_in_r3"].as_object().map(serde_json::Map::len),
        Some(1)
    );
    // One field more is refused by the schema.
    let mut more = payload;
    more["hint"] = "x".into();
    assert_eq!(schema::check("payload.round_3", &more), Err("there is no field `hint`".into()));
}

#[test]
fn plan_comes_of_round_3_with_five_agreements_and_only_with_them() {
    let mut play = slow([YES; 5]);
    play.answer(synthesis());
    play.answer(plan());
    assert!(matches!(
        play.course.versions.newest().map(|one| &one.artifact),
        Some(Artifact::Plan(_))
    ));
    for ok in [NO, None] {
        let mut play = slow([YES, YES, YES, YES, ok]);
        play.signed(synthesis());
        assert!(matches!(
            play.course.versions.newest().map(|one| &one.artifact),
            Some(Artifact::Draft(_))
        ));
    }
}

#[test]
fn draft_names_each_position_that_was_not_agreed() {
    let mut play = slow([YES, NO, YES, YES, YES]);
    let mut made = synthesis();
    made["strong_disagreements"] = json!([{"topic": "storage", "positions": {"SystemDesigner": "SQLite", "TestPlanner": "files"}}]);
    play.signed(made);
    let version = play.course.versions.newest().expect("a version").clone();
    let Artifact::Draft(text) = &version.artifact else { panic!("a draft") };
    for wanted in [
        "> ⚠ This is a draft",
        "> add an audit log",
        "## What was not agreed",
        "- SystemDesigner: block · because",
        "### storage · open",
        "- TestPlanner: files",
        "## What was agreed",
        "- log it",
        "### Round 2",
        "user: keep it for a year",
        "## What you can do next",
        "roles shared one context",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert_eq!(version.objections, ["SystemDesigner: block · because", "disagreement: storage"]);
}

#[test]
fn what_the_coach_reserves_of_five_agreements_is_a_risk_of_the_plan() {
    let mut reserved = synthesis();
    reserved["reserved_points"] =
        json!([{"role": "RiskPlanner", "concern": "size", "severity": "error"}]);
    reserved["strong_disagreements"] =
        json!([{"topic": "storage", "positions": {"TestPlanner": "files"}}]);
    for mut play in [Play::begun(), slow([YES; 5])] {
        if play.course.cycle.rounds.is_empty() {
            play.round([YES; 5]);
        }
        // Nobody but the coach is asked.
        play.answer(reserved.clone());
        play.answer(plan());
        let Some(Artifact::Plan(made)) =
            play.course.versions.newest().map(|one| one.artifact.clone())
        else {
            panic!("a plan");
        };
        assert_eq!(schema::check("planning.ai", &made), Ok(()));
        let risk = json!({"id": "C1", "author": "Coach", "text": "size (error; the coach names RiskPlanner, who agreed)"});
        assert_eq!((&made["risks"][1], made["risks"].as_array().map(Vec::len)), (&risk, Some(3)));
    }
}

fn with_prior() -> Play {
    let mut play = Play::default();
    let prior = Prior {
        source: "planning.ai.json".into(),
        kind: "plan".into(),
        title: "rights".into(),
        version: "2".into(),
        key_points: vec!["users have roles".into()],
        ..Prior::default()
    };
    let (topic, brief) = ("audit".into(), "based on the rights, add an audit log".into());
    play.ok(Event::Start {
        topic,
        brief,
        prior: Some(Box::new(prior)),
        history: vec!["planned rights".into()],
        rules: RULES,
        parallel: false,
    });
    play
}

#[test]
fn coach_judges_the_intent_and_asks_the_user_when_unsure() {
    let mut play = with_prior();
    let payload = play.payload();
    assert_eq!(schema::check("payload.intent", &payload), Ok(()));
    assert_eq!(payload["uploaded_file"]["title"], "rights");
    play.answer(json!({"intent": "unsure"}));
    assert_eq!((play.course.stage, play.course.turns.first().is_none()), (Stage::AskIntent, true));
    play.refused(Event::Intent { intent: Intent::Other, words: " ".into() });
    play.ok(Event::Intent { intent: Intent::Other, words: "only its names".into() });
    let payload = play.payload();
    assert_eq!(payload["earlier_plan"]["use"], "reference");
    assert!(
        payload["user_brief"]
            .as_str()
            .is_some_and(|text| text.ends_with("[added by the user]\nonly its names"))
    );
    assert_eq!(schema::check("payload.round_1", &payload), Ok(()));
}

#[test]
fn refining_inherits_the_consensus_and_a_new_plan_does_not() {
    let mut play = with_prior();
    play.answer(json!({"intent": "refine", "reason": "it says so"}));
    assert!(play.course.brief.whole().contains("[inherited from rights 2]\n- users have roles"));
    let mut play = with_prior();
    play.answer(json!({"intent": "new"}));
    assert_eq!(play.course.brief.whole(), play.course.brief.text);
    assert!(play.payload().get("earlier_plan").is_none());
}

#[test]
fn failed_turn_stays_open_until_the_user_decides() {
    let mut play = Play::begun();
    let turn = play.turn();
    play.refused(Event::Retry);
    play.ok(Event::Failed { turn, reason: "not found".into() });
    assert!(play.course.turns.first().is_some_and(|turn| turn.failed.is_some()));
    assert_eq!(play.course.turns.open.len(), 5, "the others are asked all the same");
    play.ok(Event::Retry);
    assert_eq!(play.turn(), turn);
    play.ok(Event::LeaveOut { role: Role::ProductPlanner });
    for _ in 1..5 {
        play.answer(verdict(YES, &[]));
    }
    assert_eq!(play.course.stage, Stage::Round(2), "a plan needs all five");
    // The answer that comes late changes nothing.
    assert!(
        play.refused(Event::Answered { turn, answer: verdict(YES, &[]), missing: Vec::new() })
            .message
            .contains("over")
    );
}

#[test]
fn adjusted_brief_is_judged_again_by_all() {
    let mut play = Play::begun();
    play.answer(verdict(YES, &[]));
    play.ok(Event::Adjust { text: "in Rust".into() });
    assert_eq!(play.kind(), TurnKind::Verdict(1, Role::ProductPlanner));
    play.round([YES; 5]);
    play.ok(Event::Adjust { text: "and small".into() });
    assert_eq!(play.course.stage, Stage::Round(1));
    play.round([YES; 5]);
    play.answer(synthesis());
    play.answer(plan());
    play.ok(Event::Adjust { text: "and fast".into() });
    assert_eq!((play.course.cycle.number, play.course.stage), (2, Stage::Round(1)));
    // The whole plan is there, with its ids, and once only.
    for version in [1, 2] {
        let brief = play.course.brief.whole();
        assert!(
            brief.contains(&format!(
                "[agreed in version {version}]\nwhy:\n- to know who did what\n"
            ))
        );
        for part in [
            "requirements:\n- R1: each change is logged",
            "non goals:\n- reads",
            "test plan:\n- T1: covers A1",
        ] {
            assert_eq!(brief.matches(part).count(), 1, "{part}: {brief}");
        }
        play.round([YES; 5]);
        play.answer(synthesis());
        assert!(play.payload()["user_brief"].as_str().is_some_and(|text| text == brief));
        play.answer(plan());
        play.ok(Event::Adjust { text: "and faster".into() });
    }
}

#[test]
fn going_back_runs_the_stages_behind_again_and_leaves_no_meeting_out() {
    let mut play = slow([YES, NO, YES, YES, YES]);
    play.signed(synthesis());
    let said = play.course.record.statements.len();
    play.ok(Event::Back { stage: BackTo::Round1 });
    assert!(play.course.record.statements.len() > said && play.course.versions.all.len() == 1);
    play.round([YES, YES, YES, YES, None]);
    play.round([YES; 5]);
    play.signed(extraction());
    assert_eq!(play.course.stage, Stage::Meeting);
    // What was answered isn't asked again for the sake of the extraction before it.
    play.reply("two years");
    play.ok(Event::Back { stage: BackTo::Extraction });
    play.signed(extraction());
    assert_eq!(play.course.stage, Stage::Round(3));
    play.ok(Event::Back { stage: BackTo::Meeting });
    assert_eq!(play.course.stage, Stage::Meeting);
    play.ok(Event::Back { stage: BackTo::Round1 });
    play.round([YES; 5]);
    assert_eq!(play.course.stage, Stage::Synthesis(1), "five agreements are the plan");
    let mut early = Play::begun();
    assert!(
        early.refused(Event::Back { stage: BackTo::Round3 }).message.contains("was not reached")
    );
}

#[test]
fn pausing_loses_no_answer_and_opens_no_turn() {
    let mut play = Play::begun();
    play.ok(Event::Pause);
    for _ in 0..5 {
        play.answer(verdict(NO, &[]));
    }
    assert!(play.course.turns.first().is_none());
    play.ok(Event::Resume);
    assert_eq!(play.kind(), TurnKind::Verdict(2, Role::ProductPlanner));
}

#[test]
fn expert_with_a_veto_keeps_a_plan_from_coming_about() {
    for (veto, stage) in [(false, Stage::Synthesis(1)), (true, Stage::Round(2))] {
        let mut play = Play::begun();
        play.ok(Event::Invite { reader: "eve".into(), veto });
        assert!(
            play.refused(Event::ExpertSpoke { ok: NO, text: "x".into() }).message.contains("eve")
        );
        play.take("eve", Event::ExpertSpoke { ok: NO, text: "illegal".into() })
            .expect("the expert speaks");
        play.round([YES; 5]);
        assert_eq!(play.course.stage, stage);
    }
}

#[test]
fn rolled_back_version_is_a_new_one_that_says_so() {
    let mut play = slow([NO; 5]);
    play.signed(synthesis());
    play.ok(Event::Adjust { text: "smaller".into() });
    play.round([YES; 5]);
    play.answer(synthesis());
    play.answer(plan());
    play.ok(Event::RollBack { to: 1 });
    let version = play.course.versions.newest().expect("a version");
    assert_eq!((version.number, version.rolled_back_from), (3, Some(1)));
    assert_eq!(version.text(), play.course.versions.all[0].text(), "word for word");
    assert_eq!(version.objections.len(), 5);
    play.refused(Event::RollBack { to: 9 });
    play.ok(Event::Accept);
    play.ok(Event::Discard);
    play.refused(Event::Accept);
}

#[test]
fn role_is_played_by_the_reader_who_took_it() {
    let mut play = Play::begun();
    play.ok(Event::Take { role: Speaker::Role(Role::TestPlanner) });
    let refusal = play
        .take("bob", Event::Take { role: Speaker::Role(Role::TestPlanner) })
        .expect_err("the second is told");
    assert_eq!(refusal.message, "TestPlanner is played by reader ann");
}
