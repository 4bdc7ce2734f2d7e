//! Sending a stale step to what is there now: for safe actions, where the workspace asks for it.

use std::mem;
use std::rc::Rc;

use pipemux_proto::report::StepStatus;
use pipemux_proto::{Code, Fault};

use crate::keys::SessionKey;
use crate::runs::context::RunContext;
use crate::runs::phase::{Lookup, Phase};
use crate::runs::protocol::{ArrivedWindow, RunOutput};
use crate::runs::run::Run;

impl Run {
    /// True when the next step may be sent again against the present state. A step that may have taken effect
    /// earlier may not: its own effect may be what made it stale.
    pub(super) fn may_rebase(&self, context: &RunContext<'_>, fault: &Fault) -> bool {
        let first = !self.rebased.contains(&self.next) && !self.was_sent();
        let safe = self.steps[self.next].prototype.risk.only_looks();
        context.workspace.options.rebase && first && safe && fault.code == Code::Stale
    }

    /// Asks for the present window of a session; the step is sent again once it is there.
    pub(super) fn rebase(
        &mut self,
        session: SessionKey,
        refusal: Box<Fault>,
        context: &RunContext<'_>,
    ) -> RunOutput {
        let Some(window) = context.workspace.window(&session) else {
            return self.end(StepStatus::Failed, *refusal);
        };
        let (key, project) = window.whole(&self.reader);
        self.phase = Phase::Rebasing { session: session.clone(), refusal };
        RunOutput::Refresh { session, key, project }
    }

    /// The window came, or didn't, for a step that is rebased or for what names stand for now.
    pub(super) fn window_arrived(
        &mut self,
        arrived: Result<ArrivedWindow, Fault>,
        context: &RunContext<'_>,
    ) -> RunOutput {
        match (mem::take(&mut self.phase), arrived) {
            (Phase::LookingUp(Lookup::Window { session }), Ok(_)) => {
                self.looked_up.windows.push(session);
                self.advance(context)
            }
            (Phase::LookingUp(Lookup::Window { .. }), Err(fault)) => {
                self.end(StepStatus::Failed, fault)
            }
            (Phase::Rebasing { session, .. }, Ok(window)) => {
                self.take_window_as_seen(session, window);
                self.advance(context)
            }
            (Phase::Rebasing { refusal, .. }, Err(_)) => self.end(StepStatus::Failed, *refusal),
            (Phase::Ready | Phase::LookingUp(_) | Phase::Invoking(_), _) => self.lost(),
        }
    }

    /// Makes the next step mean what a window shows now. Later steps mean what the reader saw.
    fn take_window_as_seen(&mut self, session: SessionKey, window: ArrivedWindow) {
        self.rebased.push(self.next);
        if self.saved_baseline.is_none() {
            self.saved_baseline = Some(self.baseline());
        }
        let ids = window.ids.into_iter().map(|id| (id, window.epoch));
        Rc::make_mut(&mut self.refs.known).extend(ids);
        self.lines.remove(&session);
        self.seen.insert(session, (window.app, window.version));
    }
}
