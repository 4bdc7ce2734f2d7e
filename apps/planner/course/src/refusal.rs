//! The reasons for which a course refuses something.

/// The reason why an entry was rejected. The course is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub message: String,
    /// The call to make instead, without the app's name; empty if there is none.
    pub hint: String,
}

impl Refusal {
    /// Makes one.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}
