//! How far a course is.

/// How far a course is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// There is no brief.
    #[default]
    Empty,
    /// The coach judges what an earlier plan is for.
    Intent,
    /// The user is asked what it is for.
    AskIntent,
    /// The roles judge the brief.
    Round(u8),
    /// The user answers the roles' questions.
    Meeting,
    /// The coach extracts what was agreed.
    Extraction,
    /// The coach sums up after round 1 or 3.
    Synthesis(u8),
    /// The coach writes the plan.
    Plan(u8),
    /// The user decides on the artifact.
    Confirm,
    /// The artifact is accepted.
    Accepted,
    /// The artifact is discarded.
    Discarded,
}

impl Stage {
    /// Returns its place in a cycle. By rules that know [`signing`](crate::signing) the extraction
    /// comes before the meeting, which is given what it says; by earlier ones behind it.
    pub(crate) fn rank(self, is_signed: bool) -> u8 {
        match self {
            Self::Empty => 0,
            Self::Intent | Self::AskIntent => 1,
            Self::Round(number @ (0..=2)) => 1 + number,
            Self::Meeting => 4 + u8::from(is_signed),
            Self::Extraction => 5 - u8::from(is_signed),
            Self::Round(_) => 6,
            Self::Synthesis(_) => 7,
            Self::Plan(_) => 8,
            Self::Confirm => 9,
            Self::Accepted => 10,
            Self::Discarded => 11,
        }
    }

    /// Returns how the stage is shown.
    pub fn shown(self) -> String {
        match self {
            Self::Empty => "no brief".into(),
            Self::Intent => "intent".into(),
            Self::AskIntent => "intent: you are asked".into(),
            Self::Round(number) => format!("round {number}"),
            Self::Meeting => "clarification meeting".into(),
            Self::Extraction => "extraction".into(),
            Self::Synthesis(_) => "synthesis".into(),
            Self::Plan(_) => "writing the plan".into(),
            Self::Confirm => "your decision".into(),
            Self::Accepted => "accepted".into(),
            Self::Discarded => "discarded".into(),
        }
    }
}
