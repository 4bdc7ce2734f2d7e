//! Requests that were with an app when it died: suspected, kept back, or sent once more.

use pipemux_proto::Fault;
use pipemux_proto::envelope::Method;
use pipemux_proto::report::Status;

use crate::Core;
use crate::keys::RequestId;
use crate::processes::reply::ReplyTo;
use crate::runs::Run;

impl Core {
    /// Sends a request whose app died with it to the next process. Only for actions that are declared
    /// idempotent: twice is as good as once.
    pub(super) fn send_again(&mut self, job: RequestId, mut run: Run) {
        let deadline = self.clients.request(job).map(|job| job.deadline);
        let (Some(mut invoke), Some(deadline)) = (run.sent.clone(), deadline) else { return };
        let session = run.steps[run.next].session.clone();
        // The process that showed the reader its version is gone.
        (invoke.seen_version, invoke.seen_lost) = match run.seen.get(&session) {
            Some(_) => (0, true),
            None => (0, invoke.seen_lost),
        };
        if let Some(fault) = self.processes.quarantine_refusal(&session, &invoke) {
            let fault =
                Fault::unknown(format!("{}; before that it may have taken effect", fault.message));
            run.fail(Status::Unknown, fault);
            return self.finish_run(job, run);
        }
        run.sent = Some(invoke.clone());
        self.put_run(job, run);
        self.processes.request(
            &mut self.turn,
            &session,
            Method::Invoke,
            &invoke,
            deadline,
            ReplyTo::Invoke(job),
        );
    }
}
