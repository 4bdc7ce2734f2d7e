//! Verbs that end things: `close`, `end`, `restart`, `down`.

use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, SessionAddr, Value};

use crate::Core;
use crate::core::Shutdown;
use crate::event::Effect;
use crate::feed::Audience;
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::manifest::State;
use crate::persist::records::Record;
use crate::verbs::tasks::Task;

impl Core {
    pub(super) fn close(&mut self, job: RequestId, addr: &SessionAddr, end: bool) {
        let Some(at) = self.clients.request(job).map(|job| job.workspace.clone()) else { return };
        let window =
            self.workspaces.get(&at).and_then(|workspace| workspace.windows.named(addr).next());
        let Some(key) = window.map(|window| window.session.clone()) else {
            if end {
                return self.end(job, addr);
            }
            let fault = Fault::not_found(format!("no window of {addr} is open here"))
                .hint("pipemux view shows what is open");
            return self.fail_request(job, fault);
        };
        if end {
            return self.end(job, addr);
        }
        let reader = self.clients.request(job).map(|job| job.call.reader.clone());
        self.close_window(&at, &key, &reader.unwrap_or_default());
        let text =
            format!("closed {addr}; it runs on · pipemux open {addr} · pipemux end {addr}\n");
        self.answer_data(job, text, Value::from("closed"));
    }

    pub(super) fn end(&mut self, job: RequestId, addr: &SessionAddr) {
        let Some(key) = self.find_session(job, addr) else { return };
        let mut owners = Vec::new();
        for (owner, workspace) in self.workspaces.iter() {
            if workspace.window(&key).is_some() {
                owners.push(owner.clone());
            }
        }
        let reader =
            self.clients.request(job).map(|job| job.call.reader.clone()).unwrap_or_default();
        for owner in owners {
            self.close_window(&owner, &key, &reader);
        }
        self.workspaces.forget_session(&key);
        self.turn.effects.push(Effect::Persist(Record::SessionEnded {
            workspace: key.workspace.as_deref().map(Into::into),
            session: key.to_string(),
        }));
        self.processes.forget_opens(&key);
        self.set_task(job, Task::Ending(key.clone()));
        self.processes.close(&mut self.turn, &key);
        if self.processes.get(&key).is_some_and(|session| session.app().is_none()) {
            // What waits for its next process waits in vain.
            let why = format!("{key} was ended");
            self.processes.refuse_waiting(&mut self.turn, &key, &why, &[]);
            self.retry_attaching(&key, true, &why);
        }
        self.session_ended(&key);
    }

    /// A session has no process now: those who waited for that go on.
    pub(crate) fn session_ended(&mut self, key: &SessionKey) {
        let Some(session) = self.processes.get(key) else { return self.settle_ends(key) };
        if session.app().is_some() {
            return;
        }
        let restarting: Vec<RequestId> = self
            .tasks
            .waiting_for(|task| matches!(task, Task::Restarting(waited) if waited == key));
        if session.opens.is_empty() && session.waiting.is_empty() && restarting.is_empty() {
            let shown = self.has_window(key);
            if !shown && !self.processes.is_opening(key) {
                let gone = self.processes.remove(key);
                if gone.is_some_and(|session| session.manifest.state == State::Discard) {
                    let (state_dir, _) = self.processes.paths(key);
                    self.turn.effects.push(Effect::Discard { state_dir });
                }
            }
        }
        self.settle_ends(key);
        for job in restarting {
            self.begin_restart(job, key);
        }
    }

    /// Answers those who wait for the end of a session's process.
    pub(crate) fn settle_ends(&mut self, key: &SessionKey) {
        for job in
            self.tasks.waiting_for(|task| matches!(task, Task::Ending(waited) if waited == key))
        {
            self.answer_data(job, format!("ended {key}\n"), Value::from("ended"));
        }
    }

    pub(super) fn restart(&mut self, job: RequestId, addr: &SessionAddr) {
        let Some(key) = self.find_session(job, addr) else { return };
        if self.processes.get(&key).is_some_and(|session| session.opens.is_empty()) {
            let fault = Fault::not_found(format!("{key} was ended and is about to be gone"));
            return self.fail_request(job, fault.hint(format!("pipemux open {addr}")));
        }
        self.set_task(job, Task::Restarting(key.clone()));
        self.processes.cancel_backoff(&mut self.turn, &key);
        self.processes.forgive(&key);
        if !self.processes.close_for_restart(&mut self.turn, &key) {
            self.begin_restart(job, &key);
        }
    }

    fn begin_restart(&mut self, job: RequestId, key: &SessionKey) {
        // With the manifest as it is now.
        if let Some(manifest) = self.providers.get(&key.addr.provider) {
            self.processes.set_manifest(key, manifest.clone());
        }
        match self.processes.wake(&mut self.turn, key) {
            Ok(()) => self.processes.wait_until_ready(key, job),
            Err(fault) => self.fail_request(job, fault),
        }
    }

    pub(crate) fn restarted(
        &mut self,
        job: RequestId,
        key: &SessionKey,
        settled: Result<(), Fault>,
    ) {
        match settled {
            Ok(()) => {
                let text = format!("restarted {key} · pipemux view {key}\n");
                self.answer_data(job, text, Value::from("restarted"));
            }
            Err(fault) => self.fail_request(job, fault),
        }
    }

    pub(super) fn down(&mut self, job: RequestId) {
        self.set_task(job, Task::Stopping);
        self.stop();
    }

    /// Ends all sessions, then the daemon. Windows and sessions are kept on disk.
    pub(crate) fn stop(&mut self) {
        if self.shutdown == Shutdown::Running {
            self.shutdown = Shutdown::Draining;
        }
        self.processes.stop(&mut self.turn);
    }

    /// Leaves once everything has ended. To be called when an event was taken in, and all that follows
    /// from it.
    pub(crate) fn stop_if_done(&mut self) {
        if self.shutdown == Shutdown::Running || !self.processes.is_idle() {
            return;
        }
        for job in self.tasks.waiting_for(|task| matches!(task, Task::Stopping)) {
            self.answer_data(job, "down\n".into(), Value::from("down"));
        }
        for job in self.clients.open() {
            let fault = Fault::unavailable("the daemon is going down");
            // What took effect is told, with the windows as they were.
            if let Some(mut run) = self.take_run(job) {
                run.stop(fault.clone());
                self.finish_run(job, run);
            }
            self.show_what_there_is(job, &fault.message);
            self.fail_request(job, fault);
        }
        if std::mem::replace(&mut self.shutdown, Shutdown::Stopped) != Shutdown::Stopped {
            self.save_numbers();
            self.turn.effects.push(Effect::Stopped);
        }
    }

    fn close_window(&mut self, at: &WorkspaceKey, key: &SessionKey, reader: &str) {
        let place = Audience::Workspace(at.clone(), Some(key.clone()));
        self.tell(EventKind::Closed, place, Some(reader), &format!("{key} was closed"));
        let Some(workspace) = self.workspaces.get_mut(at) else { return };
        workspace.window_set_changed(reader);
        // A window of it that is opened later counts its Contexts on from here.
        workspace.epoch = workspace.newest_version();
        workspace.close_window(key);
        workspace.anchors.hide_session(key, workspace.epoch);
        self.unshow(at, key);
        for number in self.runs.close_questions_of(at, key) {
            let record = Record::QuestionClosed { workspace: at.to_string(), number };
            self.turn.effects.push(Effect::Persist(record));
        }
        self.turn.effects.push(Effect::Persist(Record::WindowClosed {
            workspace: at.to_string(),
            session: key.to_string(),
        }));
    }

    /// True while some workspace has a window of the session.
    pub(crate) fn has_window(&self, key: &SessionKey) -> bool {
        self.workspaces.values().any(|workspace| workspace.window(key).is_some())
    }
}
