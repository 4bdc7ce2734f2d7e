//! The clarification meeting: a chat between the user and the roles, led by the coach.

use std::collections::BTreeSet;

use crate::answers::{AnswerBack, FollowUp, Judgement, JudgementAction};
use crate::course::Course;
use crate::limits::{FOLLOW_UPS_PER_ROLE, QUESTIONS_PER_ROLE};
use crate::question::{Meeting, Question, QuestionState};
use crate::record::MeetingLine;
use crate::role::Role;
use crate::stage::Stage;
use crate::text::{count, flat};
use crate::turn::TurnKind;

/// The reason for dropping a question of a role that has reached its limit.
const TOO_MANY: &str = "the coach takes three questions of a role";

/// Goes on with the meeting. Returns the turns that are to be open; without one the user is to
/// answer, or the meeting is closed.
pub(crate) fn advance_meeting(course: &mut Course) -> Vec<TurnKind> {
    if course.cycle.meeting.is_none() {
        open_meeting(course);
    }
    loop {
        let Some(meeting) = &course.cycle.meeting else { return Vec::new() };
        if meeting.open().is_some() {
            return Vec::new();
        }
        let waiting = meeting.waiting().next();
        let asker = waiting.and_then(|(_, question)| question.role);
        let waiting = waiting.map(|(index, _)| index);
        let judges = judges(meeting, &course.cycle.left_out, course.is_signed());
        // A role's follow-ups come before the next role's questions.
        let done = meeting.asked().last().and_then(|question| question.role);
        if let Some(role) =
            done.filter(|role| asker != Some(*role) && !course.cycle.left_out.contains(role))
        {
            let entry = meeting.followed_up.iter().find(|(other, ..)| *other == role);
            let (count, ended) = entry.map_or((0, false), |(_, count, ended)| (*count, *ended));
            if !ended && count < FOLLOW_UPS_PER_ROLE {
                return [TurnKind::FollowUp(role)].into_iter().chain(judges).collect();
            }
        }
        let Some(index) = waiting else {
            close_meeting(course);
            return Vec::new();
        };
        let is_judge = |kind: &TurnKind| matches!(kind, TurnKind::Judge(_, of) if *of == index);
        if judges.iter().any(is_judge) {
            return judges;
        }
        ask(course, index);
    }
}

/// Returns the turns in which roles look at their next questions again: the first role before its
/// question, and each role that still has one once the user has answered, so that what is settled
/// by that isn't asked.
fn judges(meeting: &Meeting, left_out: &BTreeSet<Role>, is_signed: bool) -> Vec<TurnKind> {
    let answers = meeting.answers();
    let most = if is_signed && answers > 0 { Role::ALL.len() } else { 1 };
    let mut seen = BTreeSet::new();
    let next = meeting.waiting().filter(|(_, question)| seen.insert(question.role)).take(most);
    let is_due = |question: &Question| !is_signed || question.judged != Some(answers);
    next.filter_map(|(index, question)| {
        let role = question.role.filter(|role| !left_out.contains(role))?;
        is_due(question).then_some(TurnKind::Judge(role, index))
    })
    .collect()
}

fn open_meeting(course: &mut Course) {
    let mut questions = Vec::new();
    for role in Role::ALL {
        for (number, text) in course.raised(role).enumerate() {
            let mut question = Question::new(Some(role), text);
            if number >= QUESTIONS_PER_ROLE {
                question.state = QuestionState::Dropped(TOO_MANY.into());
            }
            questions.push(question);
        }
    }
    let who = Role::ALL.into_iter().filter(|role| !course.cycle.left_out.contains(role));
    let who: Vec<&str> = who.map(Role::name).collect();
    let lang = course.lang();
    let mut text = lang.pick(
        format!(
            "The clarification meeting begins. Here are: Coach, {} and the user.",
            who.join(", ")
        ),
        format!("📞 规划讨论小会开始。参会者：敏捷教练、{}和用户。", who.join("、")),
    );
    if questions.is_empty() {
        text += lang.pick(" No role has an open question.", "没有角色有待澄清的问题。");
        let ask = lang.pick(
            "No role has an open question. What should the roles know before they judge again?",
            "没有角色有待澄清的问题。各角色再次判断之前，还应该知道什么？",
        );
        questions.push(Question::new(None, ask));
    } else {
        text += lang.pick(" To be cleared up:", "当前需要澄清的问题：");
        for question in questions.iter().filter(|one| one.state == QuestionState::Waiting) {
            text += &format!("\n- {} ({})", flat(&question.text), question.asker());
        }
    }
    course.add_line("Coach", &MeetingLine::Opening { text: &text });
    for question in questions.iter().filter(|one| one.state != QuestionState::Waiting) {
        let line = MeetingLine::Judgement {
            question: &question.text,
            asked_by: Some(question.asker()),
            action: JudgementAction::Skip,
            reason: TOO_MANY,
            new_question: None,
        };
        course.add_line("Coach", &line);
    }
    course.cycle.meeting = Some(Meeting { questions, ..Meeting::default() });
}

fn close_meeting(course: &mut Course) {
    let lang = course.lang();
    let Some(meeting) = &mut course.cycle.meeting else { return };
    let of = |state: fn(&QuestionState) -> bool| {
        meeting.questions.iter().filter(|question| state(&question.state)).count()
    };
    let cleared = of(|state| *state == QuestionState::Answered);
    let unknown = of(|state| *state == QuestionState::Unknown);
    let dropped = of(|state| matches!(state, QuestionState::Dropped(_)));
    let mut text = lang.pick(
        format!("The meeting is closed: {} cleared", count(cleared, "question")),
        format!("澄清小会已结束：共澄清 {cleared} 个问题"),
    );
    if unknown > 0 {
        text += &lang
            .pick(format!(", {unknown} recorded as unknown"), format!("，{unknown} 个记为未知"));
    }
    if dropped > 0 {
        text += &lang.pick(format!(", {dropped} dropped"), format!("，{dropped} 个取消"));
    }
    let left_out: Vec<&str> = course.cycle.left_out.iter().map(|role| role.name()).collect();
    text += &match left_out.as_slice() {
        [] => lang.pick(", all roles heard.", "，所有角色都已发言。").to_owned(),
        names => lang.pick(
            format!(", all roles heard but {}, left out.", names.join(" and ")),
            format!("，除不参加的 {} 外，所有角色都已发言。", names.join("、")),
        ),
    };
    meeting.closed = Some(text.clone());
    course.add_line("Coach", &MeetingLine::Closing { text: &text });
    course.enter(if course.is_signed() { Stage::Round(3) } else { Stage::Extraction });
}

/// Asks the user a question. Nobody types it: what led to it is recorded on a line of its own.
fn ask(course: &mut Course, index: usize) {
    let Some(meeting) = &mut course.cycle.meeting else { return };
    meeting.ask(index);
    let Some(question) = meeting.questions.get(index).cloned() else { return };
    let by = std::mem::take(&mut course.record.by);
    let line = MeetingLine::Question { question_id: question.number, question: &question.text };
    course.add_line(question.asker(), &line);
    course.record.by = by;
}

pub(crate) fn judged(course: &mut Course, role: Role, index: usize, answer: Judgement) {
    let Some(meeting) = &mut course.cycle.meeting else { return };
    let answers = meeting.answers();
    let Some(question) = meeting.questions.get_mut(index) else { return };
    question.judged = Some(answers);
    let reason = answer.reason.trim();
    let text = question.text.clone();
    let mut new_question = None;
    match answer.action {
        JudgementAction::Skip => question.state = QuestionState::Dropped(reason.to_owned()),
        JudgementAction::Modify => {
            question.text = answer.question.trim().to_owned();
            question.before = Some(text.clone());
            new_question = Some(answer.question.trim());
        }
        JudgementAction::Ask => {}
    }
    let action = answer.action;
    let line =
        MeetingLine::Judgement { question: &text, asked_by: None, action, reason, new_question };
    course.add_line(role.name(), &line);
    if action != JudgementAction::Skip && !course.is_signed() {
        ask(course, index);
    }
}

pub(crate) fn followed_up(course: &mut Course, role: Role, answer: FollowUp) {
    let is_signed = course.is_signed();
    let question = answer.question.unwrap_or_default();
    let question = question.trim();
    let Some(meeting) = &mut course.cycle.meeting else { return };
    let entry = match meeting.followed_up.iter_mut().find(|(other, ..)| *other == role) {
        Some(entry) => entry,
        None => {
            meeting.followed_up.push((role, 0, false));
            let last = meeting.followed_up.len() - 1;
            &mut meeting.followed_up[last]
        }
    };
    if question.is_empty() {
        entry.2 = true;
        return;
    }
    entry.1 += 1;
    let after = meeting.questions.iter().rposition(|question| question.role == Some(role));
    // Roles may be looking at their questions, by their places.
    let after = after.filter(|_| !is_signed);
    let index = after.map_or(meeting.questions.len(), |index| index + 1);
    meeting.questions.insert(index, Question::new(Some(role), question));
    course.add_line(role.name(), &MeetingLine::FollowUp { question });
    ask(course, index);
}

pub(crate) fn answered_back(course: &mut Course, role: Role, index: usize, answer: AnswerBack) {
    let text = answer.answer.trim();
    let meeting = course.cycle.meeting.as_mut();
    let Some(question) = meeting.and_then(|meeting| meeting.questions.get_mut(index)) else {
        return;
    };
    question.exchange.push(format!("{role}: {text}"));
    let (question_id, question) = (question.number, question.text.clone());
    course
        .add_line(role.name(), &MeetingLine::RoleAnswer { question_id, question: &question, text });
}
