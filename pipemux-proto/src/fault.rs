//! Errors that cross a process boundary: a code to act on, a sentence to read, hints to follow.

use serde::{Deserialize, Serialize};

/// What kind of error; fixes the exit status of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The action was carried out and did not succeed.
    Failed,
    /// The call itself is wrong: syntax, name, parameter, type.
    Usage,
    /// There is no such thing.
    NotFound,
    /// Its meaning changed since the reader saw it.
    Stale,
    /// It is there, but folded, scrolled or filtered away, or its window is closed.
    OutOfView,
    /// The app could not be reached; the request was not delivered.
    Unavailable,
    /// The request was with the app when it died or fell silent.
    Unknown,
    /// The other side speaks another version.
    Version,
    /// Refused by a rule or a bound.
    Refused,
    /// A code of a later version.
    #[serde(other)]
    Other,
}

impl Code {
    /// The exit status of the command line for a request in which no step took effect.
    pub fn exit_status(self) -> u8 {
        match self {
            Code::Failed | Code::Other => 1,
            Code::Usage => 2,
            Code::NotFound => 3,
            Code::Stale | Code::OutOfView => 4,
            Code::Unavailable => 6,
            Code::Unknown => 7,
            Code::Version => 8,
            Code::Refused => 9,
        }
    }
}

/// How much is needed to get out of the error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// One way out.
    #[default]
    Hint,
    /// Candidates to choose from.
    Choice,
    /// Several steps.
    Wizard,
}

/// A place in the code of a `run`: both count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct At {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// An error with its way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What kind.
    pub code: Code,
    /// How much is needed to get out.
    #[serde(default)]
    pub level: Level,
    /// What happened, in one sentence; further lines may show the place.
    pub message: String,
    /// Where in the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
    /// What to do next, each a whole command or sentence.
    #[serde(default)]
    pub hints: Vec<String>,
    /// From an app: the key of the thing that is stale, hidden or gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The ref that the message names, as its reader wrote it. Set by the daemon for itself: it is never sent.
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
    /// An error of that code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        let (level, at, hints, key) = (Level::Hint, None, Vec::new(), None);
        Self { code, level, message, at, hints, key, written_ref: None }
    }

    constructors! {
        /// The action was carried out and did not succeed.
        failed => Failed,
        /// The call itself is wrong.
        usage => Usage,
        /// There is no such thing.
        not_found => NotFound,
        /// What was meant has changed.
        stale => Stale,
        /// It is there, but not visible.
        out_of_view => OutOfView,
        /// Not delivered.
        unavailable => Unavailable,
        /// Delivered, but how it ended isn't known.
        unknown => Unknown,
        /// Refused by a rule or a bound.
        refused => Refused,
    }

    /// Adds a way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Names the thing that it is about.
    #[must_use]
    pub fn about(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Marks a part of the message as a ref that its reader wrote.
    #[must_use]
    pub fn naming(mut self, written_ref: &str) -> Self {
        self.written_ref = Some(written_ref.into());
        self
    }

    /// Sets the place in the code.
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        self.at = Some(At { line, column });
        self
    }
}
