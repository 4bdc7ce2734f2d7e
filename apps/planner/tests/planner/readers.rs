//! Each reader is told what it is, and whether something is expected of it now.

use docui::Lod;
use pipemux_planner::Action;
use pipemux_proto::app::Outcome;
use serde_json::json;

use crate::support::{NO, ROLES, Session, YES, extraction, plan, speak, synthesis, verdict};

const USER: &str = "default";

/// Has readers take roles.
fn taken(session: &mut Session, roles: &[(&str, &str)]) {
    for (reader, role) in roles {
        let taken = session.host.invoke_as(reader, 0, &Action::Take { role: (*role).into() });
        assert!(matches!(taken, Outcome::Done(_)), "{taken:?}");
    }
}

#[track_caller]
fn says(session: &mut Session, reader: &str, role: &str, questions: &[&str]) {
    let said = session.host.invoke_as(reader, 0, &verdict(role, NO, questions));
    assert!(matches!(said, Outcome::Done(_)), "{said:?}");
}

/// The lines of a window that say who the reader is and what is expected.
fn head(session: &mut Session, reader: &str) -> String {
    let view = session.host.text_for(reader, Lod::Gist, 500).unwrap();
    view.lines().skip(1).collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[test]
fn role_that_nobody_has_taken_is_offered_and_expected_of_the_user_alone() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    taken(&mut session, &[("ann", "ProductPlanner"), ("bob", "TestPlanner"), ("bob", "Coach")]);
    says(&mut session, "ann", "ProductPlanner", &[]);
    // The roles of round 1 are asked at the same time.
    assert!(head(&mut session, "bob").contains("**Expected of you now**: you play TestPlanner"));
    says(&mut session, "bob", "TestPlanner", &[]);
    let untaken = "nobody has taken SystemDesigner, who judges the brief";
    for (reader, who) in
        [("ann", "You are ProductPlanner."), ("bob", "You are TestPlanner and Coach.")]
    {
        let head = head(&mut session, reader);
        assert!(head.starts_with(who), "{head}");
        assert!(
            head.contains("Nobody has taken SystemDesigner, SeniorDeveloper, RiskPlanner."),
            "{head}"
        );
        assert!(head.contains(&format!("**Wait**: {untaken}\n`pipemux run --wait 300")), "{head}");
        assert!(!head.contains("verdict("), "{head}");
    }
    let user = head(&mut session, USER);
    assert!(user.starts_with("You speak for the user."), "{user}");
    assert!(user.contains(&format!("**Expected of you now**: {untaken}: see to it")), "{user}");
    assert!(
        user.contains("`pipemux --reader NAME run 'planner.take(\"SystemDesigner\")'`"),
        "{user}"
    );
    let newcomer = head(&mut session, "eve");
    assert!(newcomer.starts_with("You hold no role."), "{newcomer}");
    assert!(newcomer.contains("you may take SystemDesigner, who judges the brief\n`pipemux run 'planner.take(\"SystemDesigner\")'`"), "{newcomer}");
}

#[test]
fn user_s_turn_is_expected_of_the_user_and_role_readers_wait() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    let roles: Vec<(&str, &str)> = ROLES.iter().map(|role| (*role, *role)).collect();
    taken(&mut session, &roles);
    taken(&mut session, &[("RiskPlanner", "Coach")]);
    for role in ROLES {
        says(&mut session, role, role, &["Which users?"][..usize::from(role == "TestPlanner")]);
    }
    for role in ROLES {
        says(&mut session, role, role, &[]);
    }
    session.signed(extraction());
    // What the turn is about stands beside the call.
    assert!(head(&mut session, "TestPlanner").contains("\n- the question: Which users?\n"));
    let judge = speak(json!({"action": "ask", "reason": "r"}), "TestPlanner");
    let Outcome::Failed(fault) = session.host.invoke_as("RiskPlanner", 0, &judge) else {
        panic!("refused")
    };
    assert_eq!(fault.message, "TestPlanner is played by reader TestPlanner, not by RiskPlanner");
    assert!(fault.hints[0].starts_with("pipemux run --wait 300"), "{fault:?}");
    assert!(matches!(session.host.invoke_as("TestPlanner", 0, &judge), Outcome::Done(_)));
    let asked = "the user answers TestPlanner (question 1 of 1 so far): Which users?";
    for reader in ["TestPlanner", "RiskPlanner"] {
        let head = head(&mut session, reader);
        assert!(head.contains(&format!("**Wait**: {asked}\n`pipemux run --wait 300")), "{head}");
        assert!(!head.contains("reply("), "{head}");
    }
    for reader in [USER, "attach-1"] {
        let head = head(&mut session, reader);
        assert!(
            head.contains(&format!(
                "**Expected of you now**: {asked}\n`pipemux run 'planner.reply("
            )),
            "{head}"
        );
    }
    // Somebody new may be the user's second reader.
    let head = head(&mut session, "eve");
    assert!(
        head.contains("**Wait**")
            && head.contains("if you speak for the user: `pipemux run 'planner.reply("),
        "{head}"
    );
    session.reply("all");
    assert!(
        self::head(&mut session, USER).contains(
            "**Wait**: reader TestPlanner plays TestPlanner, who may ask one more question"
        )
    );
}

#[test]
fn who_plays_a_role_does_nothing_in_the_user_s_place() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    taken(&mut session, &[("ann", "TestPlanner")]);
    let invite = Action::Invite { reader: "eve".into(), veto: false };
    session.done(invite);
    // Bob took nothing, but has spoken.
    says(&mut session, "bob", "RiskPlanner", &[]);
    let acts = [
        Action::Reply { text: "yes".into(), question: None, wait: false },
        Action::Say { text: "yes".into() },
        Action::Adjust { text: "make it pink".into(), check: false },
        Action::LeaveOut { role: "RiskPlanner".into() },
        Action::Accept {},
        Action::Discard {},
        Action::Handoff { command: String::new() },
        Action::RollBack { version: 1 },
        Action::Pause {},
        Action::Resume {},
        Action::Driver { role: "all".into(), driver: "agent".into() },
    ];
    let before = session.view();
    for act in &acts {
        for (reader, role) in
            [("ann", "TestPlanner"), ("bob", "RiskPlanner"), ("eve", "the invited expert")]
        {
            let Outcome::Failed(fault) = session.host.invoke_as(reader, 0, act) else {
                panic!("{reader}: {act:?}")
            };
            let wanted = format!(
                "reader {reader} plays {role}: only the user (reader default, or a person) can do that"
            );
            assert_eq!(fault.message, wanted);
        }
    }
    assert_eq!(session.view(), before);
    for (reader, text) in [(USER, "for all"), ("attach-1", "and small")] {
        let act = Action::Adjust { text: text.into(), check: false };
        assert!(matches!(session.host.invoke_as(reader, 0, &act), Outcome::Done(_)));
    }
    // A driver's name is no reader's.
    let mut session = Session::new("driver = \"x\"\n[drivers.x]\ncommand = \"sleep 1000\"\n");
    session.plan("add an audit log");
    let act = Action::Adjust { text: "make it pink".into(), check: false };
    let Outcome::Failed(fault) = session.host.invoke_as("x", 0, &act) else { panic!("refused") };
    assert!(fault.message.starts_with("reader x plays ProductPlanner"), "{}", fault.message);
}

#[test]
fn window_at_the_decision_shows_the_plan_within_its_budget() {
    let mut session = Session::agent();
    session.fast();
    let view = session.view();
    assert!(view.contains("**requirements**: R1: each change is logged\n"), "{view}");
    assert!(
        view.contains("**risks**: K1: size · owner ann · affects R1\n")
            || view.contains("**risks**: K1:"),
        "{view}"
    );
    assert!(view.find("**why**") < view.find("**test plan**"), "{view}");
    // A long plan is folded by section, each a call away.
    let mut session = Session::agent();
    session.plan("add an audit log");
    session.round([YES; 5]);
    let mut both = synthesis();
    both["plan"] = plan();
    both["plan"]["scope"] =
        (0..60).map(|n| format!("第 {n} 部分 · every change of table {n} 🙂")).collect();
    session.speak(both);
    let folded = session.host.text(Lod::Summary, 900).unwrap();
    assert!(
        folded.contains("**scope**: 60 items: `pipemux ask 'planner.artifact(\"scope\")'`"),
        "{folded}"
    );
    assert!(docui::tokens::estimate(&folded) < 1100, "{}", docui::tokens::estimate(&folded));
    let section = session.done(Action::Artifact { section: "Scope".into() });
    assert!(section.brief.contains("plan version 1 · scope"), "{}", section.brief);
    let fault = session.fails(Action::Artifact { section: "colour".into() });
    assert!(
        fault.message.contains("there are why, what, brief, answers, constraints"),
        "{}",
        fault.message
    );
}

#[test]
fn newest_words_of_each_speaker_stand_whole_and_the_record_takes_a_part() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    let long = |word: &str| format!("{word} begins {} and ends", "and goes on ".repeat(30));
    session.done(Action::Invite { reader: "eve".into(), veto: false });
    let says = |session: &mut Session, words: String| {
        let mut said = verdict("Expert", NO, &[]);
        if let Action::Verdict { reasons, .. } = &mut said {
            *reasons = vec![words];
        }
        assert!(matches!(session.host.invoke_as("eve", 0, &said), Outcome::Done(_)));
    };
    says(&mut session, long("first"));
    says(&mut session, long("second"));
    let view = session.view();
    assert!(view.contains(&long("second")), "{view}");
    assert!(!view.contains(&long("first")), "only a gist of what came before: {view}");
    let last = session.done(Action::Record { since: 0, last: 1 });
    assert!(last.brief.contains("1 of 3 entries"), "{}", last.brief);
    for (since, entries) in [(0, 3), (1, 3), (2, 2), (3, 1), (4, 0), (99, 0), (-5, 3)] {
        let part = session.done(Action::Record { since, last: 0 });
        assert!(part.brief.contains(&format!("{entries} of 3 entries")), "{since}: {}", part.brief);
    }
    // Longer words are cut, with the call that has them all.
    says(&mut session, "字".repeat(5_000));
    let view = session.view();
    assert!(view.contains("all of it: `pipemux ask 'planner.record(since=4)'`"), "{view}");
}

#[test]
fn role_does_not_go_on_with_a_discussion_from_a_topic_of_its_own() {
    let mut session = Session::agent();
    session.fast();
    taken(&mut session, &[("ann", "TestPlanner")]);
    let from = || Some(docui::FilePath(".planning/add-an-audit-log/planning.ai.json".into()));
    let plan =
        |intent| Action::Plan { brief: "pink".into(), from: from(), intent, topic: String::new() };
    let go_on = pipemux_planner::action::IntentName::ContinueDiscussion;
    let journal = ".planning/add-an-audit-log/journal.jsonl";
    let before = session.read(journal);
    let refused = |session: &mut Session, act: &Action| {
        let Outcome::Failed(fault) = session.host.invoke_as("ann", 0, act) else {
            panic!("{act:?}")
        };
        assert!(fault.message.starts_with("reader ann plays TestPlanner"), "{}", fault.message);
    };
    refused(&mut session, &plan(Some(go_on)));
    assert!(!session.path(".planning/pink").exists());
    assert!(matches!(session.host.invoke_as("ann", 0, &plan(None)), Outcome::Done(_)));
    refused(&mut session, &Action::Intend { kind: go_on, words: String::new() });
    refused(&mut session, &speak(json!({"intent": "continue_discussion", "reason": "r"}), ""));
    assert_eq!(session.read(journal), before);
}

#[test]
fn person_takes_the_expert_s_part_and_is_asked_in_each_round_and_the_meeting() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    let take = || Action::Take { role: "Expert".into() };
    // An agent is invited by the user, or isn't the expert.
    let refused = session.host.invoke_as("bob", 0, &take());
    assert!(
        matches!(&refused, Outcome::Failed(fault) if fault.hints[0].contains("planner.invite"))
    );
    assert!(matches!(session.host.invoke_as("person-eve", 0, &take()), Outcome::Done(_)));
    let asks = |session: &mut Session| {
        let view = session.view_of("person-eve");
        assert!(view.contains("You are the invited expert."), "{view}");
        view.contains("**Expected of you now**")
    };
    let speaks = |session: &mut Session| {
        assert!(asks(session), "{}", session.view_of("person-eve"));
        let said = session.host.invoke_as("person-eve", 0, &verdict("Expert", NO, &[]));
        assert!(matches!(said, Outcome::Done(_)), "{said:?}");
        assert!(!asks(session), "{}", session.view_of("person-eve"));
    };
    speaks(&mut session);
    session.round([YES, NO, YES, YES, YES]);
    speaks(&mut session);
    session.round([YES, NO, YES, YES, YES]);
    assert!(!asks(&mut session), "nothing is asked while the coach extracts");
    session.signed(extraction());
    speaks(&mut session);
    // The user's answer is the user's.
    let reply = Action::Reply { text: "a year".into(), question: None, wait: false };
    let refused = session.host.invoke_as("person-eve", 0, &reply);
    assert!(
        matches!(&refused, Outcome::Failed(fault) if fault.message.contains("plays the invited expert")),
        "{refused:?}"
    );
    session.reply("a year");
    // The roles are given the expert's words; five of them are the plan all the same.
    let payload = session.done(Action::Payload { role: String::new() });
    let payload = payload.value.unwrap().to_value().unwrap();
    assert!(payload.as_str().unwrap().contains("What does the invited expert (person-eve) say?"));
    session.round([YES; 5]);
    let mut both = synthesis();
    both["plan"] = plan();
    session.speak(both);
    assert!(session.view().contains("decides on the plan: all five agree"));
}
