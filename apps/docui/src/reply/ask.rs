//! A question that must be answered before an action goes on.

use pipemux_proto::app::{self, OptionItem, Question, QuestionKind};
use pipemux_proto::limits::CHOICES_MAX;
use pipemux_proto::{LineNumbers, Value};

use crate::args::Record;

/// A question that must be answered before an action goes on.
///
/// When the reader answers, [`crate::App::update`] is called again with the same action, and with
/// the answer in [`crate::Context::answer`].
#[derive(Debug, Clone, PartialEq)]
pub struct Ask(pub(crate) app::Needs);

impl Ask {
    /// Asks the reader to pick any number of the options: `answer 1,3`, `all`, `all but 2`, `none`.
    pub fn pick_many(text: impl Into<String>) -> Self {
        Self::new(text, QuestionKind::PickMany)
    }

    /// Asks the reader to pick one of the options.
    pub fn pick_one(text: impl Into<String>) -> Self {
        Self::new(text, QuestionKind::PickOne)
    }

    /// Asks for a yes or no. List what would be affected as options.
    pub fn confirm(text: impl Into<String>) -> Self {
        Self::new(text, QuestionKind::Confirm)
    }

    /// Asks for a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(text, QuestionKind::Text)
    }

    /// Asks for the fields of a record, by name or in order. The daemon checks them before the app
    /// is asked again; [`crate::Context::form`] returns them. An app refuses one of them with
    /// [`pipemux_proto::Fault::field`]: the form then stays open with the others as they were
    /// given.
    ///
    /// ```
    /// docui::record! { pub struct NewTask { title: String, column: String = "todo" } }
    /// let ask = docui::Ask::form::<NewTask>("a new task");
    /// ```
    pub fn form<T: Record>(text: impl Into<String>) -> Self {
        let mut ask = Self::new(text, QuestionKind::Form);
        ask.0.question.fields = T::fields();
        ask
    }

    /// Gives a field of the form another default, which the app knows only now. A field with a
    /// default may be left out, and is then sent with it.
    #[must_use]
    pub fn default(mut self, field: &str, value: impl Into<Value>) -> Self {
        let mut fields = self.0.question.fields.iter_mut();
        if let Some(field) = fields.find(|other| other.name == field) {
            field.default = Some(value.into());
        }
        self
    }

    /// Marks the text that is asked for as a secret, such as a password: it is never printed or
    /// kept.
    #[must_use]
    pub fn secret(mut self) -> Self {
        self.0.question.secret = true;
        self
    }

    /// Adds an option: a short label that becomes a link, such as `line 57`, and the rest of its
    /// line. Options beyond [`CHOICES_MAX`] are only counted.
    #[must_use]
    pub fn option(mut self, label: impl Into<String>, text: impl Into<String>) -> Self {
        if self.0.question.options.len() < CHOICES_MAX {
            self.0.question.options.push(OptionItem { label: label.into(), text: text.into() });
        } else {
            self.0.question.unlisted += 1;
        }
        self
    }

    /// Names line numbers that the question shows, with the version in which they count.
    #[must_use]
    pub fn shows(mut self, numbers: impl IntoIterator<Item = LineNumbers>) -> Self {
        self.0.numbers.extend(numbers);
        self
    }

    /// Adds to the number of options that are counted without being listed.
    #[must_use]
    pub fn unlisted(mut self, more: u64) -> Self {
        self.0.question.unlisted += more;
        self
    }

    /// Sets bytes that come back with the answer, for example what the options were when it was
    /// asked.
    #[must_use]
    pub fn token(mut self, token: impl Into<Vec<u8>>) -> Self {
        self.0.token = pipemux_proto::Blob(token.into().into());
        self
    }

    fn new(text: impl Into<String>, kind: QuestionKind) -> Self {
        let question = Question {
            text: text.into(),
            kind,
            options: Vec::new(),
            unlisted: 0,
            ..Question::default()
        };
        Self(app::Needs { question, token: Default::default(), numbers: Vec::new() })
    }
}
