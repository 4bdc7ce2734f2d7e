//! The one thing that is expected of the reader now, with the call that does it.

use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::quality::quality;
use pipemux_planner_course::turn::{Turn, TurnKind};
use pipemux_planner_course::{Speaker, Stage};

use crate::config::DriverSpec;
use crate::model::Planner;
use crate::window::place;

/// What is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Who is to do something.
    pub who: String,
    /// What it is to do, as the rest of a sentence that begins with `who`.
    pub what: String,
    /// The whole command that does it.
    pub call: String,
    /// What else could be done, a line each.
    pub also: Vec<String>,
}

impl Expected {
    /// Returns who is to do what.
    pub fn sentence(&self) -> String {
        format!("{} {}", self.who, self.what)
    }
}

/// Returns what is expected now, as one reader is told.
pub fn expected(planner: &Planner, reader: &str) -> Expected {
    let course = &planner.course;
    let new = |who: &str, what: String, call: &str, also: &[&str]| Expected {
        who: who.into(),
        what,
        call: planner.run(call),
        also: also.iter().map(|one| (*one).to_owned()).collect(),
    };
    if course.paused && course.stage != Stage::Empty {
        return new("the user", "lets it go on: it is paused".into(), "resume()", &[]);
    }
    if is_expert(planner, reader) && course.stage.rank() < Stage::Confirm.rank() {
        let what = format!("may speak at any time; now: {}", place(course));
        let call = "verdict('Expert', ok=true, reasons=['…'])";
        return new("you, the invited expert,", what, call, &[&waiting(planner)]);
    }
    if let Some(turn) = &course.turn {
        return of_turn(planner, turn, reader);
    }
    match course.stage {
        Stage::AskIntent => {
            let prior = course.prior.clone().unwrap_or_default();
            let what = format!(
                "says what the file is for: I see {}, which looks like a {} ({}). Is it there to be refined, or something else?",
                prior.source, prior.kind, prior.title
            );
            new(
                "the user",
                what,
                "intent('refine')",
                &[
                    "intent('new_with_reference'): a new plan that may look at it",
                    "intent('new'): a new plan without it · intent('continue_discussion'): go on where it stopped",
                    "intent('other', words='…'): in the user's own words",
                ],
            )
        }
        Stage::Meeting => {
            let meeting = course.meeting.clone().unwrap_or_default();
            let total = meeting
                .questions
                .iter()
                .filter(|one| {
                    !matches!(one.state, pipemux_planner_course::meeting::QuestionState::Dropped(_))
                })
                .count();
            match meeting.open() {
                Some((_, question)) => {
                    let what = format!(
                        "answers {} (question {} of {total}): {}",
                        question.asker(),
                        question.number,
                        question.text
                    );
                    new(
                        "the user",
                        what,
                        "reply('the user\u{2019}s words')",
                        &["say('…') asks back · \"I don\u{2019}t know\" is an answer, too"],
                    )
                }
                None => new("nobody", "the meeting goes on".into(), "resume()", &[]),
            }
        }
        Stage::Confirm => {
            let version = course.version();
            let what = match version.map(|version| &version.artifact) {
                Some(Artifact::Plan(plan)) => {
                    let percent = quality(plan).percent();
                    format!("decides on the plan: all five agree · quality {percent} %")
                }
                _ => match version.map_or(0, |one| one.objections.len()) {
                    1 => "decides on the draft: 1 objection stands".to_owned(),
                    more => format!("decides on the draft: {more} objections stand"),
                },
            };
            new(
                "the user",
                what,
                "accept()",
                &[
                    "adjust('what is to be different'): a new cycle, with what was agreed",
                    "handoff(): gives it to a command, or prints it · discard() · back('round3')",
                ],
            )
        }
        Stage::Accepted => new(
            "nobody",
            "it is accepted; it can be handed over".into(),
            "handoff()",
            &["plan('…'): the next topic"],
        ),
        Stage::Discarded => {
            new("nobody", "it is discarded; its versions stay".into(), "plan('…')", &[])
        }
        _ => new(
            "you",
            "say what is to be planned".into(),
            "plan('what you want, and why')",
            &["with an earlier plan, draft or note: plan('…', from='FILE')"],
        ),
    }
}

fn of_turn(planner: &Planner, turn: &Turn, reader: &str) -> Expected {
    let speaker = turn.kind.speaker();
    let task = turn.kind.task();
    let call = planner.run(&template(turn.kind));
    if let Some(why) = &turn.failed {
        let mut also = vec![format!(
            "driver('{speaker}', 'agent'): whoever reads this plays {speaker} · or the call of the turn itself: {call}"
        )];
        if let Speaker::Role(role) = speaker {
            also.push(format!("leave_out('{role}'): then only a draft can come of this cycle"));
        }
        let what = format!("decides: {speaker} gave no answer ({why})");
        return Expected { who: "the user".into(), what, call: planner.run("retry()"), also };
    }
    match planner.driver(speaker) {
        Ok(DriverSpec::Agent) | Err(_) => {
            let taker = match speaker {
                Speaker::Role(role) => planner.course.takers.get(&role),
                Speaker::Coach => None,
            };
            match taker.filter(|taker| *taker != reader) {
                Some(taker) => Expected {
                    who: "nobody else:".into(),
                    what: format!("reader {taker} plays {speaker}, who {task}"),
                    call: waiting(planner),
                    also: Vec::new(),
                },
                None => Expected {
                    who: "you".into(),
                    what: format!("play {speaker}, who {task}"),
                    call,
                    also: Vec::new(),
                },
            }
        }
        Ok(spec) => {
            // One session of a project has the roles played; the others look on.
            let session = if planner.claim.is_some() { "" } else { " in another session" };
            Expected {
                who: "nobody:".into(),
                what: format!("{} plays {speaker}{session}, who {task}", spec.name()),
                call: waiting(planner),
                also: vec![format!("driver('{speaker}', 'agent') takes the turn · pause()")],
            }
        }
    }
}

/// Returns true if this reader speaks as the expert, and has said nothing as anybody else.
fn is_expert(planner: &Planner, reader: &str) -> bool {
    let course = &planner.course;
    course.expert.as_ref().is_some_and(|expert| expert.reader == reader)
        && !course.said.iter().any(|said| said.by.reader == reader && said.who != "Expert")
}

/// Returns true if this reader is to play the turn that is open.
pub fn is_for(planner: &Planner, turn: &Turn, reader: &str) -> bool {
    let taker = match turn.kind.speaker() {
        Speaker::Role(role) => planner.course.takers.get(&role),
        Speaker::Coach => None,
    };
    let is_agent = matches!(planner.driver(turn.kind.speaker()), Ok(DriverSpec::Agent) | Err(_));
    is_agent
        && !is_expert(planner, reader)
        && turn.failed.is_none()
        && taker.is_none_or(|taker| taker == reader)
}

/// Returns the command that waits for something to be said; a gist, since that is repeated for each turn of a course.
fn waiting(planner: &Planner) -> String {
    format!("pipemux view {} --wait 60 --lod gist", address(planner))
}

fn address(planner: &Planner) -> String {
    match planner.callee.contains('/') {
        true => planner.callee.clone(),
        false => format!("{}/main", planner.callee),
    }
}

/// Returns the call that answers a turn, to be filled in.
fn template(kind: TurnKind) -> String {
    match kind {
        TurnKind::Verdict(_, role) => {
            format!("verdict('{role}', ok=true, reasons=['…'], suggestions=[], questions=[])")
        }
        TurnKind::Judge(..) => "speak({action: 'ask', reason: '…'})".into(),
        TurnKind::FollowUp(_) => "speak({question: null})".into(),
        TurnKind::AnswerBack(..) => "speak({answer: '…'})".into(),
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
            "either keeps a plan from coming about: reserved_points: [{role, concern, severity: 'warning'|'error'}]; \
             strong_disagreements: [{topic, positions: {Role: '…'}}]"
        }
        TurnKind::Plan => {
            "ids link: acceptance to a requirement, tests to what they cover, risks to what they affect"
        }
        TurnKind::AnswerBack(..) | TurnKind::Extraction => "",
    }
}
