//! A meeting and its questions.

use crate::role::Role;

/// A meeting.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meeting {
    /// What is to be cleared up, in the order in which it is asked.
    pub questions: Vec<Question>,
    /// Roles that have had their chance to follow up, with the questions that they added, and
    /// whether they are done.
    pub followed_up: Vec<(Role, u8, bool)>,
    /// The closing summary.
    pub closed: Option<String>,
}

/// A question of the meeting.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Its number among those that were asked; 0 until it is.
    pub number: u32,
    /// Who asks; none for the coach.
    pub role: Option<Role>,
    /// What is asked.
    pub text: String,
    /// How it was worded before its role changed it.
    pub before: Option<String>,
    /// How far it is.
    pub state: QuestionState,
    /// The user's answer.
    pub answer: Option<String>,
    /// What was said between question and answer: the user's words and the role's, in turn.
    pub exchange: Vec<String>,
    /// How many answers there were when its role last looked at it again.
    pub judged: Option<usize>,
}

/// How far a question is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionState {
    /// It wasn't looked at again.
    Waiting,
    /// The user is asked.
    Open,
    /// The role took it back, for this reason.
    Dropped(String),
    /// The user answered.
    Answered,
    /// The user doesn't know.
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
