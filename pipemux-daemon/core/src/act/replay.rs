//! Requests that were with an app when it died: suspected, kept back, or sent once more.

use pipemux_proto::Fault;
use pipemux_proto::app::Invoke;
use pipemux_proto::envelope::Method;
use pipemux_proto::report::Status;

use super::Acting;
use crate::Core;
use crate::keys::{JobId, SessionKey};
use crate::requests::{Answered, Purpose};
use crate::suspects::Fingerprint;

impl Core {
    /// Why a request isn't delivered: it ended its app again and again.
    pub(super) fn quarantine(&self, key: &SessionKey, invoke: &Invoke) -> Option<Fault> {
        let suspects = &self.sessions.get(key)?.suspects;
        if suspects.quarantined() == 0 {
            return None;
        }
        suspects.refusal(Fingerprint::of(invoke), key, &invoke.action)
    }

    /// Remembers what an app died with; what it answered is no longer suspected.
    pub(super) fn suspect(&mut self, key: &SessionKey, sent: Option<&Invoke>, answered: &Answered) {
        let session = self.sessions.get_mut(key);
        let (Some(session), Some(invoke)) = (session, sent) else { return };
        match answered {
            Answered::Lost { died: true, why, .. } => {
                session.suspects.blame(Fingerprint::of(invoke), why);
            }
            Answered::Lost { .. } => {}
            Answered::Reply(_) | Answered::Fault(_) if session.suspects.is_empty() => {}
            Answered::Reply(_) | Answered::Fault(_) => {
                session.suspects.clear(Fingerprint::of(invoke));
            }
        }
    }

    /// Sends a request whose app died with it to the next process. Only for actions that are declared
    /// idempotent: twice is as good as once.
    pub(super) fn send_again(&mut self, job: JobId, mut acting: Acting) {
        let deadline = self.jobs.get(&job).map(|job| job.deadline);
        let (Some(mut invoke), Some(deadline)) = (acting.sent.clone(), deadline) else { return };
        let session = acting.steps[acting.next].session.clone();
        // The process that showed the reader its version is gone.
        (invoke.seen_version, invoke.seen_lost) = match acting.seen.get(&session) {
            Some(_) => (0, true),
            None => (0, invoke.seen_lost),
        };
        if let Some(fault) = self.quarantine(&session, &invoke) {
            let fault =
                Fault::unknown(format!("{}; before that it may have taken effect", fault.message));
            acting.fail(Status::Unknown, fault);
            return self.acted(job, acting);
        }
        acting.sent = Some(invoke.clone());
        self.put_acting(job, acting);
        self.request(&session, Method::Invoke, &invoke, deadline, Purpose::Invoke(job));
    }
}
