//! Verbs that end things: `close`, `end`, `restart`.

use pipemux_proto::command::with_options;
use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, SessionAddr, Value};

use crate::clients::Clients;
use crate::clients::client_request::ClientRequest;
use crate::event::Effect;
use crate::feed::{Audience, Feed};
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::manifest::State;
use crate::persist::records::Record;
use crate::processes::Processes;
use crate::processes::draining::{cancel_backoff, close, close_for_restart};
use crate::processes::requests::refuse_waiting;
use crate::processes::starting::wake;
use crate::providers::Providers;
use crate::runs::open_runs::OpenRuns;
use crate::turn::Turn;
use crate::verbs::find_session::find_session;
use crate::verbs::next::{Next, Work};
use crate::verbs::require;
use crate::verbs::tasks::{AfterOpen, Task, Tasks};
use crate::workspaces::Workspaces;

/// What a window that is closed is taken out of.
pub(crate) struct WindowCloser<'a> {
    pub turn: &'a mut Turn,
    pub workspaces: &'a mut Workspaces,
    /// The questions that a window's session asks.
    pub runs: &'a mut OpenRuns,
    pub feed: &'a mut Feed,
    /// The answers that have the window already and wait for others.
    pub tasks: &'a mut Tasks,
    pub clients: &'a Clients,
}

impl WindowCloser<'_> {
    /// Closes a window of the request's workspace.
    ///
    /// # Errors
    /// There is no such window.
    pub(crate) fn close(
        &mut self,
        request: &ClientRequest,
        addr: &SessionAddr,
    ) -> Result<Next, Fault> {
        let workspace = require::workspace(self.workspaces, request)?;
        let Some(window) = workspace.windows.named(addr).next() else {
            return Err(
                Fault::not_found(format!("no window of {addr} is open here")).hint("pipemux view")
            );
        };
        let key = window.session.clone();
        self.close_window(&request.workspace, &key, &request.call.reader);
        let text =
            format!("closed {addr}; it runs on · pipemux open {addr} · pipemux end {addr}\n");
        let text = with_options(&text, &request.call.hint_options).into_owned();
        Ok(Next::Data(text, Value::from("closed")))
    }

    /// Closes the windows of a session in all workspaces, because `reader` ends it.
    pub(crate) fn close_all(&mut self, key: &SessionKey, reader: &str) {
        let showing = self.workspaces.iter().filter(|(_, found)| found.window(key).is_some());
        let showing: Vec<WorkspaceKey> = showing.map(|(at, _)| at.clone()).collect();
        for at in showing {
            self.close_window(&at, key, reader);
        }
        self.workspaces.forget_session(key);
    }

    /// Closes a workspace's window of a session; `reader` does it.
    fn close_window(&mut self, at: &WorkspaceKey, key: &SessionKey, reader: &str) {
        let Some(workspace) = self.workspaces.get_mut(at) else { return };
        let audience = Audience::Workspace(at.clone(), Some(key.clone()));
        let (now, text) = (self.turn.now, format!("{key} was closed"));
        self.feed.publish(now, EventKind::Closed, audience, Some(reader), &text);
        workspace.window_set_changed(reader);
        // A later window of the session continues the count of its Contexts from here.
        workspace.epoch = workspace.newest_version();
        workspace.close_window(key);
        workspace.anchors.hide_session(key, workspace.epoch);
        workspace.anchors.set_embedded(key, &[], workspace.epoch);
        for (id, task) in self.tasks.iter_mut() {
            let Task::Viewing(view) = task else { continue };
            if self.clients.request(*id).is_some_and(|request| request.workspace == *at) {
                view.drop_arrived(key);
            }
        }
        for number in self.runs.close_questions_of(at, key) {
            self.turn.persist(Record::QuestionClosed { workspace: at.to_string(), number });
        }
        let (workspace, session) = (at.to_string(), key.to_string());
        self.turn.persist(Record::WindowClosed { workspace, session });
    }
}

/// Ends the process of a session whose windows are all closed. If no other process follows, returns
/// the reason for those who wait for one.
pub(crate) fn end_session(
    turn: &mut Turn,
    processes: &mut Processes,
    key: &SessionKey,
) -> Option<String> {
    turn.persist(Record::SessionEnded {
        workspace: key.workspace.as_deref().map(Into::into),
        session: key.to_string(),
    });
    if let Some(session) = processes.get_mut(key) {
        session.forget_opens();
    }
    close(turn, processes, key);
    if processes.get(key).is_none_or(|session| session.app().is_some()) {
        return None;
    }
    let why = format!("{key} was ended");
    refuse_waiting(turn, processes, key, &Fault::unavailable(&why));
    Some(why)
}

/// Removes a session that nothing needs. Returns its log, if it has one of its own.
pub(crate) fn remove_session(
    turn: &mut Turn,
    processes: &mut Processes,
    key: &SessionKey,
) -> Option<String> {
    let state_dir = processes.state_dir_of(key);
    let log = processes.own_log(key);
    let removed = processes.remove(key);
    if removed.is_some_and(|session| session.manifest.state == State::Discard) {
        turn.effects.push(Effect::Discard { state_dir });
    }
    log
}

/// Starts another process for clients that wait to exchange with a session without one. If that is
/// `hopeless`, refuses the clients because of `why`.
pub(crate) fn retry_attaching(
    turn: &mut Turn,
    clients: &mut Clients,
    processes: &mut Processes,
    session: &SessionKey,
    (hopeless, why): (bool, &str),
) {
    if !clients.exchanges.has_attaching(session) {
        return;
    }
    let woken = match hopeless {
        true => Err(Fault::unavailable(why)),
        false => wake(turn, processes, session),
    };
    if let Err(fault) = woken {
        clients.exchanges.refuse_attaching(&clients.connections, turn, session, &fault);
    }
}

/// The answer of `end`.
pub(crate) fn ended(key: &SessionKey) -> Next {
    Next::Data(format!("ended {key}\n"), Value::from("ended"))
}

/// Ends the process of a session and starts another one.
///
/// # Errors
/// There is no such session, or it can't be started.
pub(crate) fn restart(
    turn: &mut Turn,
    tasks: &mut Tasks,
    processes: &mut Processes,
    providers: &Providers,
    request: &ClientRequest,
    addr: &SessionAddr,
) -> Result<Next, Fault> {
    let key = find_session(processes, providers, &request.workspace, addr)?;
    if processes.get(&key).is_some_and(|session| session.opens.is_empty()) {
        let fault = Fault::not_found(format!("{key} was ended and is about to be gone"));
        return Err(fault.hint(format!("pipemux open {addr}")));
    }
    tasks.set(request.id, Task::Restarting(key.clone()));
    cancel_backoff(turn, processes, &key);
    if let Some(session) = processes.get_mut(&key) {
        session.forgive();
    }
    if close_for_restart(turn, processes, &key) {
        return Ok(Next::Nothing);
    }
    begin_restart(turn, processes, providers, request.id, &key)
}

/// Starts the next process of a session that is being restarted.
///
/// # Errors
/// It can't be started.
pub(crate) fn begin_restart(
    turn: &mut Turn,
    processes: &mut Processes,
    providers: &Providers,
    id: RequestId,
    key: &SessionKey,
) -> Result<Next, Fault> {
    // The manifest may have changed since the session was opened.
    let manifest = providers.get(&key.addr.provider);
    if let (Some(manifest), Some(session)) = (manifest, processes.get_mut(key)) {
        session.manifest = manifest.clone();
    }
    wake(turn, processes, key)?;
    if let Some(session) = processes.get_mut(key) {
        session.wait_until_ready(id);
    }
    Ok(Next::Nothing)
}

/// Goes on with a request that waits for a session, now that the session is ready or won't be.
///
/// # Errors
/// The session won't be ready, and the request needs it.
pub(crate) fn session_settled(
    tasks: &mut Tasks,
    processes: &Processes,
    request: &ClientRequest,
    settled: Result<(), Fault>,
) -> Result<Next, Fault> {
    let is_waited_for = |key: &SessionKey| {
        let session = processes.get(key);
        session.is_some_and(|session| session.ready_waiters.contains(&request.id))
    };
    let settles = |task: &Task| match task {
        Task::Preparing { sessions, .. } => !sessions.iter().any(is_waited_for),
        Task::Widening(_) | Task::Reopening(_) | Task::Restarting(_) => true,
        // The request waits for something else by now.
        _ => false,
    };
    match tasks.take_if(request.id, settles) {
        Some(Task::Preparing { then, .. }) => Ok(then.into()),
        Some(Task::Widening(open)) => {
            settled.map(|()| Next::Work(Work::Open(open, AfterOpen::Show)))
        }
        Some(Task::Reopening(open)) => Ok(Next::Work(Work::Open(open, AfterOpen::Show))),
        Some(Task::Restarting(key)) => settled.map(|()| {
            let text = format!("restarted {key} · pipemux view {key}\n");
            let text = with_options(&text, &request.call.hint_options).into_owned();
            Next::Data(text, Value::from("restarted"))
        }),
        _ => Ok(Next::Nothing),
    }
}
