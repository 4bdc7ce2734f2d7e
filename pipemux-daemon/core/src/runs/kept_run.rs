//! A run that its reader can send again with `answer go`.

use std::ops::Range;

use crate::keys::RunId;
use crate::runs::baseline::SeenBaseline;
use crate::runs::run::Run;
use crate::runs::suspended::Suspended;
use crate::workspaces::Workspace;

/// A run that ended with a step which was refused as stale, or whose outcome isn't known.
#[derive(Debug, Clone)]
pub struct KeptRun {
    /// The run, suspended before the step that ended it.
    pub suspended: Suspended,
    /// The steps whose line numbers refer to what the refusal showed.
    pub(super) shown_again: Option<Range<usize>>,
    /// The number under which the steps after the failed one were kept as well.
    pub kept_steps: Option<u64>,
}

impl KeptRun {
    /// Returns the run, to be sent again as the one with an id. Its steps mean what its reader has
    /// seen by now.
    pub fn send_again(self, run_id: RunId, workspace: &Workspace) -> Run {
        let mut run = self.suspended.into_run();
        run.caller.run_id = run_id;
        let steps = &run.progress.steps;
        let fresh = SeenBaseline::of_steps(steps, workspace, &run.caller.reader, None);
        run.own_changes.expect(&fresh.versions);
        match self.shown_again {
            Some(shown) => run.baseline.renew_shown(fresh, shown),
            None => run.baseline.renew(fresh),
        }
        run
    }
}
