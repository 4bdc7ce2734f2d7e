//! Retries a stale step against the current state, if that is safe and the workspace allows it.

use pipemux_proto::report::StepStatus;
use pipemux_proto::{Code, Fault};

use crate::keys::SessionKey;
use crate::runs::phase::Phase;
use crate::runs::protocol::{LookupRequest, RunOutput};
use crate::runs::run::Run;
use crate::scripts::context::RunContext;

impl Run {
    /// Asks for the present window of a session for a step that was refused as stale: the step is
    /// sent again once it is there. Returns the refusal when the step may not be sent again. One
    /// that may have taken effect earlier may not: its own effect may be what made it stale.
    pub(super) fn rebase(
        &mut self,
        session: &SessionKey,
        refusal: Box<Fault>,
        context: &RunContext<'_>,
    ) -> Result<RunOutput, Box<Fault>> {
        let next = self.progress.next;
        let first = !self.attempts.rebased.contains(&next) && !self.attempts.were_sent(next);
        let safe = self.progress.steps[next].prototype.risk.only_looks();
        if !(context.workspace.options.rebase && first && safe && refusal.code == Code::Stale) {
            return Err(refusal);
        }
        let Some(window) = context.workspace.window(session) else {
            return Ok(self.end(StepStatus::Failed, *refusal));
        };
        let (key, project) = window.whole(&self.caller.reader);
        self.phase = Phase::Rebasing { session: session.clone(), refusal };
        Ok(RunOutput::LookUp(LookupRequest::Refresh { session: session.clone(), key, project }))
    }
}
