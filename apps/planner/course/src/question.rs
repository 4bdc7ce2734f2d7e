//! A meeting and its questions.

use crate::role::Role;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meeting {
    /// The questions to clear up, in the order of asking.
    pub questions: Vec<Question>,
    /// Roles that have had their chance to follow up, with the questions that they added, and
    /// whether they are done.
    pub followed_up: Vec<(Role, u8, bool)>,
    /// The closing summary; `None` while the meeting is open.
    pub closed: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The number among the questions asked; 0 until the question is asked.
    pub number: u32,
    /// The asking role; `None` for the coach.
    pub role: Option<Role>,
    pub text: String,
    /// The wording before the role changed it.
    pub before: Option<String>,
    pub state: QuestionState,
    /// The user's answer.
    pub answer: Option<String>,
    /// The words between question and answer, by the user and the role in turn.
    pub exchange: Vec<String>,
    /// The number of answers when the role last reviewed the question.
    pub judged: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionState {
    /// The question hasn't been reviewed.
    Waiting,
    /// The question is open for the user's answer.
    Open,
    /// The role withdrew the question, for this reason.
    Dropped(String),
    Answered,
    /// The user doesn't know the answer.
    Unknown,
}

impl QuestionState {
    /// Returns true once nobody waits for an answer.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(self, Self::Waiting | Self::Open)
    }
}

impl Meeting {
    /// Returns the question that the user is asked now.
    pub fn open(&self) -> Option<(usize, &Question)> {
        self.questions
            .iter()
            .enumerate()
            .find(|(_, question)| question.state == QuestionState::Open)
    }

    /// Returns the questions that are still to be asked, with their places.
    pub fn waiting(&self) -> impl Iterator<Item = (usize, &Question)> {
        let all = self.questions.iter().enumerate();
        all.filter(|(_, question)| question.state == QuestionState::Waiting)
    }

    /// Returns how many questions the user has answered.
    pub fn answers(&self) -> usize {
        let is_answered =
            |one: &&Question| matches!(one.state, QuestionState::Answered | QuestionState::Unknown);
        self.questions.iter().filter(is_answered).count()
    }

    /// Returns the questions that were asked, in the order of their numbers.
    pub fn asked(&self) -> Vec<&Question> {
        let mut asked: Vec<&Question> =
            self.questions.iter().filter(|question| question.number > 0).collect();
        asked.sort_by_key(|question| question.number);
        asked
    }

    /// Returns how many questions are to be asked as far as is known by now: more may follow, and
    /// some may be taken back.
    pub fn known(&self) -> usize {
        let dropped = |one: &&Question| matches!(one.state, QuestionState::Dropped(_));
        self.questions.len() - self.questions.iter().filter(dropped).count()
    }

    pub(crate) fn ask(&mut self, index: usize) {
        let number = self.questions.iter().map(|question| question.number).max().unwrap_or(0) + 1;
        if let Some(question) = self.questions.get_mut(index) {
            (question.number, question.state) = (number, QuestionState::Open);
        }
    }
}

impl Question {
    pub(crate) fn new(role: Option<Role>, text: &str) -> Self {
        Self {
            number: 0,
            role,
            text: text.trim().to_owned(),
            before: None,
            state: QuestionState::Waiting,
            answer: None,
            exchange: Vec::new(),
            judged: None,
        }
    }

    /// Returns who asks.
    pub fn asker(&self) -> &'static str {
        self.role.map_or("Coach", Role::name)
    }

    /// Returns what the user answered, as round 3 is told.
    pub fn shown_answer(&self) -> Option<String> {
        match (&self.state, &self.answer) {
            (QuestionState::Unknown, None) => Some("unknown".into()),
            (QuestionState::Unknown, Some(answer)) => Some(format!("unknown ({answer})")),
            (_, answer) => answer.clone(),
        }
    }
}
