//! Handles the events that sessions and their processes report.
//!
//! **Invariant: nothing re-enters.** A component never calls back: it queues a [`ProcessEvent`],
//! and [`Core::drain_events`] takes one after the other once the call has returned. The order in
//! the queue is the order of what happened. When a process ends, its end is published in the feed;
//! the requests that were with the process get their replies; then the requests that waited for the
//! end go on (an `open` that failed, an `end` or `restart`, requests for the next process; jobs).
//!
//! **Invariant: durable before visible.** The handler of an event appends the event's record before
//! the answer that tells of it: effects are carried out in the order in which they were appended.

use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, Incarnation};

use crate::Core;
use crate::answers::per_reader::turn_windows_for;
use crate::clients::Clients;
use crate::core::Shutdown;
use crate::event::Effect;
use crate::keys::{RequestId, SessionKey};
use crate::limits::FAILED_LOG_KEPT;
use crate::processes::exits::{drop_failed_open, restart_for_waiting};
use crate::processes::sleep::{Demand, finish_save, hibernate_if_idle};
use crate::processes::{EndedProcess, ProcessEvent, Processes, ReadyProcess};
use crate::verbs::incarnations::continue_incarnation;
use crate::verbs::next::{Next, Work};
use crate::verbs::stop::{ended, retry_attaching, session_settled};
use crate::verbs::tasks::Task;
use crate::verbs::waits::Waits;
use crate::workspaces::Workspaces;

impl Core {
    /// Handles the events of processes until none is left.
    pub(super) fn drain_events(&mut self) {
        while let Some(event) = self.processes.poll_event() {
            match event {
                ProcessEvent::Replied { session, to, reply } => self.replied(&session, to, reply),
                ProcessEvent::Opened { request, result } => {
                    self.follow(request, result.map(|notes| Next::Work(Work::FinishOpen(notes))));
                }
                ProcessEvent::Starting { session, dev } => {
                    self.authoring.process_starting(&self.turn, &session, dev);
                }
                ProcessEvent::Ready(ready) => self.process_ready(ready),
                ProcessEvent::Draining { app } => self.clients.exchanges.dismiss(app),
                ProcessEvent::Changed { session } => announcements!(self).session_changed(&session),
                ProcessEvent::ActionsChanged { session } => {
                    update_actions(&mut self.workspaces, &self.processes, &session);
                }
                ProcessEvent::Notice { session, text } => {
                    announcements!(self).pass_notice(&session, &text);
                }
                ProcessEvent::JobReported { session, report } => {
                    let end = job_events!(self).report(&session, report);
                    self.end_jobs(end.into_iter().collect());
                }
                ProcessEvent::JobStarted { session, started } => {
                    job_events!(self).start(&session, started, None);
                }
                ProcessEvent::Progress { to, progress } => {
                    self.clients.send_progress(&mut self.turn, to.request(), &progress);
                }
                ProcessEvent::RestartedWith { session, neighbour } => {
                    let text = format!(
                        "{session} was restarted with {neighbour}, which shares its process"
                    );
                    announcements!(self).notify_windows(EventKind::Notice, &session, text);
                }
                ProcessEvent::IdleDue { app } => {
                    let demand = demand_for(&waits!(self), app);
                    hibernate_if_idle(&mut self.turn, &mut self.processes, app, demand);
                }
                ProcessEvent::SaveReplied { session, reply } => {
                    let pinned = self.workspaces.is_pinned(&session);
                    let processes = &mut self.processes;
                    finish_save(&mut self.turn, processes, &session, reply, pinned);
                }
                ProcessEvent::NotWidened { waiters, fault } => {
                    for id in waiters {
                        self.follow(id, Err(fault.clone()));
                    }
                }
                ProcessEvent::Ended { session, end, exit, words } => {
                    announcements!(self).publish_end(&session, end, exit, &words);
                }
                ProcessEvent::Gone(end) => self.process_gone(end),
            }
        }
    }

    /// Goes on with the requests that wait for a session whose process is ready.
    fn process_ready(&mut self, ready: ReadyProcess) {
        let lost = job_events!(self).not_resumed(&ready);
        self.end_jobs(lost);
        let ReadyProcess { session, app, woke_from, crash, notes, waiters, .. } = ready;
        if let Some(before) = woke_from {
            let (workspaces, runs) = (&mut self.workspaces, &mut self.runs);
            continue_incarnation(workspaces, runs, &mut self.tasks, &session, (before, app));
        }
        if crash.is_none() {
            let how = if woke_from.is_some() { "woke up" } else { "started" };
            announcements!(self).publish_session(EventKind::Started, &session, how);
        }
        announcements!(self).notify_start(&session, crash.as_ref(), &notes);
        let Clients { connections, exchanges, .. } = &mut self.clients;
        exchanges.admit(connections, &mut self.turn, &session, app);
        for id in waiters {
            self.settle_session(id, Ok(()));
        }
    }

    /// Goes on with a request that waits for a session, now that the session is ready or won't be.
    fn settle_session(&mut self, id: RequestId, settled: Result<(), Fault>) {
        turn_windows_for(&self.clients, &mut self.workspaces, &self.processes, id);
        if let Some(request) = self.clients.request(id) {
            let next = session_settled(&mut self.tasks, &self.processes, request, settled);
            self.follow(id, next);
        }
    }

    /// Resumes the requests that waited for the end of a process. All requests sent to the process
    /// have been answered by then.
    fn process_gone(&mut self, end: EndedProcess) {
        let key = &end.session;
        let Clients { connections, exchanges, .. } = &mut self.clients;
        exchanges.end(connections, &mut self.turn, end.app, &end.words, &end.hints);
        let has_opens = self.processes.get(key).is_some_and(|session| !session.opens.is_empty());
        let gone = !has_opens && !self.workspaces.have_window(key);
        if let Some(request) = end.opening {
            self.follow(request, Err(end.fault()));
            let log = self.processes.own_log(key);
            drop_failed_open(&mut self.processes, key);
            if self.processes.get(key).is_none() {
                self.authoring.forget(key);
                let kept = FAILED_LOG_KEPT;
                self.turn.effects.extend(log.map(|log| Effect::EndLog { log, kept }));
            }
        }
        // Before another process starts for the requests that wait.
        for id in self.tasks.ending(key) {
            self.follow(id, Ok(ended(key)));
        }
        // Requests that wait are sent to the next process, unless this one could not even start.
        let hopeless = end.could_not_start || gone;
        restart_for_waiting(&mut self.turn, &mut self.processes, &end, hopeless);
        let is_reopening =
            |id: &&RequestId| matches!(self.tasks.get(**id), Some(Task::Reopening(_)));
        let (reopening, waiters): (Vec<&RequestId>, Vec<&RequestId>) =
            end.waiters.iter().partition(is_reopening);
        for id in waiters {
            let settled = if end.wanted { Ok(()) } else { Err(end.fault()) };
            self.settle_session(*id, settled);
        }
        let (turn, clients) = (&mut self.turn, &mut self.clients);
        retry_attaching(turn, clients, &mut self.processes, key, (hopeless, &end.words));
        self.session_ended(key);
        if self.shutdown == Shutdown::Running {
            let lost = job_events!(self).after_process(&end);
            self.end_jobs(lost);
        }
        // What the session left is gone with it: they open another one.
        for id in reopening {
            self.settle_session(*id, Ok(()));
        }
    }
}

/// Returns the reasons why a session that hasn't received a request for a long time may still be in
/// use.
fn demand_for(waits: &Waits<'_>, app: Incarnation) -> Demand {
    let Some(key) = waits.processes.incarnations().session_of(app) else {
        return Demand::default();
    };
    let exchanged = waits.clients.exchanges.quota(app).map_or(0, |quota| match quota.open {
        0 => quota.used,
        _ => waits.turn.mono_ms(),
    });
    let pinned = waits.workspaces.is_pinned(key);
    Demand { pinned, waited_for: waits.are_for(key), exchanged }
}

/// Keeps the indexes of windows by action, because a session came, went or greeted.
pub(super) fn update_actions(workspaces: &mut Workspaces, processes: &Processes, key: &SessionKey) {
    let actions = processes.actions_of(key);
    for workspace in workspaces.of_session_mut(key) {
        workspace.windows.set_actions(key, actions.clone());
    }
}
