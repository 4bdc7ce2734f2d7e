//! Verbs that end things: `close`, `end`, `restart`, `down`.

use pipemux_proto::command::with_options;
use pipemux_proto::report::StepStatus;
use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, SessionAddr, Value};

use crate::Core;
use crate::core::Shutdown;
use crate::event::Effect;
use crate::feed::{Audience, Happening};
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::manifest::State;
use crate::persist::records::Record;
use crate::processes::draining::{self, cancel_backoff, close, close_for_restart};
use crate::processes::requests::refuse_waiting;
use crate::processes::starting::wake;
use crate::verbs::find_session::find_session;
use crate::verbs::require;
use crate::verbs::tasks::Task;

impl Core {
    /// Closes a window; with `end`, ends its session too.
    pub(crate) fn close(
        &mut self,
        id: RequestId,
        addr: &SessionAddr,
        end: bool,
    ) -> Result<(), Fault> {
        if end {
            return self.end(id, addr);
        }
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let Some(window) = workspace.windows.named(addr).next() else {
            return Err(
                Fault::not_found(format!("no window of {addr} is open here")).hint("pipemux view")
            );
        };
        let (at, reader) = (request.workspace.clone(), request.call.reader.clone());
        let key = window.session.clone();
        self.close_window(&at, &key, &reader);
        let text =
            format!("closed {addr}; it runs on · pipemux open {addr} · pipemux end {addr}\n");
        let text = with_options(&text, self.hint_options(id)).into_owned();
        self.answer_data(id, text, Value::from("closed"));
        Ok(())
    }

    /// Ends a session and closes its windows in all workspaces.
    pub(crate) fn end(&mut self, id: RequestId, addr: &SessionAddr) -> Result<(), Fault> {
        let at = &require::request(&self.clients, id)?.workspace;
        let key = find_session(&self.processes, &self.providers, at, addr)?;
        let reader = require::request(&self.clients, id)?.call.reader.clone();
        let mut owners = Vec::new();
        for (owner, workspace) in self.workspaces.iter() {
            if workspace.window(&key).is_some() {
                owners.push(owner.clone());
            }
        }
        for owner in owners {
            self.close_window(&owner, &key, &reader);
        }
        self.workspaces.forget_session(&key);
        self.turn.persist(Record::SessionEnded {
            workspace: key.workspace.as_deref().map(Into::into),
            session: key.to_string(),
        });
        if let Some(session) = self.processes.get_mut(&key) {
            session.forget_opens();
        }
        self.set_task(id, Task::Ending(key.clone()));
        close(&mut self.turn, &mut self.processes, &key);
        if self.processes.get(&key).is_some_and(|session| session.app().is_none()) {
            // There won't be a next process for the requests that wait for it.
            let why = format!("{key} was ended");
            let refusal = Fault::unavailable(&why);
            refuse_waiting(&mut self.turn, &mut self.processes, &key, &refusal);
            self.retry_attaching(&key, true, &why);
        }
        self.session_ended(&key);
        Ok(())
    }

    /// Goes on with the requests that wait for the end of a session's process, if it has none any more. Removes the
    /// session if it was ended and nothing needs it.
    pub(crate) fn session_ended(&mut self, key: &SessionKey) {
        let Some(session) = self.processes.get(key) else { return self.answer_ends(key) };
        if session.app().is_some() {
            return;
        }
        let restarting: Vec<RequestId> = self
            .tasks
            .requests_with(|task| matches!(task, Task::Restarting(waited) if waited == key));
        let idle =
            session.opens.is_empty() && session.owed.waiting.is_empty() && restarting.is_empty();
        let idle = idle && !session.opens.has_request();
        if idle && !self.has_window(key) {
            let state_dir = self.processes.state_dir_of(key);
            let log = self.processes.own_log(key);
            let removed = self.processes.remove(key);
            self.authoring.forget(key);
            if removed.is_some_and(|session| session.manifest.state == State::Discard) {
                self.turn.effects.push(Effect::Discard { state_dir });
            }
            self.lose_jobs(key, &format!("{key} was ended"));
            // It can't be asked for any more, and there is no bound on the names of sessions.
            self.turn.effects.extend(log.map(|log| Effect::EndLog { log, kept: 0 }));
        }
        self.answer_ends(key);
        for id in restarting {
            let result = self.begin_restart(id, key);
            self.fail_on_error(id, result);
        }
    }

    /// Answers the requests that wait for the end of a session's process.
    pub(crate) fn answer_ends(&mut self, key: &SessionKey) {
        for id in
            self.tasks.requests_with(|task| matches!(task, Task::Ending(waited) if waited == key))
        {
            self.answer_data(id, format!("ended {key}\n"), Value::from("ended"));
        }
    }

    /// Ends the process of a session and starts another one.
    pub(crate) fn restart(&mut self, id: RequestId, addr: &SessionAddr) -> Result<(), Fault> {
        let at = &require::request(&self.clients, id)?.workspace;
        let key = find_session(&self.processes, &self.providers, at, addr)?;
        if self.processes.get(&key).is_some_and(|session| session.opens.is_empty()) {
            let fault = Fault::not_found(format!("{key} was ended and is about to be gone"));
            return Err(fault.hint(format!("pipemux open {addr}")));
        }
        self.set_task(id, Task::Restarting(key.clone()));
        cancel_backoff(&mut self.turn, &mut self.processes, &key);
        if let Some(session) = self.processes.get_mut(&key) {
            session.forgive();
        }
        if !close_for_restart(&mut self.turn, &mut self.processes, &key) {
            self.begin_restart(id, &key)?;
        }
        Ok(())
    }

    /// Starts the next process of a session that is being restarted.
    fn begin_restart(&mut self, id: RequestId, key: &SessionKey) -> Result<(), Fault> {
        // The manifest may have changed since the session was opened.
        let manifest = self.providers.get(&key.addr.provider);
        if let (Some(manifest), Some(session)) = (manifest, self.processes.get_mut(key)) {
            session.manifest = manifest.clone();
        }
        wake(&mut self.turn, &mut self.processes, key)?;
        if let Some(session) = self.processes.get_mut(key) {
            session.wait_until_ready(id);
        }
        Ok(())
    }

    /// Answers a request that waited for a session to be restarted.
    pub(super) fn restarted(&mut self, id: RequestId, key: &SessionKey) {
        let text = format!("restarted {key} · pipemux view {key}\n");
        let text = with_options(&text, self.hint_options(id)).into_owned();
        self.answer_data(id, text, Value::from("restarted"));
    }

    /// Ends the daemon.
    pub(crate) fn down(&mut self, id: RequestId) {
        self.set_task(id, Task::Stopping);
        self.stop();
    }

    /// Ends all processes, then the daemon. Windows and sessions are kept on disk.
    pub(crate) fn stop(&mut self) {
        if self.shutdown == Shutdown::Running {
            self.shutdown = Shutdown::Draining;
        }
        self.end_job_waits();
        draining::stop(&mut self.turn, &mut self.processes);
    }

    /// Answers all requests and stops the daemon, if it was asked to end and no process is left. To be called once
    /// everything that follows from an event was handled.
    pub(crate) fn stop_if_done(&mut self) {
        if self.shutdown == Shutdown::Running || !self.processes.incarnations().is_empty() {
            return;
        }
        for id in self.tasks.requests_with(|task| matches!(task, Task::Stopping)) {
            self.answer_data(id, "down\n".into(), Value::from("down"));
        }
        for id in self.clients.open() {
            let fault = Fault::unavailable("the daemon is going down");
            // The answer of a run tells which steps took effect, with the windows as they were.
            if let Ok(mut run) = self.take_run(id) {
                run.fail(StepStatus::Failed, fault.clone());
                let result = self.finish_run(id, run);
                self.fail_on_error(id, result);
            }
            self.finish_view_early(id, &fault.message);
            self.fail_request(id, fault);
        }
        if std::mem::replace(&mut self.shutdown, Shutdown::Stopped) != Shutdown::Stopped {
            self.save_numbers();
            self.turn.effects.push(Effect::Stopped);
        }
    }

    /// Closes a workspace's window of a session; `reader` does it.
    fn close_window(&mut self, at: &WorkspaceKey, key: &SessionKey, reader: &str) {
        let text = format!("{key} was closed");
        let Some(workspace) = self.workspaces.get_mut(at) else { return };
        let audience = Audience::Workspace(at.clone(), Some(key.clone()));
        let happening = Happening::new(EventKind::Closed, audience, &text).by(reader);
        self.feed.tell(self.turn.now, happening);
        workspace.window_set_changed(reader);
        // A later window of the session continues the count of its Contexts from here.
        workspace.epoch = workspace.newest_version();
        workspace.close_window(key);
        workspace.anchors.hide_session(key, workspace.epoch);
        workspace.anchors.set_embedded(key, &[], workspace.epoch);
        self.drop_closed_window(at, key);
        for number in self.runs.close_questions_of(at, key) {
            self.turn.persist(Record::QuestionClosed { workspace: at.to_string(), number });
        }
        self.turn
            .persist(Record::WindowClosed { workspace: at.to_string(), session: key.to_string() });
    }

    /// Returns true while a workspace has a window of the session.
    pub(crate) fn has_window(&self, key: &SessionKey) -> bool {
        self.workspaces.values().any(|workspace| workspace.window(key).is_some())
    }
}
