//! The record of a course: all that was said, in order, and the meetings word for word.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use crate::answers::JudgementAction;
use crate::event::{By, Effect};
use crate::text;

/// The record, which only grows. Its items are shared between the states that know them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// All that was said, in order.
    pub statements: Vec<Arc<Statement>>,
    /// The lines of `planning.clarification.jsonl`.
    pub lines: Vec<Arc<Value>>,
    /// The time of the entry that is applied.
    pub(crate) now: String,
    /// Who brought the entry that is applied; nobody once the course goes on by itself.
    pub(crate) by: By,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The time, in RFC 3339.
    pub ts: String,
    /// The stage in which it was said: `round 1`.
    pub place: String,
    /// The speaker: a role, the coach or the user.
    pub who: String,
    /// The originator, with the driver that the statement came through.
    pub by: By,
    /// A summary: `block · the migration is missing`.
    pub gist: String,
    pub text: String,
}

/// A line of a meeting, as `planning.clarification.jsonl` has it.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum MeetingLine<'a> {
    Opening {
        text: &'a str,
    },
    Question {
        question_id: u32,
        question: &'a str,
    },
    Judgement {
        question: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        asked_by: Option<&'a str>,
        action: JudgementAction,
        reason: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        new_question: Option<&'a str>,
    },
    FollowUp {
        question: &'a str,
    },
    RoleAnswer {
        question_id: u32,
        question: &'a str,
        text: &'a str,
    },
    Answer {
        question_id: u32,
        question: &'a str,
        answer: &'a str,
        user_input: &'a str,
        unknown: bool,
    },
    AskBack {
        question_id: u32,
        question: &'a str,
        user_input: &'a str,
    },
    Closing {
        text: &'a str,
    },
}

impl MeetingLine<'_> {
    /// Returns what is new in the line.
    fn text(&self) -> &str {
        match self {
            Self::Opening { text } | Self::Closing { text } | Self::RoleAnswer { text, .. } => text,
            Self::Answer { answer: text, .. } | Self::AskBack { user_input: text, .. } => text,
            Self::Judgement { new_question: Some(text), .. } => text,
            Self::Question { question, .. }
            | Self::Judgement { question, .. }
            | Self::FollowUp { question } => question,
        }
    }

    fn is_of_user(&self) -> bool {
        matches!(self, Self::Answer { .. } | Self::AskBack { .. })
    }
}

impl Record {
    /// Adds what was said by whoever brought the entry that is applied.
    pub(crate) fn note(&mut self, place: String, who: &str, gist: &str, text: &str) {
        self.statements.push(Arc::new(Statement {
            ts: self.now.clone(),
            place,
            who: who.to_owned(),
            by: self.by.clone(),
            gist: text::gist(gist),
            text: text.to_owned(),
        }));
    }

    /// Adds a line to the record of the meeting, as it is said, and to that of everything.
    pub(crate) fn line(
        &mut self,
        cycle: u32,
        who: &str,
        line: &MeetingLine<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let mut fields = json!(line);
        fields["ts"] = self.now.as_str().into();
        fields["cycle"] = cycle.into();
        fields["ai_role"] = who.into();
        let is_user = line.is_of_user();
        if !self.by.reader.is_empty() {
            let how = match (is_user, self.by.person) {
                (false, _) => "driver",
                (true, true) => "person",
                (true, false) => "agent that relayed it",
            };
            fields["typed_by"] = json!({"reader": self.by.reader, "as": how});
        }
        self.lines.push(Arc::new(fields));
        effects.push(Effect::Line(self.lines.len()));
        let text = line.text();
        let is_question = matches!(line, MeetingLine::Question { .. });
        let last = self.statements.last().filter(|_| is_question);
        if last.is_some_and(|last| last.who == who && last.text.ends_with(text)) {
            // What led to the question has just been noted with its wording.
            return;
        }
        let whole = match line {
            MeetingLine::Judgement { action, reason, .. } => {
                format!("{} · {reason} · {text}", action.name())
            }
            _ => text.to_owned(),
        };
        let who = if is_user { "user" } else { who };
        self.note("clarification meeting".into(), who, &whole, &whole);
    }
}
