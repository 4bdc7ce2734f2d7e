//! A job that a step began.

use pipemux_proto::job::JobState;

use crate::foreign::ForeignText;

/// A job that a step began, as it is when the run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepJob {
    /// Its number.
    pub number: u64,
    /// The name by which readers know it.
    pub name: String,
    /// Whether it runs, or how it ended. Its end is told with the step.
    pub state: JobState,
    /// Its state in words.
    pub words: String,
    /// Its newest output, once the run has waited for its end.
    pub output: ForeignText,
    /// True if there is other output than that.
    pub has_more_output: bool,
    /// True if the run has waited for its end.
    pub waited: bool,
}
