//! What each turn is given: exactly what its schema in `schemas/payload.*.json` names.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::course::Course;
use crate::event::SIGNED;
use crate::instruction::instruction;
use crate::meeting::{Question, QuestionState};
use crate::role::Role;
use crate::schema;
use crate::signing;
use crate::turn::{Intent, Spoken, TurnKind, Verdict, shown_name};

/// The prompts that the user has written, by the speaker's name.
pub type Prompts = BTreeMap<String, String>;

impl Course {
    /// Returns what the turn that was opened first is given; none if no turn is open.
    pub fn payload(&self, prompts: &Prompts) -> Option<Value> {
        Some(self.payload_of(self.turn()?.kind, prompts))
    }

    /// Returns what an open turn is given.
    pub fn payload_of(&self, kind: TurnKind, prompts: &Prompts) -> Value {
        let speaker = kind.speaker().name();
        let task = match kind.speaker() {
            crate::Speaker::Role(role) => role.task(),
            crate::Speaker::Coach => crate::role::COACH_TASK,
        };
        let prompt = prompts.get(speaker).map_or(task, String::as_str);
        let language = self.lang().pick("", "\n请用中文回答（JSON 的字段名不变）。");
        let prompt = format!("{prompt}\n{}{language}", instruction(kind));
        let mut payload = match kind {
            TurnKind::Intent => self.intent_payload(),
            TurnKind::Verdict(1, _) => self.first_round(),
            TurnKind::Verdict(2, _) => json!({
                "user_brief": self.whole_brief(),
                "round_1_verdicts": self.verdict_map(1),
                "coach_summary": self.coach_summary(1),
            }),
            TurnKind::Verdict(..) => self.third_round(),
            TurnKind::Judge(role, index) => self.judge_payload(role, index),
            TurnKind::FollowUp(role) => {
                let mut payload = self.meeting_payload(role);
                payload["my_questions"] = self.asked(|question| question.role == Some(role)).into();
                payload["asked_so_far"] = self.asked(|_| true).into();
                payload
            }
            TurnKind::AnswerBack(role, index) => self.answer_back_payload(role, index),
            TurnKind::Confirm(role) => {
                let mut payload = signing::payload(self.signing.as_ref(), role);
                payload["my_verdicts"] = self.verdicts_of(role);
                payload
            }
            TurnKind::Extraction => {
                let mut payload = json!({
                    "user_brief": self.whole_brief(),
                    "round_1_verdicts": self.verdict_map(1),
                    "round_2_verdicts": self.verdict_map(2),
                });
                if self.rules < SIGNED {
                    let (questions, answers) = self.questions_and_answers();
                    payload["clarification_questions"] = questions.into();
                    payload["user_answers"] = answers.into();
                }
                payload
            }
            TurnKind::Synthesis => {
                let (questions, answers) = self.questions_and_answers();
                let round = self.last_round();
                let mut payload = json!({
                    "user_brief": self.whole_brief(), "round": round, "verdicts": self.verdict_map(round),
                    "clarification_questions": questions, "user_answers": answers, "expert": self.expert_word(),
                });
                if let Some(extraction) = &self.extraction {
                    payload["consensus_from_r1_r2"] = json!(extraction);
                }
                payload
            }
            TurnKind::Plan => {
                let (questions, answers) = self.questions_and_answers();
                json!({
                    "user_brief": self.whole_brief(), "verdicts": self.verdict_map(self.last_round()),
                    "clarification_questions": questions, "user_answers": answers,
                    "suggestions": self.suggestions(), "synthesis": self.synthesis,
                    "plan_schema": schema::schema("plan"),
                })
            }
        };
        payload["my_prompt"] = prompt.into();
        payload
    }

    /// Returns the brief with all that was added, each part marked.
    pub fn whole_brief(&self) -> String {
        let mut text = self.brief.clone();
        for addition in &self.additions {
            text += &format!("\n\n[{}]\n{}", addition.from, addition.text);
        }
        text
    }

    fn first_round(&self) -> Value {
        let mut payload = json!({"user_brief": self.whole_brief()});
        let intent = self.intent.as_ref().map(|(intent, _)| *intent);
        let used = match intent {
            Some(Intent::Refine | Intent::ContinueDiscussion) => "refine",
            Some(Intent::NewWithReference | Intent::Other) => "reference",
            Some(Intent::New | Intent::Unsure) | None => return payload,
        };
        if let Some(prior) = &self.prior {
            payload["earlier_plan"] = json!({
                "title": prior.title, "type": prior.kind, "version": prior.version,
                "key_points": prior.key_points, "use": used,
            });
        }
        payload
    }

    fn third_round(&self) -> Value {
        let extraction = self.extraction.clone().unwrap_or_default();
        let (questions, answers) = self.questions_and_answers();
        json!({
            "user_brief": self.whole_brief(),
            "consensus_from_r1_r2": extraction,
            "clarification_questions": questions,
            "user_answers": answers,
            "previous_ai_responses_in_r3": self.verdict_map(3),
        })
    }

    fn intent_payload(&self) -> Value {
        let prior = self.prior.clone().unwrap_or_default();
        json!({
            "user_input": self.whole_brief(),
            "uploaded_file": {
                "type": prior.kind, "title": prior.title, "version": prior.version, "key_points": prior.key_points,
            },
            "user_history": self.history,
        })
    }

    fn judge_payload(&self, role: Role, index: usize) -> Value {
        let questions =
            self.meeting.as_ref().map(|meeting| meeting.questions.as_slice()).unwrap_or_default();
        // Roles that look at their questions at the same time leave to each other only what is asked earlier.
        let is_other = |other: usize| match self.rules >= SIGNED {
            true => other < index,
            false => other != index,
        };
        let waiting: Vec<String> = questions
            .iter()
            .enumerate()
            .filter(|(other, one)| is_other(*other) && one.state == QuestionState::Waiting)
            .map(|(_, question)| format!("{} ({})", question.text, question.asker()))
            .collect();
        let mut payload = self.meeting_payload(role);
        payload["user_brief"] = self.whole_brief().into();
        payload["my_question"] =
            questions.get(index).map(|question| question.text.clone()).unwrap_or_default().into();
        payload["coach_summary"] = self.coach_summary(2).into();
        payload["asked_so_far"] = self.asked(|_| true).into();
        payload["open_questions"] = waiting.into();
        payload
    }

    /// Returns what each role is given in the meeting: what was agreed so far, and what it said itself.
    fn meeting_payload(&self, role: Role) -> Value {
        let consensus = self.extraction.clone().unwrap_or_default();
        json!({"consensus_from_r1_r2": consensus, "my_verdicts": self.verdicts_of(role)})
    }

    /// Returns a role's verdicts of this cycle, by round.
    fn verdicts_of(&self, role: Role) -> Value {
        let spoken = |(round, spoken): (&u8, &BTreeMap<Role, Spoken>)| {
            Some((format!("round_{round}"), json!(spoken.get(&role)?.verdict)))
        };
        Value::Object(self.rounds.iter().filter_map(spoken).collect())
    }

    /// Returns what each role suggested in this cycle, each once.
    fn suggestions(&self) -> BTreeMap<&'static str, Vec<&String>> {
        let mut all: BTreeMap<&'static str, Vec<&String>> = BTreeMap::new();
        for (role, spoken) in self.rounds.values().flatten() {
            let of = all.entry(role.name()).or_default();
            for one in &spoken.verdict.suggestions {
                if !of.contains(&one) {
                    of.push(one);
                }
            }
        }
        all.retain(|_, of| !of.is_empty());
        all
    }

    fn answer_back_payload(&self, role: Role, index: usize) -> Value {
        let question = self.meeting.as_ref().and_then(|meeting| meeting.questions.get(index));
        let exchange = question.map(|question| question.exchange.clone()).unwrap_or_default();
        let last = exchange.last().map(|last| last.trim_start_matches("user: ").to_owned());
        let mut payload = self.meeting_payload(role);
        payload["my_question"] =
            question.map(|question| question.text.clone()).unwrap_or_default().into();
        payload["user_asks"] = last.unwrap_or_default().into();
        payload["said_so_far"] = exchange.into();
        payload
    }

    fn asked(&self, keep: impl Fn(&Question) -> bool) -> Vec<Value> {
        let asked = self.meeting.as_ref().map(|meeting| meeting.asked()).unwrap_or_default();
        let shown = |question: &&Question| json!({"question": question.text, "asked_by": question.asker(), "answer": question.shown_answer()});
        asked
            .into_iter()
            .filter(|question| keep(question))
            .collect::<Vec<_>>()
            .iter()
            .map(shown)
            .collect()
    }

    fn verdict_map(&self, round: u8) -> BTreeMap<&'static str, &Verdict> {
        self.verdicts(round).map(|(role, spoken)| (role.name(), &spoken.verdict)).collect()
    }

    /// Returns the round whose verdicts a synthesis sums up.
    pub(crate) fn last_round(&self) -> u8 {
        match self.stage {
            crate::Stage::Synthesis(round) | crate::Stage::Plan(round) => round,
            _ => 3,
        }
    }

    fn expert_word(&self) -> Option<String> {
        let expert = self.expert.as_ref()?;
        expert.words.last().map(|(_, text)| text.clone())
    }

    /// Returns what was asked in the meeting, and what was answered, both by `question_1` and so on; the expert's word is
    /// among them.
    pub(crate) fn questions_and_answers(&self) -> (Map<String, Value>, Map<String, Value>) {
        let (mut questions, mut answers) = (Map::new(), Map::new());
        let mut add = |question: String, answer: String| {
            let name = format!("question_{}", questions.len() + 1);
            questions.insert(name.clone(), question.into());
            answers.insert(name, answer.into());
        };
        for question in self.meeting.as_ref().map(|meeting| meeting.asked()).unwrap_or_default() {
            let mut text = question.text.clone();
            if !question.exchange.is_empty() {
                text += &format!(" (before the answer: {})", question.exchange.join(" / "));
            }
            add(text, question.shown_answer().unwrap_or_else(|| "unknown".into()));
        }
        if let Some(expert) = &self.expert {
            for (ok, text) in &expert.words {
                let word = Verdict { ok: *ok, ..Verdict::default() }.word();
                add(
                    format!("What does the invited expert ({}) say?", shown_name(&expert.reader)),
                    format!("{word}: {text}"),
                );
            }
        }
        (questions, answers)
    }

    /// Sums up a round, as the coach tells the next one.
    pub fn coach_summary(&self, round: u8) -> String {
        let mut parts = Vec::new();
        for (word, ok) in [("agree", Some(true)), ("have a concern", None), ("block", Some(false))]
        {
            let of: Vec<&str> = self
                .verdicts(round)
                .filter(|(_, spoken)| spoken.verdict.ok == ok)
                .map(|(role, _)| role.name())
                .collect();
            if !of.is_empty() {
                parts.push(format!("{} {word}: {}", of.len(), of.join(", ")));
            }
        }
        for role in &self.left_out {
            parts.push(format!("{role} is left out"));
        }
        let mut text = format!("Round {round}: {}.", parts.join("; "));
        for (role, spoken) in self.verdicts(round) {
            if spoken.verdict.ok != Some(true) {
                text += &format!("\n{role}: {}", spoken.verdict.reasons.join(" "));
            }
            for question in &spoken.verdict.blocking_open_questions {
                text += &format!("\n{role} asks: {question}");
            }
        }
        text
    }
}
