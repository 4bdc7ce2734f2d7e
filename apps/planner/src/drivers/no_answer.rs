//! The reasons why a driver gave no answer.

/// The reason for a missing answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAnswer {
    /// The reason for the record, which is shared.
    pub reason: String,
    /// What the driver said itself, which may be a secret: it is shown and logged, and stands in no
    /// file of the project.
    pub detail: String,
}

impl From<String> for NoAnswer {
    fn from(reason: String) -> Self {
        Self { reason, detail: String::new() }
    }
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.detail.is_empty() {
            true => f.write_str(&self.reason),
            false => write!(f, "{}: {}", self.reason, self.detail),
        }
    }
}
