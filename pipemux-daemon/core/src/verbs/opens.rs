//! Opens an app, from the `open` to its window: by starting its session, or by a further request to
//! it.

use pipemux_proto::client::{OpenArgs, ViewArgs};
use pipemux_proto::envelope::Method;
use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, ProviderId};

use crate::answers::window_requests::WindowRequests;
use crate::clients::Clients;
use crate::clients::client_request::ClientRequest;
use crate::feed::{Audience, Feed};
use crate::foreign::ForeignText;
use crate::keys::{RequestId, SessionKey};
use crate::persist::records::SavedOpen;
use crate::pipeline::grants::grant_for_open;
use crate::processes::Processes;
use crate::processes::opening::open_message;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::starting::wake;
use crate::providers::Providers;
use crate::rules::Rules;
use crate::turn::Turn;
use crate::verbs::next::{Next, RunWork, SessionStart, Work};
use crate::verbs::open::{
    OpenStep, add_window, begin_open, session_to_open, set_options, take_opened,
};
use crate::verbs::require;
use crate::verbs::tasks::{AfterOpen, Opening, Task, Tasks};
use crate::views::requested_window::{AnswerKind, WantedWindow};
use crate::workspaces::Workspaces;

/// What apps are opened with.
pub(crate) struct Opens<'a> {
    pub turn: &'a mut Turn,
    pub clients: &'a Clients,
    pub tasks: &'a mut Tasks,
    pub workspaces: &'a mut Workspaces,
    pub processes: &'a mut Processes,
    pub feed: &'a mut Feed,
}

impl Opens<'_> {
    /// Opens a registered app.
    ///
    /// # Errors
    /// There is no app of that name, or no room for another window or session.
    pub(crate) fn open(
        &mut self,
        (rules, providers): (&Rules, &Providers),
        id: RequestId,
        open: OpenArgs,
        then: AfterOpen,
    ) -> Result<Next, Fault> {
        let request = require::request(self.clients, id)?;
        let (processes, workspaces) = (&*self.processes, &*self.workspaces);
        let (key, manifest) =
            session_to_open(rules, providers, processes, workspaces, request, &open)?;
        let step = begin_open(self.processes, id, &key, manifest, &open)?;
        if matches!(step, OpenStep::AwaitEnd) {
            return Ok(Next::Wait(Task::Reopening(Box::new(open))));
        }
        let shows = matches!(then, AfterOpen::Show);
        let opening = Opening { session: key.clone(), args: open, then };
        self.tasks.set(id, Task::Opening(Box::new(opening)));
        match step {
            OpenStep::AwaitEnd => Ok(Next::Nothing),
            OpenStep::Start => self.start(id, &key, shows),
            OpenStep::Attach(notes) => self.finish(id, notes),
            OpenStep::Ask(saved) => self.ask(id, &key, saved),
        }
    }

    /// Starts a session that opens something, and requests its window if that is shown then.
    fn start(&mut self, id: RequestId, key: &SessionKey, shows: bool) -> Result<Next, Fault> {
        if let Err(fault) = wake(self.turn, self.processes, key) {
            if let Some(session) = self.processes.get_mut(key) {
                session.opens.cancel_request(id);
            }
            return Err(fault);
        }
        let request = require::request(self.clients, id)?;
        if shows && let Some(workspace) = self.workspaces.get_mut(&request.workspace) {
            let (turn, processes) = (&mut *self.turn, &mut *self.processes);
            let prefetches = &mut self.tasks.prefetches;
            let mut requests = WindowRequests { request, workspace, prefetches, processes, turn };
            requests.prefetch_for_open(key);
        }
        Ok(Next::Nothing)
    }

    /// Asks a running session to open something, once it reaches the folders that are named.
    fn ask(&mut self, id: RequestId, key: &SessionKey, saved: SavedOpen) -> Result<Next, Fault> {
        let deadline = require::request(self.clients, id)?.deadline;
        let parts = (self.clients, &mut *self.processes);
        if grant_for_open(self.turn, parts, id, key, &saved)? {
            if let Some(Task::Opening(opening)) = self.tasks.remove(id) {
                self.tasks.set(id, Task::Widening(Box::new(opening.args)));
            }
            return Ok(Next::Nothing);
        }
        let message = open_message(self.processes, key, saved, true, false);
        let to = ReplyTo::Attach(id);
        self.processes.request(self.turn, key, Method::AppOpen, &message, deadline, to);
        Ok(Next::Nothing)
    }

    /// Handles a running session's reply to a further open.
    pub(crate) fn take_reply(&mut self, id: RequestId, reply: AppReply) -> Result<Next, Fault> {
        let Some(Task::Opening(opening)) = self.tasks.get(id) else { return Ok(Next::Nothing) };
        let notes = take_opened(self.turn, self.processes, opening, reply)?;
        self.finish(id, notes)
    }

    /// Adds the window of a session that has opened, and shows it or goes on with the run that
    /// needed it.
    pub(crate) fn finish(&mut self, id: RequestId, notes: Vec<ForeignText>) -> Result<Next, Fault> {
        let is_opening = |task: &Task| matches!(task, Task::Opening(_));
        let Some(Task::Opening(opening)) = self.tasks.take_if(id, is_opening) else {
            return Ok(Next::Nothing);
        };
        let Opening { session: key, args, then } = *opening;
        if let Some(session) = self.processes.get_mut(&key) {
            session.opens.cancel_request(id);
        }
        let shows = matches!(then, AfterOpen::Show);
        let number = self.tasks.prefetches.window_number(id, &key);
        let request = require::request(self.clients, id)?;
        let workspace = require::workspace_mut(self.workspaces, request)?;
        let (at, reader) = (request.workspace.clone(), request.call.reader.clone());
        let number = number.unwrap_or_else(|| self.turn.next_number());
        let fresh = add_window(self.processes, workspace, &reader, number, &key);
        if let Some(window) = workspace.window_mut(&key).filter(|_| shows) {
            set_options(window, request, &args);
        }
        if fresh {
            let audience = Audience::Workspace(at.clone(), Some(key.clone()));
            let text = format!("{key} was opened");
            self.feed.publish(self.turn.now, EventKind::Opened, audience, Some(&reader), &text);
        }
        if let Some(session) = self.processes.get_mut(&key) {
            session.save(self.turn);
        }
        let workspace = self.workspaces.get(&at);
        if let Some(window) = workspace.and_then(|workspace| workspace.window(&key)) {
            self.turn.persist(window.to_record(&at));
        }
        Ok(match then {
            AfterOpen::Show => {
                let wanted = WantedWindow { session: key, lod: None, budget: None };
                Next::Work(Work::Show(vec![wanted], AnswerKind::Open { notes }))
            }
            AfterOpen::Script(script) => Next::Run(RunWork::Script(script, SessionStart::Allowed)),
            // The window is open now, so that it isn't opened again.
            AfterOpen::View(view) => {
                Next::Work(Work::View(Box::new(ViewArgs { open: false, ..*view })))
            }
        })
    }
}

/// Returns the arguments to open an app, with nothing in it, in the caller's directory and
/// environment, for a script or view that needs it.
pub(crate) fn args_for(request: &ClientRequest, provider: ProviderId) -> OpenArgs {
    let (cwd, env) = (request.call.cwd.clone(), request.call.env.clone());
    let (session, args) = (None, Vec::new());
    let (pin, priority, weight) = (None, None, None);
    OpenArgs { provider, session, args, cwd, env, pin, priority, weight }
}
