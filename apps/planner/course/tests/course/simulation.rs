//! Random courses against the decisions as laws. `PIPEMUX_COURSES=10000` plays more of them; each
//! seed gives one course.

use fastrand::Rng;
use pipemux_planner_course::answers::Intent;
use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::event::{BackTo, Effect, Entry, Event, Prior, RULES};
use pipemux_planner_course::turn::{Turn, TurnKind};
use pipemux_planner_course::versions::Version;
use pipemux_planner_course::{Course, Role, Speaker, Stage, schema};
use serde_json::{Value, json};

use crate::support::{Play, extraction, plan, synthesis};

/// Courses that are played unless more are asked for.
const COURSES: u64 = 80;

/// Events of a course.
const EVENTS: usize = 90;

#[test]
fn random_courses_keep_the_decisions() {
    let courses =
        std::env::var("PIPEMUX_COURSES").ok().and_then(|text| text.parse().ok()).unwrap_or(COURSES);
    let mut seen = [0; 4];
    for seed in 0..courses {
        let course = play(seed);
        let made =
            |word: &str| course.versions.all.iter().any(|version| version.artifact.word() == word);
        let is_met = course.record.lines.iter().any(|line| line["kind"] == "closing");
        for (count, holds) in
            seen.iter_mut().zip([made("plan"), made("draft"), is_met, course.cycle.number > 1])
        {
            *count += u64::from(holds);
        }
    }
    // A simulation that never gets anywhere would prove nothing.
    assert!(
        seen.iter().all(|count| *count > courses / 20),
        "plans, drafts, meetings, cycles: {seen:?} of {courses}"
    );
}

/// Plays the course of a seed.
fn play(seed: u64) -> Course {
    let mut rng = Rng::with_seed(seed);
    let mut play = Play::default();
    let prior = Prior {
        source: "a".into(),
        kind: "plan".into(),
        title: "t".into(),
        key_points: vec!["k".into()],
        ..Prior::default()
    };
    let prior = (rng.u8(..4) == 0).then(|| Box::new(prior));
    let (topic, brief) = ("topic".to_owned(), "brief".to_owned());
    step(
        &mut play,
        seed,
        "ann",
        Event::Start { topic, brief, prior, history: Vec::new(), rules: RULES, parallel: false },
    );
    // Some courses are of roles that mostly agree, so that all ways are taken.
    let agreeable = rng.u8(..100);
    for _ in 0..EVENTS {
        let event = event(&mut rng, &play.course, agreeable);
        let reader = if rng.u8(..5) == 0 { "bob" } else { "ann" };
        step(&mut play, seed, reader, event);
        if rng.u8(..20) == 0 {
            // A kill: all that is left is the journal, as its lines.
            play = reopened(&play, seed);
        }
    }
    play.course
}

/// Returns what somebody may do next, mostly what is expected.
fn event(rng: &mut Rng, course: &Course, agreeable: u8) -> Event {
    let text = || "some words".to_owned();
    if rng.u8(..100) < 85 {
        match (open(rng, course), course.stage) {
            (Some(turn), _) => {
                let answer = answer(rng, course, turn.kind, agreeable);
                return Event::Answered { turn: turn.id, answer, missing: Vec::new() };
            }
            (None, Stage::AskIntent) => {
                return Event::Intent { intent: Intent::Refine, words: String::new() };
            }
            (None, Stage::Meeting) if rng.u8(..4) == 0 => return Event::Say { text: text() },
            (None, Stage::Meeting) if rng.u8(..4) == 0 => {
                return Event::Reply { question: None, text: "I don't know".into() };
            }
            (None, Stage::Meeting) => return Event::Reply { question: None, text: text() },
            (None, Stage::Confirm | Stage::Accepted) => return Event::Adjust { text: text() },
            _ if course.paused => return Event::Resume,
            _ => {}
        }
    }
    let turn = open(rng, course).map_or(rng.u64(..9), |turn| turn.id);
    let role = Role::ALL[rng.usize(..5)];
    match rng.u8(..20) {
        0 | 1 => Event::Failed { turn, reason: "gone".into() },
        2 | 3 => Event::Retry,
        4 if rng.u8(..4) == 0 => Event::LeaveOut { role },
        5 if rng.bool() => Event::Take { role: Speaker::Role(role) },
        5 => Event::Take { role: Speaker::Coach },
        6 => Event::Reply { question: Some(rng.u32(..4)), text: text() },
        7 => Event::Say { text: text() },
        8 => Event::Adjust { text: text() },
        9 => Event::Accept,
        10 => Event::Pause,
        11 | 12 => Event::Resume,
        13 => {
            let stages = [
                BackTo::Round1,
                BackTo::Round2,
                BackTo::Meeting,
                BackTo::Extraction,
                BackTo::Round3,
            ];
            Event::Back { stage: stages[rng.usize(..5)] }
        }
        14 => Event::Invite { reader: "bob".into(), veto: rng.bool() },
        15 => {
            Event::ExpertSpoke { ok: [Some(true), Some(false), None][rng.usize(..3)], text: text() }
        }
        16 => Event::RollBack { to: rng.u32(..3) },
        17 | 18 => Event::Edited { text: edited(rng, course) },
        // An answer to a turn that is over, or a malformed one.
        _ => Event::Answered {
            turn: turn.saturating_sub(rng.u64(..2)),
            answer: json!({"ok": "yes"}),
            missing: Vec::new(),
        },
    }
}

/// Returns what somebody makes of the artifact's file: something else, the same in another form, an
/// earlier one, no plan.
fn edited(rng: &mut Rng, course: &Course) -> String {
    let Some(last) = course.versions.newest() else { return String::new() };
    match rng.u8(..5) {
        0 => last.text().replace("log", "logbook"),
        1 => last.text().trim_end().to_owned(),
        2 => course.versions.all[rng.usize(..course.versions.all.len())].text(),
        3 => "[1,2]".into(),
        _ => last.text() + "\n",
    }
}

/// Returns one of the open turns: several roles may speak at the same time, and answer in any
/// order.
fn open<'a>(rng: &mut Rng, course: &'a Course) -> Option<&'a Turn> {
    let open = &course.turns.open;
    open.get(rng.usize(..open.len().max(1)))
}

fn answer(rng: &mut Rng, course: &Course, kind: TurnKind, agreeable: u8) -> Value {
    match kind {
        TurnKind::Verdict(round, _) => {
            let agrees = rng.u8(..100) < agreeable || (round == 3 && rng.bool());
            let ok = if agrees { Some(true) } else { [Some(false), None][rng.usize(..2)] };
            // Some are asked again in the next round, in the same words or nearly so, and some
            // aren't.
            let words = ["What?", "what ?", "When?", "Why?", "为什么？", "?"];
            let questions: Vec<&str> =
                (0..rng.usize(..3)).map(|_| words[rng.usize(..words.len())]).collect();
            json!({"ok": ok, "reasons": ["r"], "blocking_open_questions": questions})
        }
        TurnKind::Judge(..) => match rng.u8(..3) {
            0 => json!({"action": "skip", "reason": "r"}),
            1 => json!({"action": "modify", "question": "how?", "reason": "r"}),
            _ => json!({"action": "ask", "reason": "r"}),
        },
        TurnKind::FollowUp(_) if rng.u8(..3) == 0 => json!({"question": "and then?"}),
        TurnKind::FollowUp(_) => json!({"question": null}),
        TurnKind::AnswerBack(..) => json!({"answer": "so"}),
        TurnKind::Intent => {
            let intents = ["refine", "new", "unsure", "new_with_reference"];
            json!({"intent": intents[rng.usize(..4)]})
        }
        TurnKind::Extraction => extraction(),
        TurnKind::Confirm(role) => {
            let points = course.cycle.signing.as_ref().map_or(0, |all| all.of(role).count());
            let answers = [json!("yes"), json!("yes"), json!("no"), json!({"reword": "rather so"})];
            let answers: Vec<Value> =
                (0..points).map(|_| answers[rng.usize(..4)].clone()).collect();
            json!({"answers": answers})
        }
        TurnKind::Synthesis => {
            let mut made = synthesis();
            if rng.u8(..4) == 0 {
                made["reserved_points"] =
                    json!([{"role": "RiskPlanner", "concern": "c", "severity": "error"}]);
            }
            if rng.bool() {
                made["plan"] = plan();
            }
            made
        }
        TurnKind::Plan => plan(),
    }
}

/// Takes one event and checks the laws.
fn step(play: &mut Play, seed: u64, reader: &str, event: Event) {
    let before = play.course.clone();
    let at = format!("seed {seed}, entry {}: {event:?}", play.journal.len());
    let Ok(effects) = play.take(reader, event.clone()) else {
        assert_eq!(play.course, before, "a refused entry changes nothing; {at}");
        return;
    };
    let course = &play.course;
    assert!(
        course.record.lines.len() >= before.record.lines.len(),
        "the record of the meeting only grows; {at}"
    );
    assert!(
        course.record.statements.len() >= before.record.statements.len(),
        "the record only grows; {at}"
    );
    if let Some(meeting) = course.cycle.meeting.as_ref().filter(|_| before.cycle.meeting.is_none())
    {
        let has = |role, text: &str| {
            let words = |text: &str| text.to_lowercase().replace(' ', "");
            let mut of_role = meeting.questions.iter().filter(|one| one.role == Some(role));
            of_role.any(|one| words(&one.text) == words(text))
        };
        for (role, spoken) in [1, 2].into_iter().flat_map(|round| course.cycle.verdicts(round)) {
            for text in &spoken.verdict.blocking_open_questions {
                assert!(has(role, text), "{role}'s {text:?} didn't reach the meeting; {at}");
            }
        }
    }
    if (before.stage, course.stage) == (Stage::Meeting, Stage::Round(3)) {
        assert!(course.cycle.all_questions_settled(), "a question is open after the meeting; {at}");
    }
    for effect in &effects {
        match effect {
            Effect::Version(_)
                if matches!(event, Event::RollBack { .. } | Event::Edited { .. }) => {}
            Effect::Version(_) => check_version(course, &at),
            Effect::Play(id) => {
                let turn = course.turns.open.iter().find(|turn| turn.id == *id);
                let turn = turn.expect("the turn that is played");
                if let TurnKind::Verdict(round, role) = turn.kind {
                    let spoken = course
                        .cycle
                        .rounds
                        .get(&round)
                        .is_some_and(|spoken| spoken.contains_key(&role));
                    assert!(!spoken, "{role} is asked again; {at}");
                }
            }
            Effect::Cancel(_) | Effect::Line(_) => {}
        }
    }
    for version in course.versions.all.iter().filter(|one| one.artifact.word() == "plan") {
        let made = |one: &&Version| !one.edited && one.rolled_back_from.is_none();
        let is_agreed =
            course.versions.all.iter().filter(made).any(|one| one.artifact == version.artifact);
        assert!(is_agreed || version.edited, "nobody agreed to version {}; {at}", version.number);
    }
    for (before, now) in before.versions.all.iter().zip(&course.versions.all) {
        assert_eq!(before, now, "a version stays as it is; {at}");
    }
    let ended = matches!(course.stage, Stage::Synthesis(_) | Stage::Plan(_));
    if ended && agreed(course) && !vetoed(course) {
        let is_coach = |turn: &Turn| turn.kind.speaker() == Speaker::Coach;
        assert!(course.turns.open.iter().all(is_coach), "five agree, and a role is asked; {at}");
    }
    for turn in &course.turns.open {
        let payload = course.payload_of(turn.kind, &Default::default());
        let name = match turn.kind {
            TurnKind::Verdict(round, _) => format!("payload.round_{round}"),
            other => format!("payload.{}", other.schema()),
        };
        assert_eq!(schema::check(&name, &payload), Ok(()), "{at}");
    }
}

/// Returns true if all five agree in the last round on the brief as it is.
fn agreed(course: &Course) -> bool {
    let round = if course.cycle.rounds.contains_key(&3) { 3 } else { 1 };
    let agrees = |role: &Role| {
        let one = course.cycle.rounds.get(&round)?.get(role)?;
        Some(one.verdict.ok == Some(true) && one.revision == course.brief.revision)
    };
    Role::ALL.iter().all(|role| agrees(role) == Some(true))
}

fn vetoed(course: &Course) -> bool {
    let expert = course.expert.as_ref().filter(|expert| expert.veto);
    expert.and_then(|expert| expert.words.last()).is_some_and(|(ok, _)| *ok == Some(false))
}

/// Checks what holds for each version that a cycle makes.
fn check_version(course: &Course, at: &str) {
    let version = course.versions.newest().expect("a version");
    assert!(course.cycle.synthesis.is_some(), "no artifact before a synthesis; {at}");
    match &version.artifact {
        Artifact::Plan(plan) => {
            assert!(agreed(course), "a plan without five agreements; {at}");
            assert_eq!(schema::check("planning.ai", plan), Ok(()), "{at}");
        }
        Artifact::Draft(_) => {
            assert!(!agreed(course) || vetoed(course), "five agree, and it is a draft; {at}");
            assert!(!version.objections.is_empty(), "a draft that nothing stands against; {at}");
        }
    }
    let round = if course.cycle.rounds.contains_key(&3) { 3 } else { 1 };
    let met = course.cycle.meeting.as_ref().is_some_and(|meeting| meeting.closed.is_some());
    if course.cycle.rounds.contains_key(&2) || round == 3 {
        assert!(met, "a meeting was left out; {at}");
        assert!(course.cycle.extraction.is_some(), "round 3 without an extraction; {at}");
    }
}

/// Returns the course as its journal gives it.
fn reopened(play: &Play, seed: u64) -> Play {
    let mut again = Play::default();
    for entry in &play.journal {
        let line = serde_json::to_string(entry).expect("a line");
        let entry: Entry = serde_json::from_str(&line).expect("an entry");
        again.course.apply(&entry).expect("an accepted entry is accepted again");
        again.journal.push(entry);
    }
    assert_eq!(again.course, play.course, "seed {seed}: every accepted word is in the journal");
    again
}
