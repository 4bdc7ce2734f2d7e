//! Handles the events that sessions and their processes report.
//!
//! **Invariant: nothing re-enters.** A component never calls back: it queues a [`ProcessEvent`], and
//! [`Core::drain_events`] takes one after the other once the call has returned. The order in the queue is the order
//! of what happened. When a process ends, its end is published in the feed; the requests that were with
//! the process get their replies; then the requests that waited for the end go on (an `open` that failed, an `end` or
//! `restart`, requests for the next process; jobs).
//!
//! **Invariant: durable before visible.** The handler of an event appends the event's record before the answer that
//! tells of it: effects are carried out in the order in which they were appended.

use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, Incarnation};

use crate::Core;
use crate::event::{Effect, Exit};
use crate::feed::{Audience, Happening, process_exit};
use crate::keys::{RequestId, SessionKey};
use crate::limits::FAILED_LOG_KEPT;
use crate::processes::exits::{drop_failed_open, restart_for_waiting};
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::sleep::{Demand, finish_save, hibernate_if_idle};
use crate::processes::starting::wake;
use crate::processes::{EndedProcess, ProcessEnd, ProcessEvent, ReadyProcess};
use crate::verbs::tasks::Task;

impl Core {
    /// Handles the events of processes until none is left.
    pub(crate) fn drain_events(&mut self) {
        while let Some(event) = self.processes.poll_event() {
            match event {
                ProcessEvent::Replied { session, to, reply } => self.replied(&session, to, reply),
                ProcessEvent::Opened { request, result } => {
                    let result = result.and_then(|notes| self.finish_open(request, notes));
                    self.fail_on_error(request, result);
                }
                ProcessEvent::Starting { session, dev } => {
                    self.authoring.process_starting(&self.turn, &session, dev);
                }
                ProcessEvent::Ready(ready) => self.process_ready(ready),
                ProcessEvent::Draining { app } => self.clients.dismiss_exchanges(app),
                ProcessEvent::Changed { session } => self.session_changed(&session),
                ProcessEvent::ActionsChanged { session } => self.actions_changed(&session),
                ProcessEvent::Notice { session, text } => {
                    self.pass_notice(&session, &text);
                }
                ProcessEvent::JobReported { session, report } => {
                    self.job_reported(&session, report);
                }
                ProcessEvent::JobStarted { session, started } => {
                    self.start_job(&session, started, None);
                }
                ProcessEvent::Progress { to, progress } => {
                    self.request_progressed(to.request(), &progress);
                }
                ProcessEvent::RestartedWith { session, neighbour } => {
                    let text = format!(
                        "{session} was restarted with {neighbour}, which shares its process"
                    );
                    self.notify_windows(EventKind::Notice, &session, text);
                }
                ProcessEvent::IdleDue { app } => {
                    let demand = self.demand_for(app);
                    hibernate_if_idle(&mut self.turn, &mut self.processes, app, demand);
                }
                ProcessEvent::SaveReplied { session, reply } => {
                    let pinned = self.workspaces.is_pinned(&session);
                    let processes = &mut self.processes;
                    finish_save(&mut self.turn, processes, &session, reply, pinned);
                }
                ProcessEvent::NotWidened { waiters, fault } => {
                    for id in waiters {
                        self.fail_request(id, fault.clone());
                    }
                }
                ProcessEvent::Ended { session, end, exit, words } => {
                    self.publish_end(&session, end, exit, &words);
                }
                ProcessEvent::Gone(end) => self.process_gone(end),
            }
        }
    }

    /// Hands a reply of an app to the client's request that it is for. A request that has its answer already needs
    /// no reply.
    fn replied(&mut self, session: &SessionKey, to: ReplyTo, reply: AppReply) {
        self.turn_windows_for(to.request());
        let (id, result) = match to {
            ReplyTo::Attach(id) => (id, self.attach_replied(id, reply)),
            ReplyTo::Project(id) => (id, self.project_replied(id, session, reply)),
            ReplyTo::Embed(id, key) => (id, self.embed_replied(id, session, key, reply)),
            ReplyTo::Prefetch(id) => return self.tasks.prefetches.forget(id),
            ReplyTo::WaitCheck(id, key) => {
                return self.wait_check_replied(id, session, key, reply);
            }
            ReplyTo::Refresh(id, key) => (id, self.refresh_replied(id, session, key, reply)),
            ReplyTo::Invoke(id) => (id, self.invoke_replied(id, reply)),
            ReplyTo::Locate(id) => (id, self.locate_replied(id, reply)),
            ReplyTo::Resolve(id) => (id, self.resolve_replied(id, session, reply)),
            ReplyTo::Read(id) => (id, self.read_replied(id, reply)),
            ReplyTo::CancelJob(id) => (id, self.cancel_replied(id, reply)),
        };
        self.fail_on_error(id, result);
    }

    /// Goes on with the requests that wait for a session whose process is ready.
    fn process_ready(&mut self, ready: ReadyProcess) {
        self.settle_jobs(&ready);
        let ReadyProcess { session, app, woke_from, crash, notes, waiters, .. } = ready;
        if let Some(before) = woke_from {
            self.continue_incarnation(&session, before, app);
        }
        if crash.is_none() {
            let how = if woke_from.is_some() { "woke up" } else { "started" };
            self.publish_session(EventKind::Started, &session, how);
        }
        self.notify_start(&session, crash.as_ref(), &notes);
        self.clients.admit_exchanges(&mut self.turn, &session, app);
        for id in waiters {
            let result = self.session_settled(id, Ok(()));
            self.fail_on_error(id, result);
        }
    }

    /// Publishes the end of a process, which `words` describe.
    fn publish_end(
        &mut self,
        session: &SessionKey,
        end: ProcessEnd,
        exit: Option<Exit>,
        words: &str,
    ) {
        let (kind, text) = match end {
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
        let happening = Happening::new(kind, audience, &text);
        let process_exit = exit.map(process_exit);
        self.feed.tell(self.turn.now, Happening { process_exit, ..happening });
    }

    /// Goes on with the requests that waited for the end of a process. All requests that were with the process have
    /// their replies.
    fn process_gone(&mut self, end: EndedProcess) {
        let key = &end.session;
        self.clients.end_exchanges(&mut self.turn, end.app, &end.words, &end.hints);
        let has_opens = self.processes.get(key).is_some_and(|session| !session.opens.is_empty());
        let gone = !has_opens && !self.has_window(key);
        if let Some(request) = end.opening {
            self.fail_request(request, end.fault());
            let log = self.processes.own_log(key);
            drop_failed_open(&mut self.processes, key);
            if self.processes.get(key).is_none() {
                self.authoring.forget(key);
                let kept = FAILED_LOG_KEPT;
                self.turn.effects.extend(log.map(|log| Effect::EndLog { log, kept }));
            }
        }
        // Before another process starts for the requests that wait.
        self.answer_ends(key);
        // Requests that wait are sent to the next process, unless this one could not even start.
        let hopeless = end.could_not_start || gone;
        restart_for_waiting(&mut self.turn, &mut self.processes, &end, hopeless);
        let is_reopening =
            |id: &&RequestId| matches!(self.tasks.get(**id), Some(Task::Reopening(_)));
        let (reopening, waiters): (Vec<&RequestId>, Vec<&RequestId>) =
            end.waiters.iter().partition(is_reopening);
        for id in waiters {
            let settled = if end.wanted { Ok(()) } else { Err(end.fault()) };
            let result = self.session_settled(*id, settled);
            self.fail_on_error(*id, result);
        }
        self.retry_attaching(key, hopeless, &end.words);
        self.session_ended(key);
        self.jobs_after_end(&end);
        // What the session left is gone with it: they open another one.
        for id in reopening {
            let result = self.session_settled(*id, Ok(()));
            self.fail_on_error(*id, result);
        }
    }

    /// Starts another process for the clients that wait to exchange with a session that has none, or refuses them.
    pub(crate) fn retry_attaching(&mut self, session: &SessionKey, hopeless: bool, why: &str) {
        if !self.clients.has_attaching(session) {
            return;
        }
        let woken = match hopeless {
            true => Err(Fault::unavailable(why)),
            false => wake(&mut self.turn, &mut self.processes, session),
        };
        if let Err(fault) = woken {
            self.clients.refuse_attaching(&mut self.turn, session, &fault);
        }
    }

    /// Publishes an event in the feed; `reader` caused it.
    pub(crate) fn publish(
        &mut self,
        kind: EventKind,
        audience: Audience,
        reader: Option<&str>,
        text: &str,
    ) {
        let happening = Happening::new(kind, audience, text);
        self.feed.tell(self.turn.now, Happening { reader, ..happening });
    }

    /// Publishes an event of a session in the feed.
    pub(crate) fn publish_session(&mut self, kind: EventKind, key: &SessionKey, text: &str) {
        let text = [key.addr.provider.as_str(), "/", key.addr.session.as_str(), " ", text].concat();
        self.publish(kind, Audience::Session(key.clone()), None, &text);
    }

    /// Returns the reasons for which a session whose app has had no request for long may still be in use.
    fn demand_for(&self, app: Incarnation) -> Demand {
        let Some(key) = self.processes.incarnations().session_of(app) else {
            return Demand::default();
        };
        let exchanged = self.clients.exchange_quota(app).map_or(0, |quota| match quota.open {
            0 => quota.used,
            _ => self.turn.mono_ms(),
        });
        let pinned = self.workspaces.is_pinned(key);
        Demand { pinned, waited_for: self.is_waited_for(key), exchanged }
    }

    /// Makes versions that were seen of an incarnation that was put to sleep count as seen of the next one, which went
    /// on from the same state.
    pub(crate) fn continue_incarnation(
        &mut self,
        key: &SessionKey,
        before: Incarnation,
        after: Incarnation,
    ) {
        self.workspaces.hand_over(key, before, after);
        self.runs.hand_over(key, before, after);
        // Runs in progress send their later steps to the new incarnation.
        for (_, task) in self.tasks.iter_mut() {
            if let Task::Running(run) = task {
                run.hand_over(key, before, after);
            }
        }
    }
}
