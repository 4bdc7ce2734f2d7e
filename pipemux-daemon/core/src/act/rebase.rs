//! Taking a changed thing as it is now: for safe actions, where the workspace asks for it.

use std::rc::Rc;

use pipemux_proto::envelope::Method;
use pipemux_proto::prototype::Risk;
use pipemux_proto::report::Status;
use pipemux_proto::{Code, Fault};

use super::{Acting, Lookup, Step};
use crate::Core;
use crate::deliver::rewrite;
use crate::keys::{JobId, SessionKey};
use crate::requests::{Answered, Look, Purpose};
use crate::sent::Sent;

impl Core {
    /// True when a stale step may be sent once more against the present state. One that may have taken effect
    /// before may not: that may be what made it stale.
    pub(crate) fn may_rebase(&self, acting: &Acting, step: &Step, fault: &Fault) -> bool {
        let asked = self.workspaces.get(&acting.workspace).is_some_and(|w| w.options.rebase);
        let again = acting.rebased.iter().any(|(index, _)| *index == acting.next);
        let fresh = !again && !acting.was_sent();
        asked && fresh && fault.code == Code::Stale && step.prototype.risk == Risk::Safe
    }

    /// Looks at the session's window anew, then sends the step again.
    pub(crate) fn rebase(
        &mut self,
        job: JobId,
        mut acting: Acting,
        session: &SessionKey,
        fault: Fault,
        deadline: u64,
    ) {
        let window = self.workspaces.get(&acting.workspace).and_then(|w| w.window(session));
        let Some(window) = window else {
            acting.fail(Status::Failed, fault);
            return self.acted(job, acting);
        };
        let (look, ask) = window.whole();
        acting.rebased.push((acting.next, fault));
        self.put_acting(job, acting);
        let purpose = Purpose::Refresh(job, look);
        self.request(session, Method::Project, &ask, deadline, purpose);
    }

    /// The window came, or didn't.
    pub(crate) fn refresh_answered(
        &mut self,
        job: JobId,
        session: &SessionKey,
        look: Look,
        answered: Answered,
    ) {
        let Some((mut acting, _)) = self.take_acting(job) else { return };
        if let Some(Lookup::Window { session }) = acting.looked_up.asking.take() {
            return self.names_answered(job, acting, session, look, answered);
        }
        let now = self.now;
        let live = self.sessions.get(session);
        let app = live.and_then(|live| live.app());
        let projection = match answered {
            Answered::Reply(body) => Sent::read(&body).ok(),
            Answered::Fault(_) | Answered::Lost { .. } => None,
        };
        let workspace = self.workspaces.get_mut(&acting.workspace);
        let (Some(projection), Some(app), Some(live), Some(workspace)) =
            (projection, app, live, workspace)
        else {
            if let Some((_, fault)) = acting.rebased.pop() {
                acting.fail(Status::Failed, fault);
            }
            return self.acted(job, acting);
        };
        let projection = Rc::new(projection);
        let version = projection.version;
        if let Some(window) = workspace.window_mut(session) {
            window.hold(look, app, projection);
        }
        let ids = rewrite(workspace, session, live, now);
        let epoch = workspace.epoch;
        // For this step only: later ones mean what the reader saw.
        acting.aside.get_or_insert_with(|| (acting.seen.clone(), acting.known.clone()));
        Rc::make_mut(&mut acting.known).extend(ids.into_iter().map(|id| (id, epoch)));
        acting.seen.insert(session.clone(), (app, version));
        let at = acting.workspace.clone();
        self.reserve(&at);
        self.put_acting(job, acting);
        self.advance(job);
    }
}
