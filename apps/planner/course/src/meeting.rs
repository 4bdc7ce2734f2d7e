//! The clarification meeting: a chat between the user and the roles, led by the coach.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::course::{Course, Stage};
use crate::event::{By, Effect, SIGNED};
use crate::limits::{FOLLOW_UPS_PER_ROLE, QUESTIONS_PER_ROLE};
pub use crate::question::{Meeting, Question, QuestionState};
use crate::role::Role;
use crate::turn::{self, TurnKind};

/// Why the coach drops a question of a role that has asked enough.
const TOO_MANY: &str = "the coach takes three questions of a role";

impl Course {
    /// Goes on with the meeting. Returns the turns that are to be open; without one the user is to answer, or the meeting is
    /// closed.
    pub(crate) fn advance_meeting(&mut self, effects: &mut Vec<Effect>) -> Vec<TurnKind> {
        if self.meeting.is_none() {
            self.open_meeting(effects);
        }
        loop {
            let Some(meeting) = &self.meeting else { return Vec::new() };
            if meeting.open().is_some() {
                return Vec::new();
            }
            let waiting = meeting.waiting().next();
            let asker = waiting.and_then(|(_, question)| question.role);
            let waiting = waiting.map(|(index, _)| index);
            let judges = self.judges(meeting);
            // A role's follow-ups come before the next role's questions.
            let done = meeting.asked().last().and_then(|question| question.role);
            if let Some(role) =
                done.filter(|role| asker != Some(*role) && !self.left_out.contains(role))
            {
                let entry = meeting.followed_up.iter().find(|(other, ..)| *other == role);
                let (count, ended) = entry.map_or((0, false), |(_, count, ended)| (*count, *ended));
                if !ended && count < FOLLOW_UPS_PER_ROLE {
                    return [TurnKind::FollowUp(role)].into_iter().chain(judges).collect();
                }
            }
            match waiting {
                Some(index) => {
                    let is_judge =
                        |kind: &TurnKind| matches!(kind, TurnKind::Judge(_, of) if *of == index);
                    if judges.iter().any(is_judge) {
                        return judges;
                    }
                    self.ask(index, effects);
                }
                None => {
                    self.close_meeting(effects);
                    return Vec::new();
                }
            }
        }
    }

    /// Returns the turns in which roles look at their next questions again: the first role before its question, and each
    /// role that still has one once the user has answered, so that what is settled by that isn't asked.
    fn judges(&self, meeting: &Meeting) -> Vec<TurnKind> {
        let answers = meeting.answers();
        let at_once = self.rules >= SIGNED && answers > 0;
        let most = if at_once { Role::ALL.len() } else { 1 };
        let mut seen = BTreeSet::new();
        let next = meeting.waiting().filter(|(_, question)| seen.insert(question.role)).take(most);
        let is_due = |question: &Question| self.rules < SIGNED || question.judged != Some(answers);
        next.filter_map(|(index, question)| {
            let role = question.role.filter(|role| !self.left_out.contains(role))?;
            is_due(question).then_some(TurnKind::Judge(role, index))
        })
        .collect()
    }

    fn open_meeting(&mut self, effects: &mut Vec<Effect>) {
        let mut meeting = Meeting::default();
        for role in Role::ALL {
            for (number, text) in self.raised(role).enumerate() {
                let mut question = Question::new(Some(role), text);
                if number >= QUESTIONS_PER_ROLE {
                    question.state = QuestionState::Dropped(TOO_MANY.into());
                }
                meeting.questions.push(question);
            }
        }
        let cut: Vec<Value> = meeting
            .questions
            .iter()
            .filter(|question| question.state != QuestionState::Waiting)
            .map(|one| json!({"question": one.text, "asked_by": one.asker(), "action": "skip", "reason": TOO_MANY}))
            .collect();
        let who: Vec<&str> = Role::ALL
            .iter()
            .filter(|role| !self.left_out.contains(role))
            .map(|role| role.name())
            .collect();
        let lang = self.lang();
        let mut text = lang.pick(
            format!(
                "The clarification meeting begins. Here are: Coach, {} and the user.",
                who.join(", ")
            ),
            format!("📞 规划讨论小会开始。参会者：敏捷教练、{}和用户。", who.join("、")),
        );
        match meeting.questions.is_empty() {
            true => {
                text += lang.pick(" No role has an open question.", "没有角色有待澄清的问题。");
                let ask = lang.pick(
                    "No role has an open question. What should the roles know before they judge again?",
                    "没有角色有待澄清的问题。各角色再次判断之前，还应该知道什么？",
                );
                meeting.questions.push(Question::new(None, ask));
            }
            false => {
                text += lang.pick(" To be cleared up:", "当前需要澄清的问题：");
                for question in
                    meeting.questions.iter().filter(|one| one.state == QuestionState::Waiting)
                {
                    text += &format!("\n- {} ({})", turn::flat(&question.text), question.asker());
                }
            }
        }
        self.meeting = Some(meeting);
        self.line(&By::default(), "opening", "Coach", json!({"text": text}), effects);
        for fields in cut {
            self.line(&By::default(), "judgement", "Coach", fields, effects);
        }
    }

    fn close_meeting(&mut self, effects: &mut Vec<Effect>) {
        let lang = self.lang();
        let Some(meeting) = &mut self.meeting else { return };
        let count = |state: fn(&QuestionState) -> bool| {
            meeting.questions.iter().filter(|question| state(&question.state)).count()
        };
        let cleared = count(|state| *state == QuestionState::Answered);
        let unknown = count(|state| *state == QuestionState::Unknown);
        let dropped = count(|state| matches!(state, QuestionState::Dropped(_)));
        let mut text = lang.pick(
            format!("The meeting is closed: {} cleared", turn::count(cleared, "question")),
            format!("澄清小会已结束：共澄清 {cleared} 个问题"),
        );
        if unknown > 0 {
            text += &lang.pick(
                format!(", {unknown} recorded as unknown"),
                format!("，{unknown} 个记为未知"),
            );
        }
        if dropped > 0 {
            text += &lang.pick(format!(", {dropped} dropped"), format!("，{dropped} 个取消"));
        }
        let left_out: Vec<&str> = self.left_out.iter().map(|role| role.name()).collect();
        text += &match left_out.as_slice() {
            [] => lang.pick(", all roles heard.", "，所有角色都已发言。").to_owned(),
            names => lang.pick(
                format!(", all roles heard but {}, left out.", names.join(" and ")),
                format!("，除不参加的 {} 外，所有角色都已发言。", names.join("、")),
            ),
        };
        meeting.closed = Some(text.clone());
        self.line(&By::default(), "closing", "Coach", json!({"text": text}), effects);
        self.enter(if self.rules >= SIGNED { Stage::Round(3) } else { Stage::Extraction });
    }

    /// Asks the user a question.
    fn ask(&mut self, index: usize, effects: &mut Vec<Effect>) {
        let Some(meeting) = &mut self.meeting else { return };
        meeting.ask(index);
        let Some(question) = meeting.questions.get(index) else { return };
        let (who, fields) =
            (question.asker(), json!({"question_id": question.number, "question": question.text}));
        self.line(&By::default(), "question", who, fields, effects);
    }

    pub(crate) fn judged(
        &mut self,
        role: Role,
        index: usize,
        answer: &Value,
        by: &By,
        effects: &mut Vec<Effect>,
    ) {
        let text = |name: &str| answer[name].as_str().unwrap_or_default().trim().to_owned();
        let (action, reason) = (text("action"), text("reason"));
        let Some(meeting) = &mut self.meeting else { return };
        let answers = meeting.answers();
        let Some(question) = meeting.questions.get_mut(index) else { return };
        question.judged = Some(answers);
        let mut fields = json!({"question": question.text, "action": action, "reason": reason});
        match action.as_str() {
            "skip" => question.state = QuestionState::Dropped(reason.clone()),
            "modify" => {
                question.before = Some(std::mem::replace(&mut question.text, text("question")));
                fields["new_question"] = question.text.clone().into();
            }
            _ => {}
        }
        self.line(by, "judgement", role.name(), fields, effects);
        if action != "skip" && self.rules < SIGNED {
            self.ask(index, effects);
        }
    }

    pub(crate) fn followed_up(
        &mut self,
        role: Role,
        answer: &Value,
        by: &By,
        effects: &mut Vec<Effect>,
    ) {
        let text = answer["question"].as_str().unwrap_or_default().trim().to_owned();
        let Some(meeting) = &mut self.meeting else { return };
        let entry = match meeting.followed_up.iter_mut().find(|(other, ..)| *other == role) {
            Some(entry) => entry,
            None => {
                meeting.followed_up.push((role, 0, false));
                let last = meeting.followed_up.len() - 1;
                &mut meeting.followed_up[last]
            }
        };
        if text.is_empty() {
            entry.2 = true;
            return;
        }
        entry.1 += 1;
        let after = meeting.questions.iter().rposition(|question| question.role == Some(role));
        // Roles may be looking at their questions, by their places.
        let after = after.filter(|_| self.rules < SIGNED);
        let index = after.map_or(meeting.questions.len(), |index| index + 1);
        meeting.questions.insert(index, Question::new(Some(role), &text));
        let fields = json!({"question": text});
        self.line(by, "follow_up", role.name(), fields, effects);
        self.ask(index, effects);
    }

    pub(crate) fn answered_back(
        &mut self,
        role: Role,
        index: usize,
        answer: &Value,
        by: &By,
        effects: &mut Vec<Effect>,
    ) {
        let text = answer["answer"].as_str().unwrap_or_default().trim().to_owned();
        let Some(question) =
            self.meeting.as_mut().and_then(|meeting| meeting.questions.get_mut(index))
        else {
            return;
        };
        question.exchange.push(format!("{role}: {text}"));
        let fields =
            json!({"question_id": question.number, "question": question.text, "text": text});
        self.line(by, "role_answer", role.name(), fields, effects);
    }

    /// Adds a line to the record of the meeting, as it is said.
    pub(crate) fn line(
        &mut self,
        by: &By,
        kind: &str,
        who: &str,
        fields: Value,
        effects: &mut Vec<Effect>,
    ) {
        let mut line = json!({"ts": self.now, "cycle": self.cycle, "kind": kind, "ai_role": who});
        let text = ["text", "answer", "user_input", "new_question", "question"]
            .iter()
            .find_map(|name| fields[*name].as_str())
            .unwrap_or_default()
            .to_owned();
        let is_user = matches!(kind, "answer" | "ask_back");
        if !by.reader.is_empty() {
            line["typed_by"] = json!({"reader": by.reader, "as": if !is_user { "driver" } else if by.person { "person" } else { "agent that relayed it" }});
        }
        let reason = fields["reason"].as_str().map(|reason| {
            format!("{} · {reason} · ", fields["action"].as_str().unwrap_or_default())
        });
        if let (Some(line), Value::Object(fields)) = (line.as_object_mut(), fields) {
            line.extend(fields);
        }
        self.lines.push(Arc::new(line));
        effects.push(Effect::Line(self.lines.len()));
        if self
            .said
            .last()
            .is_some_and(|last| kind == "question" && last.who == who && last.text.ends_with(&text))
        {
            // What led to the question has just been noted with its wording.
            return;
        }
        let who = if is_user { "user" } else { who };
        let whole = format!("{}{text}", reason.unwrap_or_default());
        self.note("clarification meeting".into(), who.into(), by, whole.clone(), &whole);
    }
}
