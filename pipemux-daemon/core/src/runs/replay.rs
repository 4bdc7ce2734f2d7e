//! Requests that were with an app when it died: suspected, kept back, or sent once more.

use pipemux_proto::Fault;
use pipemux_proto::app::Invoke;
use pipemux_proto::envelope::Method;
use pipemux_proto::report::Status;

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::processes::quarantine::Fingerprint;
use crate::processes::requests::{AppReply, Purpose};
use crate::runs::Run;

impl Core {
    /// Why a request isn't delivered: it ended its app again and again.
    pub(super) fn quarantine(&self, key: &SessionKey, invoke: &Invoke) -> Option<Fault> {
        let suspects = &self.sessions.get(key)?.quarantine;
        if suspects.quarantined() == 0 {
            return None;
        }
        suspects.refusal(Fingerprint::of(invoke), key, &invoke.action)
    }

    /// Remembers what an app died with; what it answered is no longer suspected.
    pub(super) fn suspect(&mut self, key: &SessionKey, sent: Option<&Invoke>, answered: &AppReply) {
        let session = self.sessions.get_mut(key);
        let (Some(session), Some(invoke)) = (session, sent) else { return };
        match answered {
            AppReply::Lost { died: true, why, .. } => {
                session.quarantine.blame(Fingerprint::of(invoke), why);
            }
            AppReply::Lost { .. } => {}
            AppReply::Reply(_) | AppReply::Fault(_) if session.quarantine.is_empty() => {}
            AppReply::Reply(_) | AppReply::Fault(_) => {
                session.quarantine.clear(Fingerprint::of(invoke));
            }
        }
    }

    /// Sends a request whose app died with it to the next process. Only for actions that are declared
    /// idempotent: twice is as good as once.
    pub(super) fn send_again(&mut self, job: RequestId, mut run: Run) {
        let deadline = self.requests.get(&job).map(|job| job.deadline);
        let (Some(mut invoke), Some(deadline)) = (run.sent.clone(), deadline) else { return };
        let session = run.steps[run.next].session.clone();
        // The process that showed the reader its version is gone.
        (invoke.seen_version, invoke.seen_lost) = match run.seen.get(&session) {
            Some(_) => (0, true),
            None => (0, invoke.seen_lost),
        };
        if let Some(fault) = self.quarantine(&session, &invoke) {
            let fault =
                Fault::unknown(format!("{}; before that it may have taken effect", fault.message));
            run.fail(Status::Unknown, fault);
            return self.finish_run(job, run);
        }
        run.sent = Some(invoke.clone());
        self.put_run(job, run);
        self.request(&session, Method::Invoke, &invoke, deadline, Purpose::Invoke(job));
    }
}
