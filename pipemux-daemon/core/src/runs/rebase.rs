//! Taking a changed thing as it is now: for safe actions, where the workspace asks for it.

use std::rc::Rc;

use pipemux_proto::envelope::Method;
use pipemux_proto::prototype::Risk;
use pipemux_proto::report::Status;
use pipemux_proto::{Code, Fault};

use crate::Core;
use crate::keys::{ProjectionKey, RequestId, SessionKey};
use crate::processes::reply::{AppReply, ReplyTo};
use crate::runs::{Lookup, Run, Step};
use crate::verbs::deliver::rewrite;
use crate::workspaces::raw_projection::RawProjection;

impl Core {
    /// True when a stale step may be sent once more against the present state. One that may have taken effect
    /// before may not: that may be what made it stale.
    pub(crate) fn may_rebase(&self, run: &Run, step: &Step, fault: &Fault) -> bool {
        let asked = self.workspaces.get(&run.workspace).is_some_and(|w| w.options.rebase);
        let again = run.rebased.iter().any(|(index, _)| *index == run.next);
        let fresh = !again && !run.was_sent();
        asked && fresh && fault.code == Code::Stale && step.prototype.risk == Risk::Safe
    }

    /// Looks at the session's window anew, then sends the step again.
    pub(crate) fn rebase(
        &mut self,
        job: RequestId,
        mut run: Run,
        session: &SessionKey,
        fault: Fault,
        deadline: u64,
    ) {
        let window = self.workspaces.get(&run.workspace).and_then(|w| w.window(session));
        let Some(window) = window else {
            run.fail(Status::Failed, fault);
            return self.finish_run(job, run);
        };
        let (look, ask) = window.whole();
        run.rebased.push((run.next, fault));
        self.put_run(job, run);
        let purpose = ReplyTo::Refresh(job, look);
        self.processes.request(&mut self.turn, session, Method::Project, &ask, deadline, purpose);
    }

    /// The window came, or didn't.
    pub(crate) fn refresh_answered(
        &mut self,
        job: RequestId,
        session: &SessionKey,
        look: ProjectionKey,
        answered: AppReply,
    ) {
        let Some((mut run, _)) = self.take_run(job) else { return };
        if let Some(Lookup::Window { session }) = run.looked_up.asking.take() {
            return self.names_answered(job, run, session, look, answered);
        }
        let now = self.turn.now;
        let live = self.processes.get(session);
        let app = live.and_then(|live| live.app());
        let projection = match answered {
            AppReply::Reply(body) => RawProjection::read(&body).ok(),
            AppReply::Fault(_) | AppReply::Lost { .. } => None,
        };
        let workspace = self.workspaces.get_mut(&run.workspace);
        let (Some(projection), Some(app), Some(live), Some(workspace)) =
            (projection, app, live, workspace)
        else {
            if let Some((_, fault)) = run.rebased.pop() {
                run.fail(Status::Failed, fault);
            }
            return self.finish_run(job, run);
        };
        let projection = Rc::new(projection);
        let version = projection.version;
        if let Some(window) = workspace.window_mut(session) {
            window.hold(look, app, projection);
        }
        let ids = rewrite(workspace, session, live, now);
        let epoch = workspace.epoch;
        // For this step only: later ones mean what the reader saw.
        run.saved_baseline.get_or_insert_with(|| (run.seen.clone(), run.known.clone()));
        Rc::make_mut(&mut run.known).extend(ids.into_iter().map(|id| (id, epoch)));
        run.seen.insert(session.clone(), (app, version));
        let at = run.workspace.clone();
        self.reserve(&at);
        self.put_run(job, run);
        self.advance(job);
    }
}
