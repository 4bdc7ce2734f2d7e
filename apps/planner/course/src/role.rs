//! The roles and speakers of a course.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A role that votes, in the order in which roles speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    ProductPlanner,
    SystemDesigner,
    SeniorDeveloper,
    TestPlanner,
    RiskPlanner,
}

impl Role {
    /// All roles, in the order in which they speak.
    pub const ALL: [Self; 5] = [
        Self::ProductPlanner,
        Self::SystemDesigner,
        Self::SeniorDeveloper,
        Self::TestPlanner,
        Self::RiskPlanner,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ProductPlanner => "ProductPlanner",
            Self::SystemDesigner => "SystemDesigner",
            Self::SeniorDeveloper => "SeniorDeveloper",
            Self::TestPlanner => "TestPlanner",
            Self::RiskPlanner => "RiskPlanner",
        }
    }

    /// Returns the role of that name, in any case, with or without spaces.
    pub fn parse(name: &str) -> Option<Self> {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        Self::ALL.into_iter().find(|role| role.name().eq_ignore_ascii_case(&plain))
    }

    /// Returns what the role looks after: its prompt, unless the user has written another one.
    pub fn task(self) -> &'static str {
        match self {
            Self::ProductPlanner => {
                "You are the product planner. Judge whether the brief says who needs what and why, what is in scope \
                 and what isn't, and how anyone can tell that it is done."
            }
            Self::SystemDesigner => {
                "You are the system designer. Judge whether the brief can be built on what is there: parts, \
                 interfaces, data and its migration, and what would have to change."
            }
            Self::SeniorDeveloper => {
                "You are the senior developer who will write it. Judge whether the steps, their order and their size \
                 are clear enough to begin, and what is left to guess."
            }
            Self::TestPlanner => {
                "You are the test planner. Judge whether each requirement can be tested, with which data, and what \
                 shows that it is accepted."
            }
            Self::RiskPlanner => {
                "You are the risk planner. Judge what can go wrong, how bad that is, who looks after it, and what must \
                 be decided before work begins."
            }
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The coach's prompt, unless the user wrote another one.
pub const COACH_TASK: &str = "You are the agile coach. You lead the discussion, record it and never vote. Be exact and \
                              short, add nothing that nobody said, and keep what was decided apart from what wasn't.";

/// The speaker of a turn, serialized by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Speaker {
    Role(Role),
    Coach,
}

impl Speaker {
    /// All speakers, in the order in which they speak.
    pub const ALL: [Self; 6] = [
        Self::Role(Role::ALL[0]),
        Self::Role(Role::ALL[1]),
        Self::Role(Role::ALL[2]),
        Self::Role(Role::ALL[3]),
        Self::Role(Role::ALL[4]),
        Self::Coach,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Role(role) => role.name(),
            Self::Coach => "Coach",
        }
    }

    /// Returns the speaker of that name.
    pub fn parse(name: &str) -> Option<Self> {
        match name.trim().eq_ignore_ascii_case("coach") {
            true => Some(Self::Coach),
            false => Role::parse(name).map(Self::Role),
        }
    }
}

impl fmt::Display for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Speaker> for &'static str {
    fn from(speaker: Speaker) -> Self {
        speaker.name()
    }
}

impl TryFrom<String> for Speaker {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        Self::parse(&name).ok_or_else(|| format!("nobody is called {name:?}"))
    }
}
