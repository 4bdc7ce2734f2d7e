//! Takes the replies of apps to what was looked up: for a step of a run, for a click on a hidden
//! link, or for the verbs `read` and `resolve`. A reply means what the request does now.

use pipemux_proto::Fault;

use crate::clients::Clients;
use crate::keys::{ProjectionKey, RequestId, SessionKey};
use crate::processes::Processes;
use crate::processes::reply::AppReply;
use crate::runs::{LookupReply, RunInput};
use crate::turn::Turn;
use crate::verbs::hidden_link::{link_located, link_window_arrived, not_looked_at};
use crate::verbs::next::{Next, RunWork};
use crate::verbs::read::{chunk_read, object_located};
use crate::verbs::require;
use crate::verbs::resolve::{resolved, take_locations};
use crate::verbs::store_window::store_window;
use crate::verbs::tasks::{Task, Tasks};
use crate::workspaces::Workspaces;

/// The requests that look something up, and the apps that they ask.
pub(crate) struct Lookups<'a> {
    pub turn: &'a mut Turn,
    pub tasks: &'a mut Tasks,
    pub clients: &'a Clients,
    pub processes: &'a mut Processes,
}

impl Lookups<'_> {
    /// Takes a window that a run or a click asked for.
    ///
    /// # Errors
    /// The link that was clicked is stale or gone.
    pub(crate) fn window_arrived(
        &mut self,
        workspaces: &mut Workspaces,
        id: RequestId,
        (session, key): (&SessionKey, ProjectionKey),
        reply: AppReply,
    ) -> Result<Next, Fault> {
        if let Some(run) = self.tasks.run(id) {
            let (at, window) = (&run.caller.workspace, (session, key));
            let (turn, processes, ids) = (&mut *self.turn, &*self.processes, run.needs_ids());
            let arrived = store_window(turn, workspaces, processes, at, window, ids, reply);
            return Ok(Next::Run(RunWork::Resume(RunInput::LookedUp(LookupReply::Window(
                arrived,
            )))));
        }
        let is_finding = |task: &Task| matches!(task, Task::Finding(_));
        let Some(Task::Finding(hidden)) = self.tasks.take_if(id, is_finding) else {
            return Ok(Next::Nothing);
        };
        let request = require::request(self.clients, id)?;
        let (at, window) = (&request.workspace, (&hidden.session, key));
        if store_window(self.turn, workspaces, self.processes, at, window, true, reply).is_err() {
            // Without the window nobody knows whether the link is gone.
            return Err(not_looked_at(&hidden.link, &hidden.session));
        }
        let workspace = require::workspace(workspaces, request)?;
        link_window_arrived(self.turn, self.processes, workspace, request, *hidden)
    }

    /// Takes where an object or the things of a link are: for `read`, a click, or a step of a run.
    ///
    /// # Errors
    /// What was looked for isn't there, or is out of view.
    pub(crate) fn located(
        &mut self,
        workspaces: &Workspaces,
        id: RequestId,
        reply: AppReply,
    ) -> Result<Next, Fault> {
        let is_looked_for = |task: &Task| matches!(task, Task::Reading(_) | Task::Finding(_));
        let Some(task) = self.tasks.take_if(id, is_looked_for) else {
            return Ok(Next::Run(RunWork::Resume(RunInput::LookedUp(LookupReply::Location(
                reply,
            )))));
        };
        let request = require::request(self.clients, id)?;
        let workspace = require::workspace(workspaces, request)?;
        match task {
            Task::Reading(read) => {
                object_located(self.turn, self.processes, workspace, request, *read, reply)
            }
            Task::Finding(hidden) => Err(link_located(self.processes, workspace, *hidden, reply)),
            _ => Ok(Next::Nothing),
        }
    }

    /// Takes a part of an object's value: for `read`, or for a step of a run.
    ///
    /// # Errors
    /// The app sent no value, or one that is too long for an answer.
    pub(crate) fn value_read(&mut self, id: RequestId, reply: AppReply) -> Result<Next, Fault> {
        let is_reading = |task: &Task| matches!(task, Task::Reading(_));
        let Some(Task::Reading(read)) = self.tasks.take_if(id, is_reading) else {
            return Ok(Next::Run(RunWork::Resume(RunInput::LookedUp(LookupReply::Value(reply)))));
        };
        let request = require::request(self.clients, id)?;
        chunk_read(self.turn, self.processes, request, *read, reply)
    }

    /// Takes what an app says of the refs and tokens that it was asked about. Answers once all apps
    /// have.
    ///
    /// # Errors
    /// The one call that is to run can't be told.
    pub(crate) fn resolved(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        reply: AppReply,
    ) -> Result<Next, Fault> {
        let Some(Task::Resolving(resolving)) = self.tasks.get_mut(id) else {
            // The request has its answer already.
            return Ok(Next::Nothing);
        };
        take_locations(resolving, self.processes, session, reply);
        if !resolving.asked.is_empty() {
            return Ok(Next::Nothing);
        }
        match self.tasks.remove(id) {
            Some(Task::Resolving(done)) => {
                resolved(&require::request(self.clients, id)?.call, *done)
            }
            _ => Ok(Next::Nothing),
        }
    }
}
