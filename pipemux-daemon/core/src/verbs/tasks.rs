//! What clients' requests wait for.

use std::collections::{BTreeSet, HashMap};

use crate::keys::{RequestId, SessionKey};
use crate::runs::Run;
use crate::verbs::logs::LogRead;
use crate::verbs::prefetch::Prefetch;
use crate::verbs::providers::AfterLoading;
use crate::verbs::read::ValueRead;
use crate::verbs::show::PendingView;
use crate::verbs::wait::{Wait, WaitLimits};

/// What a client's request waits for.
#[derive(Debug)]
pub(crate) enum Task {
    /// An app that is being opened.
    Opening(SessionKey),
    /// Prototypes of sessions that are being started, before a run can be checked.
    Preparing(Vec<SessionKey>),
    /// A run.
    Running(Box<Run>),
    /// Windows that are being projected.
    Viewing(Box<PendingView>),
    /// A thing's value.
    Reading(Box<ValueRead>),
    /// A log that is being read.
    Log(LogRead),
    /// Manifests that are being read.
    Loading(AfterLoading),
    /// Something to happen.
    Waiting(Box<Wait>, WaitLimits),
    /// A session that is being restarted.
    Restarting(SessionKey),
    /// A session that ends.
    Ending(SessionKey),
    /// The daemon's end.
    Stopping,
}

/// The tasks of all requests that wait for something. A task that is being worked on is taken out: its owner puts
/// it back or answers the request.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    by_request: HashMap<RequestId, Task>,
    /// Requests with a [`Task::Waiting`].
    pub(crate) waits: BTreeSet<RequestId>,
    /// Windows that runs asked for before they ended.
    pub(crate) prefetches: HashMap<RequestId, Prefetch>,
}

impl Tasks {
    /// A request waits for this from now on.
    pub(crate) fn set(&mut self, request: RequestId, task: Task) {
        self.by_request.insert(request, task);
    }

    /// What a request waits for.
    pub(crate) fn get(&self, request: RequestId) -> Option<&Task> {
        self.by_request.get(&request)
    }

    /// What a request waits for, to change.
    pub(crate) fn get_mut(&mut self, request: RequestId) -> Option<&mut Task> {
        self.by_request.get_mut(&request)
    }

    /// A request waits for nothing any more, or its task is to be worked on.
    pub(crate) fn remove(&mut self, request: RequestId) -> Option<Task> {
        self.by_request.remove(&request)
    }

    /// Takes a request's task out if it is one of that kind.
    pub(crate) fn take_if(
        &mut self,
        request: RequestId,
        wanted: impl Fn(&Task) -> bool,
    ) -> Option<Task> {
        wanted(self.by_request.get(&request)?).then(|| self.by_request.remove(&request))?
    }

    /// All tasks, to change.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&RequestId, &mut Task)> {
        self.by_request.iter_mut()
    }

    /// The requests whose task is one of that kind, oldest first.
    pub(crate) fn waiting_for(&self, wanted: impl Fn(&Task) -> bool) -> Vec<RequestId> {
        let found = self.by_request.iter().filter(|(_, task)| wanted(task));
        let mut found: Vec<RequestId> = found.map(|(id, _)| *id).collect();
        found.sort_unstable();
        found
    }
}
