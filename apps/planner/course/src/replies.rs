//! The user's replies in a meeting: answers, and questions back to the role that asks.

use crate::course::Course;
use crate::event::Refusal;
use crate::limits::ASK_BACKS_PER_QUESTION;
use crate::question::{Meeting, QuestionState};
use crate::record::MeetingLine;
use crate::stage::Stage;
use crate::turn::TurnKind;

/// Answers that mean that the user doesn't know.
const UNKNOWN: [&str; 10] = [
    "i don't know",
    "i dont know",
    "don't know",
    "no idea",
    "unknown",
    "?",
    "不知道",
    "不清楚",
    "我不知道",
    "weiß nicht",
];

/// Applies the user's answer to the open question, or to the one of this number if that is open.
pub(crate) fn reply(course: &mut Course, number: Option<u32>, text: &str) -> Result<(), Refusal> {
    let meeting = course.cycle.meeting.as_ref();
    let open = meeting.and_then(Meeting::open).map(|(index, question)| (index, question.number));
    if let Some(number) = number.filter(|number| open.is_none_or(|(_, open)| open != *number)) {
        return Err(refuse_closed(meeting, number, open.map(|(_, number)| number)));
    }
    let Some((index, _)) = open.filter(|_| course.stage == Stage::Meeting) else {
        let asker = course
            .speaker()
            .map_or_else(String::new, |speaker| format!("; {speaker} is to speak now"));
        let hint = match course.stage {
            Stage::Confirm => "adjust('…')",
            Stage::Accepted | Stage::Discarded => "plan('…')",
            _ => "say('…')",
        };
        return Err(Refusal::new(format!("no question is open{asker}"), hint));
    };
    // What is judged without this answer is judged again with it.
    course.end_turns(|kind| matches!(kind, TurnKind::Judge(..)));
    if let Some(role) = course.turns.asked_back() {
        // The user answers before the role has: nobody waits for that any more.
        course.end_turns(|kind| matches!(kind, TurnKind::AnswerBack(..)));
        let place = "clarification meeting".into();
        course.record.note(place, role.name(), "was answered before it spoke", "");
    }
    let meeting = course.cycle.meeting.as_mut();
    let Some(question) = meeting.and_then(|meeting| meeting.questions.get_mut(index)) else {
        return Ok(());
    };
    let plain = text.trim_end_matches(['.', '!', '。']).to_lowercase().replace('’', "'");
    let unknown = UNKNOWN.contains(&plain.as_str());
    question.state = if unknown { QuestionState::Unknown } else { QuestionState::Answered };
    question.answer = Some(text.to_owned());
    let question = question.clone();
    let line = MeetingLine::Answer {
        question_id: question.number,
        question: &question.text,
        answer: text,
        user_input: text,
        unknown,
    };
    course.add_line(question.asker(), &line);
    Ok(())
}

/// Refuses an answer to a question that isn't open, and says which is.
fn refuse_closed(meeting: Option<&Meeting>, number: u32, open: Option<u32>) -> Refusal {
    let now = open.map_or_else(String::new, |open| format!("; question {open} is open"));
    let hint = if open.is_some() { "reply('…')" } else { "" };
    let asked = meeting.map(Meeting::asked).unwrap_or_default();
    let message = match asked.iter().find(|question| question.number == number) {
        Some(question) => {
            let answer = question.shown_answer().unwrap_or_default();
            format!("question {number} is closed; it was answered {answer:?}{now}")
        }
        None => format!("there is no question {number}{now}"),
    };
    Refusal::new(message, hint)
}

/// Applies what the user says. While a role asks, that role answers.
pub(crate) fn say(course: &mut Course, text: &str) -> Result<(), Refusal> {
    let is_signed = course.is_signed();
    let meeting = course.cycle.meeting.as_mut().filter(|_| course.stage == Stage::Meeting);
    let index = meeting.as_ref().and_then(|meeting| meeting.open()).map(|(index, _)| index);
    let question = meeting
        .zip(index)
        .and_then(|(meeting, index)| Some((meeting.questions.get_mut(index)?, index)));
    let Some((question, index)) = question else {
        if is_signed {
            // Whoever speaks next is given it with the brief, which it doesn't change.
            course.brief.check_room(is_signed)?;
            course.brief.add(format!("the user said in {}", course.stage.shown()), text);
        }
        course.note("user", text, text);
        return Ok(());
    };
    if course.turns.asked_back().is_some() {
        let message = "the role has not answered your last words yet";
        return Err(Refusal::new(message, "reply('…')"));
    }
    let asked = question.role.filter(|role| !course.cycle.left_out.contains(role));
    if asked.is_some() && question.exchange.len() >= 2 * ASK_BACKS_PER_QUESTION {
        let most = ASK_BACKS_PER_QUESTION;
        return Err(Refusal::new(
            format!(
                "you asked back {most} times about this question: the coach asks for an answer"
            ),
            "reply('…')",
        ));
    }
    question.exchange.push(format!("user: {text}"));
    let question = question.clone();
    let (question_id, user_input) = (question.number, text);
    let line = MeetingLine::AskBack { question_id, question: &question.text, user_input };
    course.add_line(question.asker(), &line);
    if let Some(role) = asked {
        course.open_turn(TurnKind::AnswerBack(role, index));
    }
    Ok(())
}
