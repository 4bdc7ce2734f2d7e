//! Why a course refuses something.

/// Why an entry was not taken. Nothing changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// The call that is right now, without the app's name; empty if there is none.
    pub hint: String,
}

impl Refusal {
    /// Makes one.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}
