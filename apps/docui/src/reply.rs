//! How an update ends.

use pipemux_proto::Value;
use pipemux_proto::app::{self, OptionItem, Question, QuestionKind};
use pipemux_proto::projection::LinkSlot;

use crate::actions::Actions;
use crate::view::link;

/// How an update ends, when it does not fail.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// It took effect.
    Done(Done),
    /// It asks first; nothing took effect.
    Ask(Ask),
}

impl From<Done> for Reply {
    fn from(done: Done) -> Self {
        Reply::Done(done)
    }
}
impl From<Ask> for Reply {
    fn from(ask: Ask) -> Self {
        Reply::Ask(ask)
    }
}

/// An action that took effect.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Done(pub(crate) app::Done);

impl Done {
    /// With one line of what came of it: `2 of 3 matches`. The daemon writes the action's name before
    /// it.
    pub fn new(brief: impl Into<String>) -> Self {
        Self(app::Done { brief: brief.into(), ..app::Done::default() })
    }

    /// Adds more, shown when asked for.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Sets the result.
    #[must_use]
    pub fn value(mut self, value: impl Into<Value>) -> Self {
        self.0.value = Some(value.into().to_blob());
        self
    }

    /// Names the result for another app that gets it: `src/parse.rs:101-300`.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.0.label = Some(label.into());
        self
    }

    /// Adds what one would do next: `undo`. Bind the change that it belongs to in its arguments.
    #[must_use]
    pub fn link(mut self, label: impl Into<String>, action: &impl Actions) -> Self {
        self.0.links.push(link(label, action));
        self
    }

    /// The links so far.
    pub fn links(&self) -> &[LinkSlot] {
        &self.0.links
    }
}

/// A question that must be answered before an action goes on. The answer comes as the same action with
/// [`crate::Context::answer`].
#[derive(Debug, Clone, PartialEq)]
pub struct Ask(pub(crate) app::Needs);

impl Ask {
    /// Asks for some of the options: `answer 1,3`, `all`, `all but 2`, `none`.
    pub fn pick_many(text: impl Into<String>) -> Self {
        Self::new(text, QuestionKind::PickMany)
    }

    /// Asks for one of the options.
    pub fn pick_one(text: impl Into<String>) -> Self {
        Self::new(text, QuestionKind::PickOne)
    }

    /// Asks yes or no, showing what would be touched.
    pub fn confirm(text: impl Into<String>) -> Self {
        Self::new(text, QuestionKind::Confirm)
    }

    /// Asks for a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(text, QuestionKind::Text)
    }

    /// Adds an option: a short label (`line 57`) that becomes a link, and the rest of its line. Past
    /// [`pipemux_proto::limits::CHOICES_MAX`] options are counted, not listed.
    #[must_use]
    pub fn option(mut self, label: impl Into<String>, text: impl Into<String>) -> Self {
        if self.0.question.options.len() < pipemux_proto::limits::CHOICES_MAX {
            self.0.question.options.push(OptionItem { label: label.into(), text: text.into() });
        } else {
            self.0.question.unlisted += 1;
        }
        self
    }

    /// Counts options that are not given.
    #[must_use]
    pub fn unlisted(mut self, more: u64) -> Self {
        self.0.question.unlisted += more;
        self
    }

    /// Sets what comes back with the answer.
    #[must_use]
    pub fn token(mut self, token: impl Into<Vec<u8>>) -> Self {
        self.0.token = pipemux_proto::Blob(token.into().into());
        self
    }

    fn new(text: impl Into<String>, kind: QuestionKind) -> Self {
        let question = Question { text: text.into(), kind, options: Vec::new(), unlisted: 0 };
        Self(app::Needs { question, token: Default::default() })
    }
}
