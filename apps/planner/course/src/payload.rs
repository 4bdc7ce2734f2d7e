//! Builds the payload of each turn: exactly the fields in its schema, `schemas/payload.*.json`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::answers::{Intent, Verdict};
use crate::course::Course;
use crate::instruction::instruction;
use crate::question::{Meeting, Question, QuestionState};
use crate::role::{COACH_TASK, Role, Speaker};
use crate::schema;
use crate::turn::TurnKind;

/// The prompts that the user has written, by the speaker's name.
pub type Prompts = BTreeMap<String, String>;

/// Questions or answers by `question_1` and so on.
type Numbered = BTreeMap<String, String>;

impl Course {
    /// Returns what an open turn is given.
    pub fn payload_of(&self, kind: TurnKind, prompts: &Prompts) -> Value {
        let task = match kind.speaker() {
            Speaker::Role(role) => role.task(),
            Speaker::Coach => COACH_TASK,
        };
        let prompt = prompts.get(kind.speaker().name()).map_or(task, String::as_str);
        let language = self.lang().pick("", "\n请用中文回答（JSON 的字段名不变）。");
        let mut payload = fields(self, kind);
        payload["my_prompt"] = format!("{prompt}\n{}{language}", instruction(kind)).into();
        payload
    }
}

fn fields(course: &Course, kind: TurnKind) -> Value {
    let cycle = &course.cycle;
    match kind {
        TurnKind::Intent => intent(course),
        TurnKind::Verdict(1, _) => first_round(course),
        TurnKind::Verdict(2, _) => json!({
            "user_brief": course.brief.whole(),
            "round_1_verdicts": verdicts(course, 1),
            "coach_summary": cycle.summary(1),
        }),
        TurnKind::Verdict(..) => {
            let (questions, answers) = questions_and_answers(course);
            json!({
                "user_brief": course.brief.whole(),
                "consensus_from_r1_r2": cycle.extraction.clone().unwrap_or_default(),
                "clarification_questions": questions,
                "user_answers": answers,
                "previous_ai_responses_in_r3": verdicts(course, 3),
            })
        }
        TurnKind::Judge(role, index) => judge(course, role, index),
        TurnKind::FollowUp(role) => {
            let mut payload = of_role(course, role);
            payload["my_questions"] = asked(course, |question| question.role == Some(role));
            payload["asked_so_far"] = asked(course, |_| true);
            payload
        }
        TurnKind::AnswerBack(role, index) => answer_back(course, role, index),
        TurnKind::Confirm(role) => json!({
            "points": cycle.signing.as_ref().map(|one| one.payload(role)).unwrap_or_default(),
            "my_verdicts": verdicts_of(course, role),
        }),
        TurnKind::Extraction => {
            let mut payload = json!({
                "user_brief": course.brief.whole(),
                "round_1_verdicts": verdicts(course, 1),
                "round_2_verdicts": verdicts(course, 2),
            });
            if !course.is_signed() {
                let (questions, answers) = questions_and_answers(course);
                payload["clarification_questions"] = json!(questions);
                payload["user_answers"] = json!(answers);
            }
            payload
        }
        TurnKind::Synthesis => {
            let (questions, answers) = questions_and_answers(course);
            let round = course.last_round();
            let expert = course.expert.as_ref().and_then(|expert| expert.words.last());
            let mut payload = json!({
                "user_brief": course.brief.whole(), "round": round,
                "verdicts": verdicts(course, round), "clarification_questions": questions,
                "user_answers": answers, "expert": expert.map(|(_, text)| text),
            });
            if let Some(extraction) = &cycle.extraction {
                payload["consensus_from_r1_r2"] = json!(extraction);
            }
            payload
        }
        TurnKind::Plan => {
            let (questions, answers) = questions_and_answers(course);
            json!({
                "user_brief": course.brief.whole(),
                "verdicts": verdicts(course, course.last_round()),
                "clarification_questions": questions, "user_answers": answers,
                "suggestions": suggestions(course), "synthesis": cycle.synthesis,
                "plan_schema": schema::schema("plan"),
            })
        }
    }
}

fn intent(course: &Course) -> Value {
    let prior = course.brief.prior.clone().unwrap_or_default();
    json!({
        "user_input": course.brief.whole(),
        "uploaded_file": {
            "type": prior.kind, "title": prior.title, "version": prior.version,
            "key_points": prior.key_points,
        },
        "user_history": course.brief.history,
    })
}

fn first_round(course: &Course) -> Value {
    let mut payload = json!({"user_brief": course.brief.whole()});
    let used = match course.brief.intent {
        Some((Intent::Refine | Intent::ContinueDiscussion, _)) => "refine",
        Some((Intent::NewWithReference | Intent::Other, _)) => "reference",
        Some((Intent::New | Intent::Unsure, _)) | None => return payload,
    };
    if let Some(prior) = &course.brief.prior {
        payload["earlier_plan"] = json!({
            "title": prior.title, "type": prior.kind, "version": prior.version,
            "key_points": prior.key_points, "use": used,
        });
    }
    payload
}

fn judge(course: &Course, role: Role, index: usize) -> Value {
    let questions = course.cycle.meeting.iter().flat_map(|meeting| meeting.questions.iter());
    // Roles that look at their questions at the same time leave to each other only what is asked
    // earlier.
    let is_other = |other: usize| match course.is_signed() {
        true => other < index,
        false => other != index,
    };
    let waiting = questions.clone().enumerate();
    let waiting = waiting.filter(|(at, one)| is_other(*at) && one.state == QuestionState::Waiting);
    let waiting = waiting.map(|(_, question)| format!("{} ({})", question.text, question.asker()));
    let mut payload = of_role(course, role);
    payload["user_brief"] = course.brief.whole().into();
    payload["my_question"] = question_text(questions.clone().nth(index));
    payload["coach_summary"] = course.cycle.summary(2).into();
    payload["asked_so_far"] = asked(course, |_| true);
    payload["open_questions"] = waiting.collect::<Vec<_>>().into();
    payload
}

fn answer_back(course: &Course, role: Role, index: usize) -> Value {
    let meeting = course.cycle.meeting.as_ref();
    let question = meeting.and_then(|meeting| meeting.questions.get(index));
    let exchange = question.map(|question| question.exchange.clone()).unwrap_or_default();
    let last = exchange.last().map(|last| last.trim_start_matches("user: ")).unwrap_or_default();
    let mut payload = of_role(course, role);
    payload["my_question"] = question_text(question);
    payload["user_asks"] = last.into();
    payload["said_so_far"] = exchange.into();
    payload
}

fn question_text(question: Option<&Question>) -> Value {
    question.map(|question| question.text.as_str()).unwrap_or_default().into()
}

/// Returns what each role is given in the meeting: what was agreed so far, and what it said itself.
fn of_role(course: &Course, role: Role) -> Value {
    let consensus = course.cycle.extraction.clone().unwrap_or_default();
    json!({"consensus_from_r1_r2": consensus, "my_verdicts": verdicts_of(course, role)})
}

/// Returns a role's verdicts of this cycle, by round.
fn verdicts_of(course: &Course, role: Role) -> Value {
    let rounds = course.cycle.rounds.iter();
    let verdict = rounds.filter_map(|(round, spoken)| {
        Some((format!("round_{round}"), json!(spoken.get(&role)?.verdict)))
    });
    Value::Object(verdict.collect())
}

/// Returns what each role suggested in this cycle, each once.
fn suggestions(course: &Course) -> BTreeMap<&'static str, Vec<&String>> {
    let mut all: BTreeMap<&'static str, Vec<&String>> = BTreeMap::new();
    for (role, spoken) in course.cycle.rounds.values().flatten() {
        for one in &spoken.verdict.suggestions {
            let of = all.entry(role.name()).or_default();
            if !of.contains(&one) {
                of.push(one);
            }
        }
    }
    all
}

/// Returns the questions that were asked, with their answers.
fn asked(course: &Course, keep: impl Fn(&Question) -> bool) -> Value {
    let asked = course.cycle.meeting.iter().flat_map(Meeting::asked).filter(|one| keep(one));
    let shown = |question: &Question| json!({"question": question.text, "asked_by": question.asker(), "answer": question.shown_answer()});
    asked.map(shown).collect()
}

fn verdicts(course: &Course, round: u8) -> BTreeMap<&'static str, &Verdict> {
    course.cycle.verdicts(round).map(|(role, spoken)| (role.name(), &spoken.verdict)).collect()
}

/// Returns what was asked and what was answered in the meeting, the expert's words among them.
fn questions_and_answers(course: &Course) -> (Numbered, Numbered) {
    let all = course.answered_questions().into_iter().zip(1..);
    all.map(|((question, answer), number)| {
        let name = format!("question_{number}");
        ((name.clone(), question), (name, answer))
    })
    .unzip()
}
