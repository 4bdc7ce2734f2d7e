//! Corrected calls: they go on with an earlier run, under its id.

use std::collections::BTreeSet;

use pipemux_proto::client::Verb;

use crate::requests::Request;
use crate::sessions::{READERS, SessionKey};
use crate::sim::Sim;

impl Sim {
    /// True for an answer that is a call.
    pub fn corrects(&self, index: usize) -> bool {
        let request = &self.requests[index];
        matches!(request.call.verb, Verb::Answer { .. }) && !request.marks.is_empty()
    }

    /// Returns the requests whose steps the run of a request may hold.
    pub fn may_hold(&self, index: usize) -> BTreeSet<usize> {
        let (request, who) = (&self.requests[index], self.requests[index].who);
        match &request.call.verb {
            Verb::Run { .. } | Verb::Undo { .. } => [index].into(),
            // The steps behind a corrected call may be those of any earlier run.
            _ if self.corrects(index) => {
                let own = |at: &usize| self.requests[*at].who == who;
                (0..=index).filter(own).collect()
            }
            _ => self.runs.kept.goes_on(who, &request.call.run_id),
        }
    }

    /// True for a safe step where `rebase` is on: once its app has refused it as stale, it is sent
    /// once more.
    pub fn may_be_rebased(&self, mark: u64) -> bool {
        self.runs.marks.get(&mark).is_some_and(|of| {
            of.safe && self.runs.rebasing.contains(&READERS[self.requests[of.request].who].0)
        })
    }

    /// True when a step of a request is sent again by a `go` with this run id. Steps that correct
    /// what a `go` left carry its id, too.
    pub fn is_sent_by_go(&self, index: usize, run_id: &str) -> bool {
        let of_go = |request: &Request| request.call.run_id == run_id;
        let goes = self.runs.kept.goes.contains_key(run_id);
        goes && self.requests.iter().rposition(of_go).is_some_and(|go| go > index)
    }

    /// True for a repeated request whose run may have gone on with a corrected call: the answer may
    /// be the one that was recorded before that.
    pub fn is_outdated(&self, index: usize) -> bool {
        let request = &self.requests[index];
        let answers = matches!(request.call.verb, Verb::Answer { .. });
        let went_on = || self.runs.kept.corrected.contains_key(&request.call.run_id);
        request.repeats.is_some() && (answers || went_on())
    }

    /// True when a run went on with a corrected call that was sent to a session.
    pub fn was_corrected_in(&self, run_id: &str, session_key: SessionKey) -> bool {
        self.runs.kept.corrected.get(run_id).is_some_and(|of| of.contains(&session_key))
    }
}
