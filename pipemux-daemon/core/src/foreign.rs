//! Text of apps, which nobody may take for PipeMux's own.
//!
//! **Invariant: behind [`intake`](crate::intake) no text that an app wrote for people or models is a plain string.** It
//! is a [`ForeignText`], or a [`ForeignStr`] where it is borrowed from the bytes that came. Neither can be printed,
//! dereferenced or written into another text: only the modules here read them, each for the place where the text goes.
//!
//! | module | for |
//! |---|---|
//! | [`inert`] | Markdown: a line, several lines, a label, exact text in a fence |
//! | [`data`] | a field of its own: JSON, a record, the text of a value |
//! | [`quote`] | a sentence of the daemon that tells what an app said |
//! | [`bounds`] | nothing: it cuts a text to its bound |
//!
//! A text of the daemon's own may become foreign (`From<String>`), since that makes it only safer. The other way there
//! is none:
//!
//! ```compile_fail
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! let markdown = format!("{text}");
//! ```
//! ```compile_fail
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! let markdown: &str = &text;
//! ```
//! ```compile_fail
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! let markdown: &str = text.as_ref();
//! ```
//! ```compile_fail
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! let markdown = String::from(text);
//! ```
//! ```compile_fail
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! let markdown = ["a", "b"].concat() + &text;
//! ```
//! ```compile_fail
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! let markdown = text.to_string();
//! ```
//! What is left can be compared with what a reader wrote, and that is all:
//!
//! ```
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! assert!(text == "[x](obj:1)" && !text.is_empty());
//! ```

pub mod bounds;
pub mod data;
pub mod inert;
pub mod masked_paths;
pub mod quote;

pub use quote::Speaker;

use std::rc::Rc;

use pipemux_proto::{app, job, projection};
use serde::{Deserialize, Serialize};

/// A text that an app wrote.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ForeignText(String);

/// A text that an app wrote, borrowed.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignStr<'a>(&'a str);

/// A text that an app wrote, shared; also with the key of the thing that it names.
#[derive(Clone, PartialEq, Eq)]
pub struct ForeignRc(Rc<str>);

// What apps send, as the daemon decodes it.
pub type Opened = app::OpenedOf<ForeignText>;
pub type Outcome = app::OutcomeOf<ForeignText>;
pub type Done = app::DoneOf<ForeignText>;
pub type Needs = app::NeedsOf<ForeignText>;
pub type Question = app::QuestionOf<ForeignText>;
pub type OptionItem = app::OptionItemOf<ForeignText>;
pub type Located = app::LocatedOf<ForeignText>;
pub type KeyLocation = app::KeyLocationOf<ForeignText>;
pub type Notify = app::NotifyOf<ForeignText>;
pub type Busy = app::BusyOf<ForeignText>;
pub type Progress = app::ProgressOf<ForeignText>;
pub type Started = job::StartedOf<ForeignText>;
pub type JobReport = job::JobReportOf<ForeignText>;
pub type ObjectSlot = projection::ObjectSlotOf<ForeignText>;
pub type LinkSlot = projection::LinkSlotOf<ForeignText>;
pub type Piece = projection::PieceOf<ForeignText>;
pub type Projection = projection::ProjectionOf<ForeignText>;

impl ForeignRc {
    /// Keeps a text; the same as another one shares its bytes.
    pub fn new(text: ForeignStr<'_>, other: Option<&Rc<str>>) -> Self {
        match other {
            Some(other) if **other == *text.0 => Self(other.clone()),
            _ => Self(text.0.into()),
        }
    }

    /// Borrows the text.
    pub fn borrow(&self) -> ForeignStr<'_> {
        ForeignStr(&self.0)
    }
}

impl ForeignText {
    /// Borrows the text.
    pub fn borrow(&self) -> ForeignStr<'_> {
        ForeignStr(&self.0)
    }

    /// Returns true for a text without characters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns its length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<'a> ForeignStr<'a> {
    /// Copies the text.
    pub fn to_owned(self) -> ForeignText {
        ForeignText(self.0.to_owned())
    }

    /// Returns true for a text without characters.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Returns its length in bytes.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Compares it with what a reader wrote.
    pub fn fits(self, fits: impl Fn(&str) -> bool) -> bool {
        fits(self.0)
    }

    /// Returns its lines, each with the newline that ends it.
    pub fn lines_with_ends(self) -> impl Iterator<Item = ForeignStr<'a>> {
        self.0.split_inclusive('\n').map(ForeignStr)
    }

    /// Estimates its tokens.
    pub fn tokens(self) -> u64 {
        pipemux_tokens::estimate(self.0)
    }
}

/// For tests and logs of errors: quoted, as a string literal.
impl std::fmt::Debug for ForeignText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.borrow().fmt(f)
    }
}

impl std::fmt::Debug for ForeignRc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.borrow().fmt(f)
    }
}

impl std::fmt::Debug for ForeignStr<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Foreign({:?})", self.0)
    }
}

impl From<String> for ForeignText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for ForeignText {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl<'a> From<&'a str> for ForeignStr<'a> {
    fn from(text: &'a str) -> Self {
        Self(text)
    }
}

impl<'a> From<&'a String> for ForeignStr<'a> {
    fn from(text: &'a String) -> Self {
        Self(text)
    }
}

impl<'a> From<&'a ForeignText> for ForeignStr<'a> {
    fn from(text: &'a ForeignText) -> Self {
        text.borrow()
    }
}

impl PartialEq<str> for ForeignText {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for ForeignText {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}
