//! What the user says in a meeting: answers, and questions back to the role that asks.

use serde_json::json;

use crate::course::{Addition, Course, Stage};
use crate::event::{By, Effect, Refusal, SIGNED};
use crate::limits::ASK_BACKS_PER_QUESTION;
use crate::question::{Meeting, QuestionState};
use crate::turn::TurnKind;

/// What the user says who doesn't know.
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

impl Course {
    /// Takes the user's answer to the open question.
    pub(crate) fn reply(
        &mut self,
        number: Option<u32>,
        text: &str,
        by: &By,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        let open = self
            .meeting
            .as_ref()
            .and_then(Meeting::open)
            .map(|(index, question)| (index, question.number));
        let asked = self.meeting.as_ref().map(Meeting::asked).unwrap_or_default();
        if let Some(number) = number.filter(|number| open.is_none_or(|(_, open)| open != *number)) {
            let now =
                open.map_or_else(String::new, |(_, open)| format!("; question {open} is open"));
            let hint = open.map_or_else(String::new, |_| "reply('…')".into());
            let found = asked.iter().find(|question| question.number == number);
            return Err(match found {
                Some(question) => {
                    let answer = question.shown_answer().unwrap_or_default();
                    Refusal::new(
                        format!("question {number} is closed; it was answered {answer:?}{now}"),
                        hint,
                    )
                }
                None => Refusal::new(format!("there is no question {number}{now}"), hint),
            });
        }
        let Some((index, _)) = open.filter(|_| self.stage == Stage::Meeting) else {
            let asker = self
                .speaker()
                .map_or_else(String::new, |speaker| format!("; {speaker} is to speak now"));
            let hint = match self.stage {
                Stage::Confirm => "adjust('…')",
                Stage::Accepted | Stage::Discarded => "plan('…')",
                _ => "say('…')",
            };
            return Err(Refusal::new(format!("no question is open{asker}"), hint));
        };
        // What is judged without this answer is judged again with it.
        self.end_turns(effects, |kind| matches!(kind, TurnKind::Judge(..)));
        let asked_back = self.open_turns.iter().find_map(|turn| match turn.kind {
            TurnKind::AnswerBack(role, _) => Some(role),
            _ => None,
        });
        if let Some(role) = asked_back {
            // The user answers before the role has: nobody waits for that any more.
            self.end_turns(effects, |kind| matches!(kind, TurnKind::AnswerBack(..)));
            self.note(
                "clarification meeting".into(),
                role.name().into(),
                by,
                "was answered before it spoke".into(),
                "",
            );
        }
        let Some(question) =
            self.meeting.as_mut().and_then(|meeting| meeting.questions.get_mut(index))
        else {
            return Ok(());
        };
        let plain = text.trim_end_matches(['.', '!', '。']).to_lowercase().replace('’', "'");
        question.state = match UNKNOWN.contains(&plain.as_str()) {
            true => QuestionState::Unknown,
            false => QuestionState::Answered,
        };
        question.answer = Some(text.to_owned());
        let unknown = question.state == QuestionState::Unknown;
        let (asker, number, asked) = (question.asker(), question.number, question.text.clone());
        let fields = json!({
            "question_id": number, "question": asked, "answer": text, "user_input": text, "unknown": unknown,
        });
        self.line(by, "answer", asker, fields, effects);
        Ok(())
    }

    /// Takes what the user says. While a role asks, that role answers.
    pub(crate) fn say(
        &mut self,
        text: &str,
        by: &By,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        let open =
            self.meeting.as_ref().filter(|_| self.stage == Stage::Meeting).and_then(Meeting::open);
        let Some((index, role)) = open.map(|(index, question)| (index, question.role)) else {
            let place = self.stage.shown();
            if self.rules >= SIGNED {
                // Whoever speaks next is given it with the brief, which it doesn't change.
                let from = format!("the user said in {place}");
                self.within_additions()?;
                self.additions.push(Addition { from, text: text.to_owned() });
            }
            self.note(place, "user".into(), by, text.to_owned(), text);
            return Ok(());
        };
        if self.open_turns.iter().any(|turn| matches!(turn.kind, TurnKind::AnswerBack(..))) {
            return Err(Refusal::new(
                "the role has not answered your last words yet",
                "reply('…')",
            ));
        }
        let Some(question) =
            self.meeting.as_mut().and_then(|meeting| meeting.questions.get_mut(index))
        else {
            return Ok(());
        };
        let can_answer = role.filter(|role| !self.left_out.contains(role));
        if can_answer.is_some() && question.exchange.len() >= 2 * ASK_BACKS_PER_QUESTION {
            let most = ASK_BACKS_PER_QUESTION;
            return Err(Refusal::new(
                format!(
                    "you asked back {most} times about this question: the coach asks for an answer"
                ),
                "reply('…')",
            ));
        }
        question.exchange.push(format!("user: {text}"));
        let fields =
            json!({"question_id": question.number, "question": question.text, "user_input": text});
        let asker = question.asker();
        self.line(by, "ask_back", asker, fields, effects);
        if let Some(role) = can_answer {
            self.open(TurnKind::AnswerBack(role, index), effects);
        }
        Ok(())
    }
}
