//! What follows from what sessions and their processes say happened.
//!
//! **Invariant: nothing re-enters.** A component never calls back: it queues a [`ProcessEvent`], and
//! [`Core::drain_events`] takes one after the other once the call has returned. The order in the queue is the order
//! of what happened; of one process's end it is: the end is told to those who watch; the requests that were with
//! the process get their replies; then what waited for the end goes on (an `open` that failed, an `end` or
//! `restart` that waits, requests for the next process).
//!
//! **Invariant: durable before visible.** Whoever handles an event appends its record before the answer that tells of
//! it: effects are carried out in the order in which they were appended.

use pipemux_proto::watch::EventKind;

use crate::Core;
use crate::event::Exit;
use crate::feed::{Audience, Happening, process_exit};
use crate::keys::{RequestId, SessionKey};
use crate::processes::hibernation::Demand;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::{EndedProcess, ProcessEnd, ProcessEvent, ReadyProcess};

impl Core {
    /// Handles what processes say happened until nothing is left.
    pub(crate) fn drain_events(&mut self) {
        while let Some(event) = self.processes.poll_event() {
            match event {
                ProcessEvent::Replied { session, to, reply } => self.replied(&session, to, reply),
                ProcessEvent::Opened { request, result } => self.start_opened(request, result),
                ProcessEvent::Ready(ready) => self.process_ready(ready),
                ProcessEvent::Draining { app } => self.clients.dismiss_exchanges(app),
                ProcessEvent::Changed { session } => self.session_changed(&session),
                ProcessEvent::ActionsChanged { session } => self.actions_changed(&session),
                ProcessEvent::Notice { session, text } => {
                    self.notify_windows(EventKind::Notice, &session, format!("{session}: {text}"));
                }
                ProcessEvent::RestartedWith { session, neighbour } => {
                    let text = format!(
                        "{session} was restarted with {neighbour}, which shares its process"
                    );
                    self.notify_windows(EventKind::Notice, &session, text);
                }
                ProcessEvent::IdleDue { app } => {
                    let demand = self.demand_for(app);
                    self.processes.hibernate_if_idle(&mut self.turn, app, demand);
                }
                ProcessEvent::SaveReplied { session, reply } => {
                    let pinned = self.workspaces.is_pinned(&session);
                    self.processes.finish_save(&mut self.turn, &session, reply, pinned);
                }
                ProcessEvent::Ended { session, end, exit, words } => {
                    self.tell_end(&session, end, exit, &words);
                }
                ProcessEvent::Gone(end) => self.process_gone(end),
            }
        }
    }

    /// Hands a reply of an app to the client's request that it is for.
    fn replied(&mut self, session: &SessionKey, to: ReplyTo, reply: AppReply) {
        match to {
            ReplyTo::Attach(request) => self.attach_answered(request, reply),
            ReplyTo::Project(request) => self.project_answered(request, session, reply),
            ReplyTo::Prefetch(request) => drop(self.tasks.prefetches.remove(&request)),
            ReplyTo::Refresh(request, key) => {
                self.refresh_answered(request, session, key, reply);
            }
            ReplyTo::Invoke(request) => self.invoke_answered(request, reply),
            ReplyTo::Locate(request) => self.locate_answered(request, reply),
            ReplyTo::Read(request) => self.read_answered(request, reply),
        }
    }

    /// An app took in, or refused, the open that a client's request waits for.
    fn start_opened(
        &mut self,
        request: RequestId,
        result: Result<Vec<String>, pipemux_proto::Fault>,
    ) {
        match result {
            Ok(notes) => self.opened(request, notes),
            Err(fault) => self.fail_request(request, fault),
        }
    }

    /// A session's process takes requests from now on.
    fn process_ready(&mut self, ready: ReadyProcess) {
        let ReadyProcess { session, app, woke_from, crash, notes, waiters } = ready;
        if let Some(from) = woke_from {
            self.hand_over(&session, from, app);
        }
        if crash.is_none() {
            let how = if woke_from.is_some() { "woke up" } else { "started" };
            self.tell_session(EventKind::Started, &session, how);
        }
        self.notify_start(&session, crash.as_ref(), &notes);
        self.clients.admit_exchanges(&mut self.turn, &session, app);
        for request in waiters {
            self.session_settled(request, Ok(()));
        }
    }

    /// Tells that a process ended: `words` say how.
    fn tell_end(&mut self, session: &SessionKey, end: ProcessEnd, exit: Option<Exit>, words: &str) {
        let (what, text) = match end {
            ProcessEnd::Failed => {
                (EventKind::Failed, format!("{words}; it stays down · pipemux restart {session}"))
            }
            ProcessEnd::Crashed => (EventKind::Crashed, words.to_owned()),
            ProcessEnd::Hibernated => {
                (EventKind::Hibernated, format!("{session} was put to sleep"))
            }
            ProcessEnd::Ended => (EventKind::Ended, words.to_owned()),
        };
        let audience = Audience::Session(session.clone());
        let happening = Happening::new(what, audience, &text);
        let process_exit = exit.map(process_exit);
        self.feed.tell(self.turn.now, Happening { process_exit, ..happening });
    }

    /// All requests of an ended process have their replies: what waited for its end goes on.
    fn process_gone(&mut self, end: EndedProcess) {
        let key = &end.session;
        self.clients.end_exchanges(&mut self.turn, end.app, &end.words, &end.hints);
        let opened = self.processes.get(key).is_some_and(|session| !session.opens.is_empty());
        let gone = !opened && !self.has_window(key);
        if let Some(request) = end.opening {
            self.fail_request(request, end.fault());
            self.processes.drop_failed_open(key);
        }
        // Before another process starts for what waits.
        self.settle_ends(key);
        // What waits goes with the next process; when this one never got ready, it waits in vain.
        let in_vain = end.could_not_start || gone;
        self.processes.restart_for_waiting(&mut self.turn, &end, in_vain);
        for request in &end.waiters {
            let settled = if end.wanted { Ok(()) } else { Err(end.fault()) };
            self.session_settled(*request, settled);
        }
        self.retry_attaching(key, in_vain, &end.words);
        self.session_ended(key);
    }

    /// A session has no process: clients that wait to exchange with it get another, or hear why there is none.
    pub(crate) fn retry_attaching(&mut self, session: &SessionKey, in_vain: bool, why: &str) {
        if !self.clients.has_attaching(session) {
            return;
        }
        let woken = match in_vain {
            true => Err(pipemux_proto::Fault::unavailable(why)),
            false => self.processes.wake(&mut self.turn, session),
        };
        if let Err(fault) = woken {
            self.clients.refuse_attaching(&mut self.turn, session, &fault);
        }
    }

    /// Tells those who watch that something happened; `reader` did it.
    pub(crate) fn tell(
        &mut self,
        what: EventKind,
        audience: Audience,
        reader: Option<&str>,
        text: &str,
    ) {
        let happening = Happening::new(what, audience, text);
        self.feed.tell(self.turn.now, Happening { reader, ..happening });
    }

    /// Tells those who watch that something happened to a session.
    pub(crate) fn tell_session(&mut self, what: EventKind, key: &SessionKey, text: &str) {
        self.tell(what, Audience::Session(key.clone()), None, &format!("{key} {text}"));
    }

    /// Who else needs a session whose app nobody asked anything for long.
    fn demand_for(&self, app: pipemux_proto::Incarnation) -> Demand {
        let Some(key) = self.processes.session_of(app) else { return Demand::default() };
        let exchanged = self.clients.exchange_quota(app).map_or(0, |quota| match quota.open {
            0 => quota.used,
            _ => self.turn.mono_ms(),
        });
        let pinned = self.workspaces.is_pinned(key);
        Demand { pinned, waited_for: self.is_waited_for(key), exchanged }
    }

    /// What was seen of an incarnation that was put to sleep counts as seen of the one that went on from its
    /// state.
    fn hand_over(
        &mut self,
        key: &SessionKey,
        from: pipemux_proto::Incarnation,
        to: pipemux_proto::Incarnation,
    ) {
        self.workspaces.hand_over(key, from, to);
        self.runs.hand_over(key, from, to);
        // Runs that wait for it go on with their later steps.
        for (_, task) in self.tasks.iter_mut() {
            if let crate::verbs::tasks::Task::Running(run) = task
                && let Some((seen, _)) = run.seen.get_mut(key)
                && *seen == from
            {
                *seen = to;
            }
        }
    }
}
