//! The stages of a course.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// There is no brief.
    #[default]
    Empty,
    /// The coach determines the purpose of an earlier plan.
    Intent,
    /// The user is asked for the purpose of an earlier plan.
    AskIntent,
    /// The roles judge the brief.
    Round(u8),
    /// The user answers the roles' questions.
    Meeting,
    /// The coach extracts the points of agreement.
    Extraction,
    /// The coach sums up after round 1 or 3.
    Synthesis(u8),
    /// The coach writes the plan.
    Plan(u8),
    /// The user decides on the artifact.
    Confirm,
    Accepted,
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
