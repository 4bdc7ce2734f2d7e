//! A job that a step began.

use pipemux_proto::job::JobState;

use crate::foreign::ForeignText;

/// A job that a step started, in its state when the run resumes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepJob {
    pub number: u64,
    /// The name under which readers know the job.
    pub name: String,
    /// The state of the job. Its end is reported with the step.
    pub state: JobState,
    /// The state in words.
    pub words: String,
    /// The newest output, once the run has waited for the end of the job.
    pub output: ForeignText,
    /// True if there is other output than that.
    pub has_more_output: bool,
    /// True if the run has waited for its end.
    pub waited: bool,
}
