//! The questions and kept steps of readers, beside what they are told with. The verbs `run` and
//! `answer` work on it: `run_questions` asks, `answer` and `answer_form` answer, `kept_rests` keeps
//! what failed runs left.

use pipemux_proto::Fault;

use crate::clients::Clients;
use crate::clients::client_request::ClientRequest;
use crate::feed::Feed;
use crate::keys::RequestId;
use crate::runs::open_runs::OpenRuns;
use crate::turn::Turn;
use crate::verbs::next::{Next, Work};
use crate::verbs::require;
use crate::views::requested_window::AnswerKind;
use crate::workspaces::{Workspace, Workspaces};

/// The questions and kept steps of readers, and what tells of them.
pub(crate) struct Questions<'a> {
    pub turn: &'a mut Turn,
    pub clients: &'a mut Clients,
    pub workspaces: &'a mut Workspaces,
    pub runs: &'a mut OpenRuns,
    pub feed: &'a mut Feed,
}

impl Questions<'_> {
    /// Returns a request and its workspace.
    ///
    /// # Errors
    /// The request has its answer already, or its workspace made room for another one.
    pub(super) fn request(&self, id: RequestId) -> Result<(&ClientRequest, &Workspace), Fault> {
        let request = require::request(self.clients, id)?;
        Ok((request, require::workspace(self.workspaces, request)?))
    }

    /// Returns the numbers of the questions that the reader of a request has open.
    pub(super) fn open(&self, request: &ClientRequest) -> Vec<u64> {
        let open = self.runs.questions_of(&request.workspace, &request.call.reader);
        open.map(|(number, _)| number).collect()
    }
}

/// Shows questions; with a `refusal`, as the reason for that.
pub(super) fn show_questions(numbers: Vec<u64>, refusal: Option<Fault>) -> Next {
    // The question itself says how it is answered.
    let refusal = refusal.map(|fault| {
        let hints = fault.hints.iter().filter(|hint| !hint.starts_with("pipemux answer "));
        let hints = hints.cloned().collect();
        Box::new(Fault { hints, ..fault })
    });
    Next::Work(Work::Show(Vec::new(), AnswerKind::Questions { numbers, refusal, waiting: 0 }))
}
