//! Errors that cross a process boundary: a code to act on, a sentence to read, hints to follow.

use serde::{Deserialize, Serialize};

use crate::consent::ConsentRequest;
use crate::numbers::LineNumbers;

/// The kind of an error; it determines the exit status of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The action was carried out and didn't succeed.
    Failed,
    /// The call itself is wrong: syntax, name, parameter, type.
    Usage,
    /// The named thing doesn't exist.
    NotFound,
    /// The thing's meaning changed since the reader saw it.
    Stale,
    /// The thing exists, but is folded, scrolled or filtered away, or its window is closed.
    OutOfView,
    /// The app couldn't be reached, and the request wasn't delivered.
    Unavailable,
    /// The app died or fell silent during the request, so the outcome is unknown.
    Unknown,
    /// The peer speaks another version.
    Version,
    /// A rule or a limit forbids the request.
    Refused,
    /// The app can't read the form of its data, such as a file.
    InvalidSourceData,
    /// The version of the app's state went back within one process's life.
    VersionMismatch,
    /// Two things have the same name; the first one was kept.
    AnchorConflict,
    /// A window exceeds its budget and was shown with less detail.
    ContextTooLarge,
    /// A code of a later version.
    #[serde(other)]
    Other,
}

impl Code {
    /// Returns the exit status of the command line for a request in which no step took effect.
    pub fn exit_status(self) -> u8 {
        match self {
            // The last three are told beside an answer, which they don't fail, unless an app uses
            // them.
            Code::Failed
            | Code::VersionMismatch
            | Code::AnchorConflict
            | Code::ContextTooLarge
            | Code::Other => 1,
            Code::Usage => 2,
            Code::NotFound => 3,
            Code::Stale | Code::OutOfView => 4,
            Code::Unavailable => 6,
            Code::Unknown => 7,
            Code::Version => 8,
            Code::Refused | Code::InvalidSourceData => 9,
        }
    }

    /// Returns the name of an error of a Context, which stands before its message in Markdown.
    pub fn context_error(self) -> Option<&'static str> {
        match self {
            Code::InvalidSourceData => Some("InvalidSourceData"),
            Code::VersionMismatch => Some("VersionMismatch"),
            Code::AnchorConflict => Some("AnchorConflict"),
            Code::ContextTooLarge => Some("ContextTooLarge"),
            _ => None,
        }
    }
}

/// The effort that an error requires of a reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Follow a hint.
    #[default]
    Hint,
    /// Choose one of several candidates.
    Choice,
    /// Take several steps.
    Wizard,
}

/// A position in the code of a `run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePosition {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// An error with hints on what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The kind of error.
    pub code: Code,
    /// The effort that the error requires of the reader.
    #[serde(default)]
    pub level: Level,
    /// The error in one sentence; further lines may show the position.
    pub message: String,
    /// The position in the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<SourcePosition>,
    /// The suggested next steps, each a whole command or sentence.
    #[serde(default)]
    pub hints: Vec<String>,
    /// The key of the thing that is stale, hidden or gone; set by apps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Box<str>>,
    /// The name of the field or parameter that is refused; set by apps. A form that asked for it
    /// stays open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Box<str>>,
    /// What a person has to allow before the action can succeed; set by apps, and only in the fault
    /// of an action. The daemon keeps it, and says in a hint how a person allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<Box<ConsentRequest>>,
    /// The line numbers in the message; set by apps.
    #[serde(default, skip_serializing_if = "<[LineNumbers]>::is_empty")]
    pub numbers: Box<[LineNumbers]>,
    /// For a stale call with line numbers: true if repeating the call with the same numbers would
    /// affect the lines that now have them, false if not. Set by apps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeatable: Option<bool>,
    /// The ref that the message names, as its reader wrote it. Set by the daemon for itself: it is
    /// never sent.
    #[serde(skip)]
    pub written_ref: Option<Box<str>>,
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident => $Code:ident,)*) => {
        $($(#[$doc])*
        pub fn $name(message: impl Into<String>) -> Self {
            Self::new(Code::$Code, message)
        })*
    };
}

impl Fault {
    /// Makes an error with this code and no hints.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        let (level, at, hints, key) = (Level::Hint, None, Vec::new(), None);
        let numbers = Box::default();
        let (field, consent, repeatable, written_ref) = (None, None, None, None);
        Self {
            code,
            level,
            message,
            at,
            hints,
            key,
            field,
            consent,
            numbers,
            repeatable,
            written_ref,
        }
    }

    constructors! {
        /// Makes the error of an action that was carried out and did not succeed.
        failed => Failed,
        /// Makes the error of a wrong call.
        usage => Usage,
        /// Makes the error of a thing that doesn't exist.
        not_found => NotFound,
        /// Makes the error of a thing whose meaning has changed.
        stale => Stale,
        /// Makes the error of a thing that exists but isn't visible.
        out_of_view => OutOfView,
        /// Makes the error of a request that was not delivered.
        unavailable => Unavailable,
        /// Makes the error of a request that was delivered and whose outcome is unknown.
        unknown => Unknown,
        /// Makes the error of a request that a rule or a bound forbids.
        refused => Refused,
        /// Makes the error of source data that the app can't read.
        invalid_source_data => InvalidSourceData,
    }

    /// Returns the message; that of an error of a Context follows its name:
    /// `InvalidSourceData · a.db is no store`.
    pub fn named_message(&self) -> String {
        match self.code.context_error() {
            Some(name) => format!("{name} · {}", self.message),
            None => self.message.clone(),
        }
    }

    /// Adds a hint: a whole command or sentence.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Sets the key of the thing that the error is about.
    #[must_use]
    pub fn about(mut self, key: impl AsRef<str>) -> Self {
        self.key = Some(key.as_ref().into());
        self
    }

    /// Names the field or parameter that is refused.
    #[must_use]
    pub fn field(mut self, name: impl AsRef<str>) -> Self {
        self.field = Some(name.as_ref().into());
        self
    }

    /// Says what a person has to allow before the action can succeed.
    #[must_use]
    pub fn needs_consent(mut self, request: ConsentRequest) -> Self {
        self.consent = Some(Box::new(request));
        self
    }

    /// Names the numbers that the message shows.
    #[must_use]
    pub fn numbers(mut self, numbers: impl Into<Box<[LineNumbers]>>) -> Self {
        self.numbers = numbers.into();
        self
    }

    /// Says whether the numbers of a stale call, sent again, mean the lines that they number now.
    #[must_use]
    pub fn repeatable(mut self, repeatable: bool) -> Self {
        self.repeatable = Some(repeatable);
        self
    }

    /// Marks a part of the message as a ref that its reader wrote.
    #[must_use]
    pub fn naming(mut self, written_ref: &str) -> Self {
        self.written_ref = Some(written_ref.into());
        self
    }

    /// Sets the position in the code.
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        self.at = Some(SourcePosition { line, column });
        self
    }
}
