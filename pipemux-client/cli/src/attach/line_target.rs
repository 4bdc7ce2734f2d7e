//! What typed lines go to: the open question, the app's input, or the window's actions.
//!
//! **Invariant: an answered question doesn't come back.** Views arrive late, and one that was made
//! before the answer still shows the question.

use pipemux_client::proto::Code;
use pipemux_client::proto::report::{QuestionReport, Report};

use super::window::Input;

/// Who hears a line.
#[derive(Debug, Default)]
pub struct LineTarget {
    /// The session whose window is shown, in the form of calls: `planner`, `planner/b`.
    pub callee: String,
    pub input: Option<Input>,
    /// True once there was an input: one that is gone for a moment doesn't make a key of a letter.
    took_words: bool,
    /// The declarations of the actions that the window offers.
    pub actions: Option<String>,
    /// The reader's newest open question.
    pub question: Option<QuestionReport>,
    /// The newest question that was answered or given up.
    settled: u64,
}

impl LineTarget {
    pub fn new(callee: String) -> LineTarget {
        LineTarget { callee, ..LineTarget::default() }
    }

    pub fn set_input(&mut self, input: Option<Input>) {
        self.took_words |= input.is_some();
        self.input = input;
    }

    /// True while what is typed isn't to be seen.
    pub fn hides_line(&self) -> bool {
        let secret = |question: &QuestionReport| {
            question.secret || question.fields.iter().any(|field| field.secret)
        };
        self.question.as_ref().is_some_and(secret)
    }

    /// True if words that are typed go to somebody, or may in a moment.
    pub fn takes_words(&self) -> bool {
        self.took_words || self.input.is_some() || self.question.is_some()
    }

    /// Takes over the newest question that an answer shows. That it shows none means nothing: a
    /// view may have been made before the question was asked.
    pub fn take_questions(&mut self, report: &Report) {
        let known = self.question.as_ref().map_or(0, |question| question.id);
        let all = report.question.iter().chain(&report.questions);
        let newer = all.filter(|question| question.id > self.settled && question.id >= known);
        if let Some(question) = newer.max_by_key(|question| question.id).cloned() {
            self.question = Some(question);
        }
    }

    /// Drops a question that was answered, or that is gone. One whose answer was refused stays
    /// open.
    pub fn settle(&mut self, answered: Option<u64>, report: &Report) {
        let Some(number) = answered else { return };
        let mut shown = report.question.iter().chain(&report.questions);
        let refused = report.error.as_ref().is_some_and(|error| error.code != Code::NotFound);
        if refused || shown.any(|question| question.id == number) {
            return;
        }
        self.settled = self.settled.max(number);
        self.question.take_if(|question| question.id <= number);
    }
}
